"""NCCL where each local rank has a device of its own, else gloo; and always the reason."""

import pytest

from barrier_lab.planning.backend import choose


@pytest.mark.parametrize(
    ("devices", "ranks", "chosen", "reason"),
    [
        (0, 2, "gloo", "no CUDA device"),
        (1, 1, "nccl", "a CUDA device for each"),
        (1, 2, "gloo", "2 ranks would share 1 CUDA device"),
        (2, 2, "nccl", "a CUDA device for each"),
        (2, 4, "gloo", "4 ranks would share 2 CUDA devices"),
        (4, 4, "nccl", "a CUDA device for each"),
        (4, 2, "nccl", "a CUDA device for each"),
    ],
)
def test_auto_takes_nccl_only_with_a_device_for_each_local_rank(devices, ranks, chosen, reason) -> None:
    backend, why = choose("auto", ranks, devices, has_nccl=True)
    assert backend == chosen
    assert reason in why


@pytest.mark.parametrize(("devices", "ranks"), [(0, 1), (0, 2), (1, 2), (2, 4)])
def test_nccl_is_refused_with_one_sentence_where_it_cannot_work(devices: int, ranks: int) -> None:
    with pytest.raises(ValueError, match=r"NCCL cannot work here, because .*: use --backend gloo"):
        choose("nccl", ranks, devices, has_nccl=True)


@pytest.mark.parametrize("devices", [1, 2, 4])
def test_nccl_is_taken_when_asked_for_and_possible(devices: int) -> None:
    assert choose("nccl", devices, devices, has_nccl=True)[0] == "nccl"


@pytest.mark.parametrize("devices", [0, 1, 2, 4])
def test_gloo_is_taken_when_asked_for(devices: int) -> None:
    assert choose("gloo", 2, devices, has_nccl=True) == ("gloo", "it was asked for")


def test_a_torch_without_nccl_gives_gloo_on_any_number_of_devices() -> None:
    assert choose("auto", 2, 4, has_nccl=False) == ("gloo", "this torch is built without NCCL")
