"""Experts exchange tokens by all_to_all_single; each rank takes its own counts for those of the others."""

# run: deadline=8
# outcome: failed
# kind: mismatch
# lines: 1:A2A
# says: "rank 0 sends 2 to rank 1.*expects 1"
import torch
import torch.distributed as dist


def dispatch(tokens, counts):
    received = torch.empty(sum(counts), 2)
    dist.all_to_all_single(received, tokens, output_split_sizes=counts, input_split_sizes=counts)  # A2A
    return received


def worker(rank, world_size):
    dispatch(torch.ones(4, 2), [2, 2] if rank == 0 else [1, 3])
    dist.barrier()
