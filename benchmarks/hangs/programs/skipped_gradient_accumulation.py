"""The ranks have different numbers of micro-batches, so they step at different times, and one steps less often."""

# run: world_size=2
# outcome: hung
# kind: skipped-call
# differ: 0:STEP 1:LOSS
# says: "4th"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    batches = 8 if dist.get_rank() == 0 else 7
    gradient, loss = torch.zeros(4), torch.zeros(1)
    for i in range(batches):
        gradient += 1
        if (i + 1) % 2 == 0:
            dist.all_reduce(gradient)  # STEP
    dist.all_reduce(loss)  # LOSS
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
