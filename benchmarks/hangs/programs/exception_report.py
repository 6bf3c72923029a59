"""The handler of an error tells all ranks about it by a collective, and they are elsewhere."""

# run: world_size=3
# outcome: hung
# kind: exception
# differ: 0:A 1:TELL
# lines: 1:CAUSE 1:TELL 0:A 2:A
# says: "KeyError"
import torch
import torch.distributed as dist


def loss(rank, step):
    sample = {"image": 1.0} if (rank, step) == (1, 2) else {"image": 1.0, "label": 0.0}
    return torch.tensor([sample["image"] - sample["label"]])  # CAUSE


def main():
    dist.init_process_group("gloo")
    try:
        for step in range(4):
            dist.all_reduce(loss(dist.get_rank(), step))  # A
    except KeyError as error:
        errors = [None] * dist.get_world_size()
        dist.all_gather_object(errors, repr(error))  # TELL
        print(errors)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
