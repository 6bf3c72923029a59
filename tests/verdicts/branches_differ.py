"""An `if` on the rank in which each side calls another collective (a saver on rank 0, a logger elsewhere)."""

# run:
# outcome: hung
# kind: mismatch
# differ: 0:SAVE 1:LOG
# lines: 0:SAVE 1:LOG
import torch
import torch.distributed as dist


def save(state):
    dist.barrier()  # SAVE
    return state


def log(loss):
    dist.all_reduce(loss)  # LOG
    return loss.item()


def worker(rank, world_size):
    state = torch.ones(2)
    dist.broadcast(state, src=0)
    if rank == 0:
        save(state)
    else:
        log(state.sum())
    dist.barrier()
