"""Lesson ``sampler``: who reads which sample, what padding and dropping do, and that a barrier changes nothing."""

import pytest
from torch.utils.data import BatchSampler, DistributedSampler

from barrier_lab import run, run_many

SHUFFLED = dict(experiment="sampler", world_size=4, shuffle=True, epochs=3)
VARIANTS = {
    "eight": dict(experiment="sampler", world_size=8),
    "dropped": dict(experiment="sampler", world_size=8, drop_last=True),
    "shuffled": SHUFFLED,
    "met": SHUFFLED | dict(barrier=True),
    "nobody told": SHUFFLED | dict(forgets="everybody"),
    "one not told": SHUFFLED | dict(forgets="rank 3"),
    "one not told, met": SHUFFLED | dict(forgets="rank 3", barrier=True),
    "padded": dict(experiment="sampler", world_size=3, samples=10),
    "validation": dict(experiment="sampler_validation"),
    "alone": dict(experiment="sampler_validation", world_size=1),
}


@pytest.fixture(scope="module")
def runs() -> dict:
    """One run of each variant, all at once."""
    return dict(zip(VARIANTS, run_many(list(VARIANTS.values())), strict=True))


def read(found, epoch: int = 0) -> list[int]:
    """All samples that were read, by all ranks, sorted."""
    return sorted(sample for rank in found.ranks for batch in rank.result[epoch] for sample in batch)


def test_spawned_ranks_read_what_a_sampler_says_that_is_asked_in_one_process():
    found = run("sampler", world_size=2, shuffle=True)
    for rank in found.ranks:
        asked = DistributedSampler(range(800), num_replicas=2, rank=rank.rank)
        assert rank.result[0] == list(BatchSampler(asked, 16, False))


def test_each_sample_has_one_reader(runs):
    assert read(runs["eight"]) == read(runs["shuffled"]) == list(range(800))


def test_ranks_take_every_eighth_sample_from_their_own_number_on(runs):
    for rank in runs["eight"].ranks:
        own = [sample for batch in rank.result[0] for sample in batch]
        assert own == list(range(rank.rank, 800, 8))


def test_the_seventh_batch_has_four_samples_and_drop_last_leaves_it_out(runs):
    for rank in runs["eight"].ranks:
        assert [len(batch) for batch in rank.result[0]] == [16] * 6 + [4]
    for rank in runs["dropped"].ranks:
        assert [len(batch) for batch in rank.result[0]] == [16] * 6
    assert len(read(runs["dropped"])) == 800 - 32


def test_set_epoch_gives_each_epoch_an_order_of_its_own(runs):
    for rank in runs["shuffled"].ranks:
        first, second, third = rank.result
        assert first != second and second != third and first != third
    for rank in runs["nobody told"].ranks:
        assert rank.result[0] == rank.result[1] == rank.result[2]


def test_one_rank_without_set_epoch_reads_samples_of_others_and_nothing_complains(runs):
    found = runs["one not told"]
    assert found.outcome == "completed"
    assert read(found, epoch=0) == list(range(800))
    assert len(set(read(found, epoch=1))) < 800


def test_ranks_agree_without_any_call_and_a_barrier_changes_no_sample(runs):
    assert runs["shuffled"].spans() == []
    assert len(runs["met"].spans(name="barrier")) == 4 * 3
    assert [rank.result for rank in runs["met"].ranks] == [rank.result for rank in runs["shuffled"].ranks]


def test_a_barrier_does_not_tell_the_epoch_to_the_rank_that_forgets_it(runs):
    met, not_met = runs["one not told, met"], runs["one not told"]
    assert len(met.spans(name="barrier")) == 4 * 3
    assert [rank.result for rank in met.ranks] == [rank.result for rank in not_met.ranks]


def test_padding_repeats_the_first_samples(runs):
    assert read(runs["padded"]) == [0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_only_a_share_without_padding_gives_the_accuracy_of_one_process(runs):
    truth = runs["alone"].ranks[0].result["own share"]
    for rank in runs["validation"].ranks:
        assert rank.result["own share"] == truth
        assert {seen for _, seen in rank.result["padded"]} == {12}
        assert {seen for _, seen in rank.result["dropped"]} == {9}
        assert all(right / 12 != truth[0][0] / truth[0][1] for right, _ in rank.result["padded"])
