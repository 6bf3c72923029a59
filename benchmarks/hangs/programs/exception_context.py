"""A context manager synchronizes when it is left; one rank leaves it by an exception."""

# run: world_size=2
# outcome: hung
# kind: exception
# differ: 0:A 1:LEAVE
# lines: 1:CAUSE 1:LEAVE 0:A
# says: "AssertionError"
import contextlib

import torch
import torch.distributed as dist


@contextlib.contextmanager
def all_together():
    dist.barrier()
    try:
        yield
    finally:
        dist.barrier()  # LEAVE


def main():
    dist.init_process_group("gloo")
    with all_together():
        for step in range(4):
            assert (dist.get_rank(), step) != (1, 2), "loss is not finite"  # CAUSE
            dist.all_reduce(torch.ones(2))  # A
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
