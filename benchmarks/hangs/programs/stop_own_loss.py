"""Each rank decides by its own loss when to stop."""

# run: world_size=2
# outcome: hung
# kind: skipped-call
# differ: 0:STEP 1:SAVE
# lines: 0:STEP 1:SAVE
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    loss, step = 1.0, 0
    while loss > 0.1:
        step += 1
        loss = 1.0 / (1 + step * (1 + dist.get_rank()))
        dist.all_reduce(torch.tensor([loss]))  # STEP
    dist.barrier()  # SAVE
    print("best model saved")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
