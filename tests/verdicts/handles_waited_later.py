"""Operations overlap with work, are waited for in another order, and one handle is dropped on all ranks alike."""

# run: world_size=3
# outcome: completed
# kind: healthy
# guilty: none
# not: "[Nn]ot called" "differ"
import torch
import torch.distributed as dist


def worker(rank, world_size):
    xs = [torch.ones(16) for _ in range(4)]
    handles = [dist.all_reduce(x, async_op=True) for x in xs]
    for handle in handles[2::-1]:
        handle.wait()
    dist.barrier()
    return xs[0][0].item()
