"""Rank 0 logs the mean loss of all ranks, inside `if rank == 0`."""

# run: world_size=4
# outcome: hung
# kind: mismatch
# differ: 0:LOG 1:B
# lines: 0:LOG 1:B
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    loss = torch.tensor([float(dist.get_rank())])
    dist.broadcast(loss, src=0)
    if dist.get_rank() == 0:
        dist.all_reduce(loss, op=dist.ReduceOp.SUM)  # LOG
        print("mean loss", loss.item() / dist.get_world_size())
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
