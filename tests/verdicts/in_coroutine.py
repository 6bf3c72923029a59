"""The training is a coroutine; on one rank it awaits an answer that does not come."""

# run:
# outcome: hung
# kind: absent-call
# guilty: 1
# lines: 1:RUN 0:A
import asyncio

import torch
import torch.distributed as dist


async def answer(rank):
    if rank == 1:
        await asyncio.Event().wait()
    return torch.ones(1)


async def train(rank):
    for _ in range(2):
        dist.all_reduce(await answer(rank))  # A


def worker(rank, world_size):
    dist.barrier()
    asyncio.run(train(rank))  # RUN
