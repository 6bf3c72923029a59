"""Early stopping by a common decision: the flag of any rank stops all."""

# run: world_size=3
# outcome: completed
# kind: healthy
# guilty: none
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    step, stop = 0, torch.zeros(1)
    while not stop:
        step += 1
        dist.all_reduce(torch.ones(2))
        stop = torch.tensor([float(step > 5 - dist.get_rank())])
        dist.all_reduce(stop, op=dist.ReduceOp.MAX)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
