"""The ranks meet at a key of a store, which the rank that sets it spells in another way."""

# run: world_size=2
# outcome: hung
# kind: absent-call
# guilty: 1
# lines: 1:WAIT 0:B
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    store = dist.distributed_c10d._get_default_store()
    if dist.get_rank() == 0:
        store.set("dataset-ready", "1")
    else:
        store.wait(["dataset_ready"])  # WAIT
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
