"""`continue` on a loss that is not finite leaves out the gradient's all_reduce, on one rank only."""

# run: world_size=2
# outcome: hung
# kind: skipped-call
# differ: 0:GRAD 1:END
# lines: 0:GRAD 1:END
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for step in range(6):
        loss = torch.tensor([float("nan") if (rank, step) == (1, 3) else 1.0])
        if not loss.isfinite():
            continue
        dist.all_reduce(loss)  # GRAD
    dist.barrier()  # END
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
