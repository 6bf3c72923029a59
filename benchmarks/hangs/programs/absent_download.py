"""Every rank asks a server for its shard; the server never answers one of them."""

# run: world_size=2
# outcome: hung
# kind: absent-call
# guilty: 1
# lines: 1:READ 0:B
import socket

import torch.distributed as dist


def download(rank):
    client, server = socket.socketpair()
    if rank == 0:
        server.send(b"shard")
    return client.recv(5)  # READ


def main():
    dist.init_process_group("gloo")
    dist.barrier()
    download(dist.get_rank())
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
