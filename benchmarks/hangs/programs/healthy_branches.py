"""Both sides of an `if` on the rank call the same collective, on two lines."""

# run: world_size=3
# outcome: completed
# kind: healthy
# guilty: none
# not: "differ"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    for _ in range(3):
        loss = torch.ones(1)
        if dist.get_rank() == 0:
            dist.all_reduce(loss)
            print("loss", loss.item())
        else:
            dist.all_reduce(loss)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
