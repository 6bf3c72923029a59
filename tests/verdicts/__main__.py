"""``python tests/verdicts [PATTERN …]``: run the cases and print for each whether its verdict is right."""

import re
import sys

from judge import cases, judge, run_all


def main(patterns: list[str]) -> int:
    """Print the table, and the verdicts of the cases that are named; 1 if any verdict is not right."""
    chosen = [case for case in cases() if not patterns or any(re.search(p, case.name) for p in patterns)]
    right = 0
    for case, outcome, verdict in run_all(chosen):
        faults = judge(case, outcome, verdict)
        right += not faults
        print(f"{'wrong' if faults else 'right'}  {case.name} ({case.kind}, {outcome})", flush=True)
        for fault in faults:
            print(f"         - {fault}")
        if patterns or faults:
            print(f"         {verdict}")
    print(f"{right} of {len(chosen)} verdicts are right.")
    return 0 if right == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
