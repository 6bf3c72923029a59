"""Start torchrun jobs at the same time, and say what became of each, as one JSON object a line.

python two_jobs.py "--standalone" "--standalone"      one argument holds the options of one job

All jobs run until each agent (the process that torchrun itself is) has come to its rendezvous, the meeting
of the agents, or has ended; then they are told to end.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 110.0  # seconds for all jobs together
AT_RENDEZVOUS = "Rendezvous'ing worker group"  # in the agent's log
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
PROGRAM = str(Path(__file__).with_name("says_who.py"))


def start(options: str, folder: Path, number: int) -> subprocess.Popen:
    """One job, with its output and its agent's log in the folder."""
    command = [*TORCHRUN, *options.split(), PROGRAM, str(folder / "stay")]
    with (folder / f"{number}.out").open("w") as out, (folder / f"{number}.log").open("w") as log:
        return subprocess.Popen(command, stdout=out, stderr=log, env=os.environ | {"LOGLEVEL": "INFO"})


def wait(jobs: list[subprocess.Popen], folder: Path) -> None:
    """Let all agents come to their rendezvous, tell the programs to end, and wait for the jobs."""
    limit = time.monotonic() + LIMIT
    logs = [folder / f"{number}.log" for number in range(len(jobs))]

    def come(job: subprocess.Popen, log: Path) -> bool:
        return AT_RENDEZVOUS in log.read_text() or job.poll() is not None

    while time.monotonic() < limit and not all(map(come, jobs, logs)):
        time.sleep(0.05)
    time.sleep(0.5)  # so that who can start has started
    (folder / "stay").unlink()
    for job in jobs:
        job.wait(max(0.1, limit - time.monotonic()))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "stay").touch()
        jobs = []
        try:
            jobs += [start(options, folder, number) for number, options in enumerate(sys.argv[1:])]
            wait(jobs, folder)
        finally:
            for job in jobs:
                job.kill()  # the programs end by themselves: their file is gone
                job.wait()
            (folder / "stay").unlink(missing_ok=True)
        for number, (options, job) in enumerate(zip(sys.argv[1:], jobs, strict=True)):
            said = (folder / f"{number}.out").read_text().splitlines()
            errors = re.findall(r"\w+Error\b(?:: .*|$)", (folder / f"{number}.log").read_text(), re.MULTILINE)
            errors.sort(key=lambda error: error.startswith("Rendezvous"))  # such a one, if there is one, comes last
            result = {"options": options, "exit_code": job.returncode, "said": said}
            print(json.dumps(result | {"error": errors[-1] if errors else None}), flush=True)


if __name__ == "__main__":
    main()
