"""Stages exchange with both neighbours in one batch; the last one believes that it has no neighbour."""

# run: world_size=3
# outcome: hung
# kind: message
# guilty: 2
# also: 1
# lines: 1:WAIT 2:B
# says: "rank 2"
import torch
import torch.distributed as dist


def exchange(rank, peers):
    inbox = [torch.empty(4) for _ in peers]
    batch = [dist.P2POp(dist.isend, torch.full((4,), float(rank)), peer) for peer in peers]
    batch += [dist.P2POp(dist.irecv, x, peer) for x, peer in zip(inbox, peers, strict=True)]
    for request in dist.batch_isend_irecv(batch):
        request.wait()  # WAIT


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank < 2:
        exchange(rank, [[1], [0, 2]][rank])
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
