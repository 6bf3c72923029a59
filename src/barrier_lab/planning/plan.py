"""The plan of a run: the runner follows it, and each rank receives it."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Plan:
    """A run that has not begun."""

    experiment: str  # its name
    script: str  # the path of its file
    parameters: dict[str, object]  # of its worker
    init: bool  # the process group is made for the worker
    world_size: int
    backend: str | None  # None: the script chooses it
    backend_reason: str  # a clause that follows "because"
    deadline: float  # seconds from the common start
    timeout: float | None  # of the process group, in seconds; None: torch's default
    launcher: str  # "spawn", "forkserver" or "torchrun"
    directory: str  # the run directory

    def facts(self) -> dict[str, object]:
        """What ``run.json`` and the traces keep of the plan."""
        return {name: value for name, value in asdict(self).items() if name not in ("init", "directory")}
