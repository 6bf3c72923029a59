"""Every call of a timeline is named, in words that a newcomer can read without a legend, and that add up."""

import re
from io import StringIO

import made_traces as made
import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure

from barrier_lab import diagnose, timeline, trace
from barrier_lab.timeline.inline_svg import inline
from barrier_lab.timeline.layout import lay_out
from barrier_lab.timeline.model import tell


def read(make, tmp_path, **more):
    return trace.read(make(tmp_path / "run", **more))


def read_ranks(tmp_path, *ranks):
    return trace.read(made.write(tmp_path / "run", list(ranks)))


def words_of(run):
    return [label.text for label in lay_out(run, tell(run), ["#0072B2", "#C25500"]).labels]


def small_print(run):
    return [text.get_text() for text in timeline.draw(run).texts]


@pytest.mark.parametrize("apart", [0.0005, 0.002, 0.004, 0.008])
def test_calls_close_to_each_other_at_the_end_are_all_named(tmp_path, apart):
    words = words_of(read(made.close_at_end, tmp_path, apart=apart))
    assert any(re.match(r"barriers 2–5( \(:31\))?", text) for text in words)
    assert any(re.match(r"barriers 1–5( \(:31\))?", text) for text in words)


def test_barriers_of_several_groups_share_no_ordinals(tmp_path):
    run = read(made.poisoned, tmp_path)
    assert "barriers 1–1" not in timeline.describe(run)
    assert any(re.match(r"[34] barriers", text) for text in words_of(run))


def test_a_call_that_failed_says_so_in_words(tmp_path):
    words = words_of(read(made.poisoned, tmp_path))
    assert "barrier 1 of new group 1 (:17) fails after 1.00 s" in words
    assert any(text.startswith("barrier 2 of new group 1 (:17) fails") for text in words)


def test_the_line_of_calls_that_share_a_name_is_told_with_its_file_where_it_is_not_the_script(tmp_path):
    both = [made.call("broadcast", 0.001 * n, 0.001 * n + 0.0005, 43, file="/elsewhere/helpers.py") for n in (1, 2)]
    ranks = [made.rank(*both, made.sleep(0.003, 1.0), ended=1.0) for _ in range(2)]
    run = trace.read(made.write(tmp_path / "run", ranks))
    assert any(text.startswith("broadcast 1–2 (helpers.py:43)") for text in words_of(run))


def test_the_small_print_says_what_a_line_number_and_a_tick_mean(tmp_path):
    assert any(
        "(:23) is line 23  ·  ticks: printed lines" in text for text in small_print(read(made.ordering, tmp_path))
    )


def test_a_run_without_a_backend_says_no_reason_for_it(tmp_path):
    run = trace.read(made.write(tmp_path / "run", [made.rank(ended=1.0)], backend=None))
    assert not any("because" in text for text in small_print(run))


@pytest.mark.parametrize(("end", "unit"), [(0.03, "milliseconds"), (0.19, "milliseconds"), (0.3, "seconds")])
def test_a_short_run_is_measured_in_milliseconds(tmp_path, end, unit):
    run = trace.read(made.write(tmp_path / "run", [made.rank(made.barrier(0.0, end), ended=end)] * 2))
    assert timeline.draw(run).axes[0].get_xlabel() == f"{unit} since the common start"


def test_a_rank_that_left_its_worker_by_exit_0_is_told_from_one_that_returned(tmp_path):
    left = made.rank(made.sleep(0.0, 0.4), exit_code=0)
    back = made.rank(made.sleep(0.0, 0.4), ended=0.4, exit_code=0)
    stays = made.rank(made.sleep(0.0, 2.0), ended=2.0, exit_code=0)
    words = words_of(trace.read(made.write(tmp_path / "run", [left, back, stays])))
    assert "exited at 0.40 s (code 0)" in words and "returned at 0.40 s" in words


def test_short_sleeps_in_a_row_share_a_bar_that_counts_them(tmp_path):
    naps = [made.sleep(0.1001 * n, 0.1001 * n + 0.1) for n in range(39)]
    other = made.rank(made.sleep(0.0, 4.0), ended=4.0)
    words = words_of(read_ranks(tmp_path, made.rank(*naps, ended=4.0), other))
    assert "39 × sleeps 0.10 s (:10)" in words


def test_a_sleep_too_short_to_see_cuts_no_bar(tmp_path):
    ranks = [made.rank(made.sleep(0.2, 0.20001), made.barrier(0.4, 1.0), ended=1.0)] * 2
    assert [bar.name for bar in tell(read_ranks(tmp_path, *ranks)).rows[0].bars] == ["works", "barrier 1 (:20)"]


def test_an_error_that_the_script_caught_is_told_beside_its_return(tmp_path):
    caught = made.rank(made.barrier(0.0, 0.5, error="RuntimeError: Timed out"), ended=0.6)
    words = words_of(read_ranks(tmp_path, caught, made.rank(made.sleep(0.0, 3.0), ended=3.0)))
    assert "error caught; returned at 0.60 s" in words


def test_the_texture_of_a_wait_is_seen_on_both_sides_of_its_words(tmp_path):
    drawing = lay_out(run := read(made.ordering, tmp_path), tell(run), ["#0072B2", "#C25500"])
    (label,) = (label for label in drawing.labels if label.text.startswith("waits"))
    found = [box for boxes in drawing.hatches.values() for box in boxes if box[2] < label.y < box[3]]
    assert any(b - a > 8 and b < label.x for a, b, *_ in found)
    assert any(b - a > 8 and label.x < a for a, b, *_ in found)


def test_the_verdict_and_the_figure_give_the_same_wait(tmp_path):
    late = made.rank(made.sleep(0.0, 1.14), made.barrier(1.14, 1.163, 31), ended=1.17)
    run = trace.read(made.write(tmp_path / "run", [made.rank(made.barrier(0.0, 1.16, 31), ended=1.17), late]))
    assert "waits 1.16 s in barrier 1 (:31)" in words_of(run)
    assert "waited 1.16 s for rank 1" in diagnose.verdict(run)
    assert "waits 1.16 s in barrier 1 (:31)" in timeline.describe(run)


def test_the_first_tenth_of_a_second_is_told_in_milliseconds_everywhere(tmp_path):
    ends = made.rank(made.barrier(0.001, 0.0093), ended=0.0094)
    run = trace.read(made.write(tmp_path / "run", [ends, ends]))
    assert diagnose.verdict(run).startswith("Both ranks finished by 9.4 ms.")
    assert "9.4 ms from their common start" in timeline.describe(run)
    assert "Released: barrier 1 at 9.3 ms." in timeline.describe(run)


def test_several_ranks_that_failed_alike_share_a_sentence(tmp_path):
    gone = "RuntimeError: Connection closed by peer"
    failed = made.rank(
        made.barrier(0.1, 0.2, 26, error=gone), ended=0.2, exit_code=1, error=("RuntimeError", gone[14:], 26)
    )
    run = trace.read(made.write(tmp_path / "run", [failed] * 3 + [made.rank(ended=0.1)], outcome="failed"))
    said = timeline.describe(run)
    assert "Ranks 0-2: barrier 1 (:26)" in said or "Ranks 0-2 each: " in said
    assert "Ranks 0-2 raised RuntimeError: Connection closed by peer." in said


def test_a_barrier_that_nobody_waits_for_is_drawn_to_its_own_end(tmp_path):
    dropped = made.rank(made.barrier(0.0, 2.0, in_flight=True), made.sleep(0.001, 1.5), ended=1.5)
    late = made.rank(made.sleep(0.0, 2.0), made.barrier(2.0, 2.001), ended=2.1)
    run = read_ranks(tmp_path, dropped, late)
    (flight,) = tell(run).rows[0].flights
    assert flight.end == pytest.approx(2.0)
    assert "barrier 1 (:20) is in flight for 2.00 s" in timeline.describe(run)


def test_a_rank_that_makes_a_group_at_the_end_is_said_to_be_in_that_call(tmp_path):
    torch = '"/x/site-packages/torch/distributed/distributed_c10d.py", line 5863 in new_group'
    stack = (
        f'Thread 0x1 (most recent call first):\n  File {torch}\n  File "{made.SCRIPT.format("made")}", line 17 in w\n'
    )
    ranks = [made.rank(stack=stack), made.rank(made.sleep(0.0, None))]
    run = trace.read(made.write(tmp_path / "run", ranks, outcome="hung", stopped=6.0))
    assert "works, then is in new_group (:17); stopped at 6.0 s" in words_of(run)
    assert "Rank 0: works, then is in new_group (:17) from the start to the end." in timeline.describe(run)


def test_words_of_several_lines_and_turned_words_keep_their_place_in_a_page():
    figure, out = Figure(), StringIO()
    figure.add_axes((0.1, 0.1, 0.8, 0.8), xticks=[0, 1], xticklabels=["one\ntwo", "single"], ylabel="up")
    with rc_context({"svg.fonttype": "none"}):
        figure.savefig(out, format="svg")
    svg = inline(out.getvalue(), {}, "a name", "a description", "run")
    place = {words: rest for rest, words in re.findall(r"<text ([^>]*)>([^<]+)</text>", svg)}
    assert all('transform="translate(' in place[word] for word in ("one", "two"))
    assert "rotate(-90" in place["up"]
    assert "transform" not in place["single"]
