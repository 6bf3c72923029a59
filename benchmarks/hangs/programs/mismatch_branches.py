"""The two sides of an `if` on the rank call different collectives."""

# run: world_size=2
# outcome: hung
# kind: mismatch
# differ: 0:SAVE 1:LOG
# lines: 0:SAVE 1:LOG
import torch
import torch.distributed as dist


def save():
    dist.barrier()  # SAVE


def log(loss):
    dist.all_reduce(loss)  # LOG
    print("loss", loss.item())


def main():
    dist.init_process_group("gloo")
    weights = torch.ones(4)
    dist.broadcast(weights, src=0)
    if dist.get_rank() == 0:
        save()
    else:
        log(weights.mean())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
