"""Carry out one rank's part of a random program: the same calls that a script would make, read from JSON.

An operation is a list: its name, then its arguments.

    call KIND GROUP ROOT            a blocking collective
    start KIND GROUP ROOT HANDLE    the same with async_op=True
    wait HANDLE
    send|recv PEER TAG              isend|irecv PEER TAG HANDLE
    stuck                           wait for something that is no rank
    leave HOW                       return, exit0, exit3, os_exit0, os_exit5
"""

import json
import os
import sys
import threading

import torch
import torch.distributed as dist


class Returned(Exception):
    """The program says that the worker returns here."""


def worker(rank, world_size, *, program: str = "{}"):
    plan = json.loads(program)
    groups = [dist.group.WORLD, *(dist.new_group(ranks) for ranks in plan["groups"][1:])]
    meet("ready", world_size)  # nobody may leave while another still connects to it
    side = plan["side"][rank]
    if side:
        thread = threading.Thread(target=carry_out, args=(side, groups), name="side", daemon=True)
        thread.start()
    try:
        carry_out(plan["main"][rank], groups)
    except Returned:
        return
    if side:
        thread.join()
    meet("done", world_size)  # a rank that ends closes its connections, which others may wait on


def meet(name, world_size):
    """A barrier that is not recorded: count at the store, and look again and again."""
    store = dist.distributed_c10d._get_default_store()
    store.add(name, 1)
    while int(store.add(name, 0)) < world_size:
        threading.Event().wait(0.02)


def carry_out(operations, groups):
    handles = {}
    for name, *args in operations:
        if name in ("call", "start"):
            kind, group, root, *handle = args
            work = collective(kind, groups[group], root, bool(handle))
            handles |= dict.fromkeys(handle, work)
        elif name == "wait":
            handles[args[0]].wait()
        elif name in ("send", "recv", "isend", "irecv"):
            peer, tag, *handle = args
            work = getattr(dist, name)(torch.ones(3), peer, tag=tag)
            handles |= dict.fromkeys(handle, work)
        elif name == "stuck":
            os.read(os.pipe()[0], 1)
        else:
            leave(args[0])


def collective(kind, group, root, in_background):
    x, options = torch.ones(2), {"group": group, "async_op": in_background}
    parts = [torch.ones(2) for _ in range(dist.get_world_size(group))]
    if kind == "barrier":
        return dist.barrier(**options)
    if kind == "all_gather":
        return dist.all_gather(parts, x, **options)
    if kind == "broadcast":
        return dist.broadcast(x, src=root, **options)
    if kind in ("gather", "scatter"):
        to = {"dst": root} if kind == "gather" else {"src": root}
        return getattr(dist, kind)(x, parts if dist.get_rank() == root else None, **to, **options)
    return dist.all_reduce(x, **options)


def leave(how):
    dist.distributed_c10d._get_default_store().add("done", 1)
    if how == "return":
        raise Returned
    code = int(how[-1])
    if how.startswith("os_"):
        os._exit(code)
    sys.exit(code)
