"""Copy this file beside a training script, and import it there before the process group is made.

A rank that has begun no collective for SECONDS writes its stacks and PyTorch's flight record into FOLDER, and goes on.
``barrier-lab show FOLDER`` reads them, on any machine.
"""

import faulthandler
import json
import os
import sys
import threading
import time
from pathlib import Path

FOLDER = Path(os.environ.get("HANG_REPORT", "hang-report"))
SECONDS = float(os.environ.get("HANG_REPORT_SECONDS", "60"))
os.environ.setdefault("TORCH_FR_BUFFER_SIZE", "20000")  # calls that the flight record keeps


def report(rank, size):
    import torch
    from torch._C import _distributed_c10d as c10d

    names = ("_dump_fr_trace_json", "_dump_nccl_trace_json")  # the second one in older versions
    dump = next((getattr(c10d, name) for name in names if hasattr(c10d, name)), lambda: "null")
    about = {"rank": rank, "world_size": size, "script": os.path.abspath(sys.argv[0]), "torch": torch.__version__}
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"rank{rank}.stack", "w") as file:
        faulthandler.dump_traceback(file, all_threads=True)
    (FOLDER / f"rank{rank}.report.json").write_text(json.dumps(about | {"flight": json.loads(dump())}))


def calls(dist):
    try:
        groups = list(dist.distributed_c10d._world.pg_map) if dist.is_initialized() else []
        return [group._get_sequence_number_for_group() for group in groups]
    except (AttributeError, RuntimeError):  # torch is being imported, or a group is being made
        return []


def watch(before=None, since=0.0):
    while True:
        time.sleep(1)
        dist = sys.modules.get("torch.distributed")
        now = calls(dist)
        if now != before:
            before, since = now, time.monotonic()
        elif now and time.monotonic() - since > SECONDS:
            report(dist.get_rank(), dist.get_world_size())
            since = time.monotonic()


threading.Thread(target=watch, daemon=True).start()
