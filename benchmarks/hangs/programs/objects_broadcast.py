"""Rank 0 sends the configuration by an object collective, and the others have their own."""

# run: world_size=2
# outcome: hung
# kind: hidden
# differ: 0:SEND 1:B
# says: "broadcast"
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    dist.barrier()
    config = [{"lr": 0.1}]
    if dist.get_rank() == 0:
        dist.broadcast_object_list(config, src=0)  # SEND
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
