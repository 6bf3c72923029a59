"""One rank has one batch less; training goes on, and validation freezes."""

# run: world_size=2
# outcome: hung
# kind: skipped-call
# differ: 0:TRAIN 1:VAL
# says: "5th"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    for _ in range(2):
        for _ in range(5 - dist.get_rank()):
            gradient = torch.rand(4)
            dist.all_reduce(gradient)  # TRAIN
        for _ in range(3):
            loss = torch.rand(4)
            dist.all_reduce(loss)  # VAL
        names = [None, None]
        dist.all_gather_object(names, "epoch")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
