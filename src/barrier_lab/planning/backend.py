"""Choose NCCL or gloo and give the reason."""

from barrier_lab.errors import UsageError

BACKENDS = ("auto", "gloo", "nccl")


def choose(requested: str, local_ranks: int, device_count: int, has_nccl: bool) -> tuple[str, str]:
    """Choose a backend.  Returns it with the reason, a clause that follows "because".

    ``local_ranks``: number of ranks on this machine.  ``device_count``: number of visible CUDA devices.
    ``has_nccl``: whether torch was built with NCCL.  NCCL needs one device per local rank.
    Raises ``UsageError`` if NCCL is requested where it cannot work.
    """
    if requested not in BACKENDS:
        raise UsageError(f"Backend {requested!r} is not known: choose one of {', '.join(BACKENDS)}.")
    if requested == "gloo":
        return "gloo", "it was asked for"
    obstacle = _obstacle(local_ranks, device_count, has_nccl)
    if requested == "nccl":
        if obstacle:
            raise UsageError(f"NCCL cannot work here, because {obstacle}: use --backend gloo, or auto.")
        return "nccl", "it was asked for"
    if obstacle:
        return "gloo", obstacle
    return "nccl", f"there is a CUDA device for each of the {local_ranks} local rank{'s' if local_ranks > 1 else ''}"


def choose_here(requested: str, local_ranks: int) -> tuple[str, str]:
    """``choose`` for this machine, according to torch."""
    import torch.distributed as dist

    return choose(requested, local_ranks, _device_count(), dist.is_available() and dist.is_nccl_available())


def _device_count() -> int:
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def _obstacle(local_ranks: int, device_count: int, has_nccl: bool) -> str | None:
    if device_count == 0:
        return "there is no CUDA device"
    if not has_nccl:
        return "this torch is built without NCCL"
    if device_count < local_ranks:
        return f"{local_ranks} ranks would share {device_count} CUDA device{'s' if device_count > 1 else ''}"
    return None
