"""The timeline shows every call of a run, and its SVG and its words can be trusted."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import made_traces as made
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from barrier_lab import timeline, trace
from barrier_lab.timeline.layout import lay_out
from barrier_lab.timeline.model import tell
from barrier_lab.timeline.shapes import HATCHES

SVG = "{http://www.w3.org/2000/svg}"
CASES = {
    "ordering": made.ordering,
    "one_sided": made.one_sided,
    "killed_peer": made.killed_peer,
    "zero_first": made.zero_first,
    "mismatch": made.mismatch,
    "late mismatch": made.late_mismatch,
    "poisoned": made.poisoned,
    "close at the end": made.close_at_end,
    "closer at the end": lambda d: made.close_at_end(d, 0.008),
    "handles": made.handles,
    "one rank": lambda d: made.many(d, 1, 3, 0.2),
    "8 ranks": lambda d: made.many(d, 8, 5, 0.2),
    "16 ranks": lambda d: made.many(d, 16, 4, 0.2),
    "64 ranks": lambda d: made.many(d, 64, 6, 0.2),
    "1,000 barriers": lambda d: made.many(d, 2, 1000),
}


@pytest.fixture(params=CASES, ids=list(CASES))
def any_run(request, tmp_path):
    return trace.read(CASES[request.param](tmp_path / "run"))


def read(make, tmp_path, **more):
    return trace.read(make(tmp_path / "run", **more))


def drawing_of(run):
    return lay_out(run, tell(run), ["#0072B2", "#C25500"])


def words_of(run):
    return [label.text for label in drawing_of(run).labels]


def boxes(figure):
    """Every text of a figure with its box in pixels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # the axis places its words when it is drawn
    renderer = canvas.get_renderer()
    axes = figure.axes[0]
    low, high = axes.get_xlim()
    ticks = [text for text in axes.xaxis.get_ticklabels() if low <= text.get_position()[0] <= high]
    texts = [*figure.texts, *axes.texts, axes.xaxis.label, *ticks]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in texts if text.get_text()]


def test_no_two_labels_overlap(any_run):
    found = boxes(timeline.draw(any_run))
    for i, (text, box) in enumerate(found):
        for other, there in found[i + 1 :]:
            apart = box.x1 <= there.x0 or there.x1 <= box.x0 or box.y1 <= there.y0 or there.y1 <= box.y0
            assert apart, f"{text!r} overlaps {other!r}"


def test_all_labels_stand_within_the_figure(any_run):
    figure = timeline.draw(any_run, title="A title")
    whole = figure.bbox
    for text, box in boxes(figure):
        assert box.x0 >= whole.x0 and box.x1 <= whole.x1 and box.y0 >= whole.y0 and box.y1 <= whole.y1, text


def test_no_release_line_crosses_a_label(any_run):
    figure = timeline.draw(any_run)
    lines = [c for c in figure.axes[0].collections if c.get_gid() == "releases"]
    found = boxes(figure)
    for collection in lines:
        for segment in collection.get_segments():
            (x, y0), (_, y1) = figure.axes[0].transData.transform(segment)
            for text, box in found:
                beside = x <= box.x0 or box.x1 <= x
                assert beside or max(y0, y1) <= box.y0 + 1 or box.y1 - 1 <= min(y0, y1), text


@pytest.mark.parametrize("name", ["ordering", "one_sided", "zero_first", "handles", "mismatch", "killed_peer"])
def test_every_call_is_marked_with_name_ordinal_and_line(name, tmp_path):
    run = read(CASES[name], tmp_path)
    words = words_of(run)
    for rank in run.ranks:
        count = 0
        for span in rank.spans:
            if span.name == "barrier":
                count += 1
                named = f"barrier {count} (:{span.line})"
                ours = sum(named in text for text in words)
                same = sum(s.name == "barrier" and s.line == span.line for r in run.ranks for s in r.spans)
                assert 0 < ours <= same, named
    calls = [span for rank in run.ranks for span in rank.spans if span.kind != "sleep"]
    assert sum(bool(re.search(r"\(:\d+\)", text)) and "sleeps" not in text for text in words) == len(calls)


def test_a_barrier_that_returns_at_once_can_be_seen(tmp_path):
    run = read(made.ordering, tmp_path)
    notch = next(shape for shape in drawing_of(run).bars if "barrier 1 (:23)" in shape.title)
    xs = [x for x, _ in notch.corners]
    assert max(xs) - min(xs) >= 3
    assert "barrier 1 (:23) takes 0.3 ms" in words_of(run)


def test_a_call_that_did_not_return_runs_to_the_deadline_with_an_open_end(tmp_path):
    run = read(made.one_sided, tmp_path)
    figure = timeline.draw(run)
    bars = next(c for c in figure.axes[0].collections if c.get_gid() == "bars")
    titles = [shape.title for shape in drawing_of(run).bars]
    path = bars.get_paths()[next(i for i, title in enumerate(titles) if "did not return" in title)]
    right = path.vertices[:, 0]
    assert right.max() > run.stopped == pytest.approx(sorted(set(right.round(6)))[-2], abs=0.02)
    assert len(path.vertices) > 8  # torn, not straight
    assert "barrier 2 (:21) did not return; stopped at 6.0 s" in words_of(run)


def test_only_a_blocked_call_did_not_return(tmp_path):
    zero = made.rank(made.call("all_reduce", 0.1, None, 12, in_flight=True), made.sleep(0.2, None))
    run = trace.read(made.write(tmp_path / "run", [zero, zero], outcome="hung", stopped=2.0))
    assert not any("did not return" in text for text in words_of(run))
    assert any("not complete" in text for text in words_of(run))
    assert "did not return" not in timeline.describe(run)


def test_a_barrier_is_released_between_its_last_call_and_its_first_return(tmp_path):
    run = read(made.zero_first, tmp_path)
    story = tell(run)
    assert [(r.name, r.ordinal) for r in story.released] == [("barrier", 1)]
    assert max(s.begin for r in run.ranks for s in r.spans if s.name == "barrier") <= story.released[0].t
    assert story.released[0].t == min(s.end for r in run.ranks for s in r.spans if s.name == "barrier")


def test_a_barrier_that_failed_draws_no_release(tmp_path):
    run = read(made.killed_peer, tmp_path)
    assert tell(run).released == []
    words = words_of(run)
    assert "raised RuntimeError" in words and "killed by SIGKILL" in words
    assert any("then RuntimeError" in text for text in words)


def test_calls_of_different_kinds_do_not_match(tmp_path):
    run = read(made.mismatch, tmp_path)
    assert tell(run).released == []
    assert "the 1st collectives do not match: barrier on rank 0, all_reduce on rank 1" in words_of(run)


def test_a_barrier_of_a_group_is_released_for_its_ranks(tmp_path):
    pair = [made.rank(made.barrier(0.1 * (n + 1), 0.3, group="pair"), ended=0.9) for n in range(2)]
    run = trace.read(made.write(tmp_path / "run", [*pair, made.rank(made.sleep(0.0, 0.9), ended=0.9)]))
    assert [(r.of, r.ranks) for r in tell(run).released] == [(" of group pair", [0, 1])]
    assert any("barrier 1 of group pair" in text for text in words_of(run))


def test_each_kind_of_wait_has_a_texture_of_its_own(tmp_path):
    assert len(set(HATCHES.values())) == len(HATCHES)
    used = {pattern for pattern, _ in drawing_of(read(made.handles, tmp_path)).hatches}
    assert used == {HATCHES["barrier"], HATCHES["wait"]}


def test_neighbouring_bars_never_overlap(any_run):
    drawing = drawing_of(any_run)
    by_row = {}
    for shape in drawing.bars:
        xs, ys = zip(*shape.corners, strict=True)
        if max(ys) - min(ys) > 2:  # not the thin line of a call in flight
            by_row.setdefault(round(sum(ys) / len(ys)), []).append((min(xs), max(xs)))
    for row in by_row.values():
        row.sort()
        assert all(here[1] <= after[0] + 1e-9 for here, after in pairwise(row))


def test_bars_too_short_to_see_are_merged(tmp_path):
    run = trace.read(made.many(tmp_path / "run", 2, 1000))
    drawing = drawing_of(run)
    assert len(drawing.bars) < 50
    assert any("1,000 × barrier" in shape.title for shape in drawing.bars)


def test_a_rank_that_left_early_says_how(tmp_path):
    left = made.rank(made.sleep(0.0, 0.4), exit_code=3)
    stays = made.rank(made.barrier(0.1, None, 9))
    run = trace.read(made.write(tmp_path / "run", [left, stays], outcome="failed", stopped=5.0))
    assert "exited at 0.40 s (code 3)" in words_of(run)
    assert any("did not return; stopped at 5.0 s" in text for text in words_of(run))


def test_a_process_that_stays_after_its_worker_returned_is_told(tmp_path):
    stays = made.rank(made.sleep(0.0, 0.4), ended=0.5)
    gone = made.rank(made.sleep(0.0, 0.4), ended=0.5, exit_code=0)
    run = trace.read(made.write(tmp_path / "run", [stays, gone], outcome="hung", stopped=3.0))
    words = words_of(run)
    assert "returned at 0.50 s; its process did not end" in words
    assert "returned at 0.50 s" in words


def test_a_run_without_any_rank_file_is_drawn(tmp_path):
    run_dir = made.write(tmp_path / "run", [made.rank(), made.rank()], outcome="failed")
    for path in run_dir.glob("rank*"):
        path.unlink()
    run = trace.read(run_dir)
    assert words_of(run).count("did not reach the common start") == 2
    assert "did not reach the common start" in timeline.describe(run)


def test_ids_of_two_figures_on_a_page_never_collide(tmp_path):
    run = read(made.one_sided, tmp_path)
    pages = [timeline.svg(run), timeline.svg(run)]
    ids = [set(re.findall(r'\bid="([^"]+)"', page)) for page in pages]
    assert ids[0] and not ids[0] & ids[1]
    for page, own in zip(pages, ids, strict=True):
        assert len(re.findall(r'\bid="', page)) == len(own)
        used = set(re.findall(r"url\(#([^)]+)\)", page)) | set(re.findall(r'href="#([^"]+)"', page))
        assert used and used <= own
        assert set(re.search(r'aria-labelledby="([^"]+)"', page)[1].split()) <= own


def test_the_same_run_and_prefix_give_the_same_svg(tmp_path):
    run = read(made.handles, tmp_path)
    assert timeline.svg(run, prefix="a") == timeline.svg(run, prefix="a")


def test_every_bar_has_words_for_hovering(any_run):
    root = ET.fromstring(timeline.svg(any_run))
    bars = next(group for group in root.iter(f"{SVG}g") if group.get("class") == "bl-bars")
    shapes = [child for child in bars.iter() if child.tag in (f"{SVG}path", f"{SVG}use") and child.get("style")]
    titles = [shape.findtext(f"{SVG}title") for shape in shapes]
    assert titles == [shape.title for shape in drawing_of(any_run).bars]
    assert all(titles)


def test_the_svg_has_a_name_and_a_description_and_text_as_text(any_run):
    root = ET.fromstring(timeline.svg(any_run, title="What happened"))
    assert root.get("role") == "img"
    assert root[0].text == "What happened"
    assert root[1].text == timeline.describe(any_run)
    assert any("seconds since the common start" in "".join(text.itertext()) for text in root.iter(f"{SVG}text"))


def test_letters_of_all_kinds_survive_in_svg(tmp_path):
    name = 'größe <b>&"$x_1$ 日本'
    rank = made.rank(made.barrier(0.1, 0.2), ended=0.3, prints=[(0.1, "<script>alert(1)</script> \x07 ü")])
    run = trace.read(made.write(tmp_path / "run", [rank, rank], experiment=name))
    page = timeline.html(run)
    assert "<script" not in page and "<b>" not in page
    root = ET.fromstring(page)
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert any(text.startswith(name) for text in texts)
    assert any("<script>alert(1)</script>" in (title.text or "") for title in root.iter(f"{SVG}title"))


def test_the_box_scrolls_and_can_be_reached_by_keyboard(tmp_path):
    page = timeline.html(read(made.ordering, tmp_path))
    box = ET.fromstring(page)
    assert (box.tag, box.get("class"), box.get("tabindex"), box.get("role")) == ("div", "bl-timeline", "0", "region")
    assert "ordering" in box.get("aria-label") and "overflow-x:auto" in box.get("style")
    assert "min-width:640px" in box[0].get("style")


def test_files_are_written_by_suffix(tmp_path):
    run = read(made.ordering, tmp_path)
    timeline.save(run, tmp_path / "a.svg")
    timeline.save(run, tmp_path / "a.png")
    assert ET.parse(tmp_path / "a.svg").getroot().tag == f"{SVG}svg"
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_description_of_a_hung_run_names_every_rank_that_did_not_return(tmp_path):
    late = made.rank(made.sleep(0.0, None, 30))
    waits = [made.rank(made.barrier(0.1, None, 20)) for _ in range(11)]
    run = trace.read(made.write(tmp_path / "run", [*waits[:5], late, *waits[5:]], outcome="hung", stopped=6.0))
    said = timeline.describe(run)
    assert "Ranks 0-4 and 6-11 did not return from barrier 1 (:20); the run was stopped at 6.0 s." in said
    assert "Rank 5: sleeps" in said


def test_the_description_of_a_failed_run_says_who_raised_and_who_was_killed(tmp_path):
    said = timeline.describe(read(made.killed_peer, tmp_path))
    assert "the run failed" in said
    assert "Rank 0 raised RuntimeError: Connection closed by peer." in said
    assert re.search(r"Rank 1: .*killed by SIGKILL", said)
    assert "Released" not in said


def test_the_description_of_a_completed_run_tells_steps_in_order_and_the_release(tmp_path):
    said = timeline.describe(read(made.ordering, tmp_path))
    assert re.search(r"Rank 0: sleeps 0\.40 s; barrier 1 \(:23\) at 0\.40 s", said)
    assert re.search(r"Rank 1: waits 0\.40 s in barrier 1 \(:20\); sleeps 0\.40 s", said)
    assert "Released: barrier 1 at 0.40 s." in said
    assert "did not return" not in said


def test_the_description_stays_short_however_long_the_run(tmp_path):
    assert len(timeline.describe(trace.read(made.many(tmp_path / "run", 64, 200)))) < 3000
