"""Rank 0 opens a store for its helper function and does not keep it; rank 1 finds nobody at the port."""

# run: world_size=2
# outcome: hung
# kind: absent-call
# guilty: 1
# lines: 1:JOIN 0:B
import torch.distributed as dist


def open_store(port):
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    port.append(store.port)  # the store ends here, together with its server


def main():
    dist.init_process_group("gloo")
    port = []
    if dist.get_rank() == 0:
        open_store(port)
    ports = [port, None]
    dist.broadcast_object_list(ports, src=0)
    if dist.get_rank() == 1:
        dist.TCPStore("127.0.0.1", ports[0][0], is_master=False)  # JOIN
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
