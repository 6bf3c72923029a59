"""An object collective that only some ranks call: each is two tensor collectives below."""

# run: how="broadcast"
# outcome: hung
# kind: hidden
# differ: 0:BC 1:B
# says: "broadcast"
#
# run: how="gather" world_size=3
# outcome: hung
# kind: hidden
# differ: 0:G 1:B
# says: "all_gather"
#
# run: how="scatter"
# outcome: hung
# kind: hidden
# differ: 0:SC 1:B
# says: "broadcast|scatter"
import torch.distributed as dist


def worker(rank, world_size, *, how: str = "broadcast"):
    dist.barrier()
    if rank == 0 and how == "broadcast":
        dist.broadcast_object_list([{"lr": 0.1}], src=0)  # BC
    elif rank != 1 and how == "gather":
        dist.all_gather_object([None] * world_size, "warning")  # G
    elif rank == 0 and how == "scatter":
        dist.scatter_object_list([None], [{"part": r} for r in range(world_size)], src=0)  # SC
    dist.barrier()  # B
