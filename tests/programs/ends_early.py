"""Rank 1 ends while rank 0 waits for it; the arguments say how, and whether the program starts its ranks itself."""

import os
import signal
import sys

import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank, how):
    dist.init_process_group("gloo")
    dist.barrier()
    if dist.get_rank() == 1:
        if how == "return":
            return
        if how == "exit":
            sys.exit(3)  # X
        if how == "raise":
            raise ValueError("a bad batch")  # R
        if how == "vanish":
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)
    dist.barrier()  # B
    dist.destroy_process_group()


def spawned(rank, how, port):
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    work(rank, how)


if __name__ == "__main__":
    if "spawn" in sys.argv:
        store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        os.environ["TORCHELASTIC_USE_AGENT_STORE"] = "True"
        mp.spawn(spawned, (sys.argv[1], store.port), nprocs=2)
    else:
        work(None, sys.argv[1])
