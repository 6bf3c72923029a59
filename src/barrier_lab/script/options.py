"""Command-line options of a script, common to all launchers."""

import argparse

from barrier_lab.errors import UsageError
from barrier_lab.script.source import Script


class Parser(argparse.ArgumentParser):
    """An argument parser that raises ``UsageError`` with a one-sentence message."""

    def __init__(self, **options) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> None:
        raise UsageError(f"{message[0].upper()}{message[1:]}: see {self.prog} --help.")


def script_parser(prog: str, about: Script) -> Parser:
    """Build a parser with the common options and one option per parameter of the worker.

    Parameter values are validated later, like those passed from Python.
    """
    parser = Parser(prog=prog, description=about.doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="auto", help="auto, gloo or nccl (default auto)")
    stop = "stop the ranks S seconds after the common start (default 60)"
    parser.add_argument("--deadline", metavar="S", default=60.0, help=stop)
    group = "the process group's own timeout, in seconds (default: torch's)"
    parser.add_argument("--timeout", metavar="S", help=group)
    parser.add_argument("--out", metavar="DIR", help="keep the run directory: traces, logs, stacks")
    own = parser.add_argument_group("the experiment's own")
    for name, (_, default) in about.parameters.items():
        option = f"--{name.replace('_', '-')}"
        own.add_argument(option, dest=f"parameter {name}", metavar="VALUE", help=f"default {default}")
    return parser


def given_parameters(given: argparse.Namespace) -> dict[str, str]:
    """Extract the worker's parameters from the parsed options."""
    found = {
        key.removeprefix("parameter "): value for key, value in vars(given).items() if key.startswith("parameter ")
    }
    return {name: value for name, value in found.items() if value is not None}
