"""A process group after the other, with different numbers of calls in each life."""

# run: world_size=3
# outcome: completed
# kind: healthy
# guilty: none
# not: "differ" "[Nn]ot called"
import torch
import torch.distributed as dist


def worker(rank, world_size):
    store = dist.distributed_c10d._get_default_store()
    for steps in (3, 1):
        for _ in range(steps):
            dist.all_reduce(torch.ones(1))
        store.add(f"done {steps}", 1)
        while int(store.add(f"done {steps}", 0)) < world_size:  # nobody leaves while another still needs its messages
            pass
        dist.destroy_process_group()
        keys = dist.PrefixStore(f"after {steps}", store)
        dist.init_process_group("gloo", store=keys, rank=rank, world_size=world_size)
    dist.barrier()
