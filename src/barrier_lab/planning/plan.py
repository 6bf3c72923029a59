"""The plan of a run, used by the runner and passed to each rank."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Plan:
    """The validated arguments of a run."""

    experiment: str  # its name
    script: str  # the path of its file
    parameters: dict[str, object]  # of its worker
    init: bool  # whether the process group is initialized for the worker
    world_size: int
    backend: str | None  # None: chosen by the script
    backend_reason: str  # a clause that follows "because"
    deadline: float  # seconds after the common start
    timeout: float | None  # of the process group, in seconds; None: torch's default
    launcher: str  # "spawn", "forkserver" or "torchrun"
    directory: str  # the run directory

    def facts(self) -> dict[str, object]:
        """The fields that ``run.json`` and the traces record."""
        return {name: value for name, value in asdict(self).items() if name not in ("init", "directory")}
