"""Two collectives that all ranks call, in the other order on one of them."""

# run: world_size=3
# outcome: hung
# kind: mismatch
# differ: 0:WEIGHTS 1:READY
# says: "2nd"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    weights = torch.zeros(4)
    dist.all_reduce(torch.ones(1))
    if dist.get_rank() == 1:  # the tracker is started first here
        dist.barrier()  # READY
        dist.broadcast(weights, src=2)
    else:
        dist.broadcast(weights, src=2)  # WEIGHTS
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
