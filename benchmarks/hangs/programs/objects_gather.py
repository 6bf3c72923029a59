"""A warning is gathered from all ranks by those that have one."""

# run: world_size=3
# outcome: hung
# kind: hidden
# differ: 0:G 1:B
# says: "all_gather"
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    dist.barrier()
    warning = "" if dist.get_rank() == 1 else "loss scale is low"
    if warning:
        warnings = [None] * dist.get_world_size()
        dist.all_gather_object(warnings, warning)  # G
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
