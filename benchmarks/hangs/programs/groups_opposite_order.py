"""Two groups of the same two ranks, used in opposite order."""

# run: world_size=2
# outcome: hung
# kind: cycle
# guilty: 0 1
# lines: 0:TENSOR 1:DATA
# says: "group"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    tensor_group, data_group = dist.new_group([0, 1]), dist.new_group([0, 1])
    x = torch.ones(4)
    if dist.get_rank() == 0:
        dist.all_reduce(x, group=tensor_group)  # TENSOR
        dist.all_reduce(x, group=data_group)
    else:
        dist.all_reduce(x, group=data_group)  # DATA
        dist.all_reduce(x, group=tensor_group)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
