"""What a notebook shows while ranks run: one line below the cell; and none in the build of the book."""

import pytest

from barrier_lab.display import notebook

pytestmark = pytest.mark.slow

VARIANT = "{'experiment': 'slowest_rank', 'delay': 1.5}"
RUN = "kept = run('slowest_rank', delay=1.5, start_method='forkserver')"
RUN_MANY = f"kept = run_many([{VARIANT}, {VARIANT}])"


def shown(client, code: str, **how) -> list[tuple[str, str]]:
    """Run a cell: its outputs as (kind, text), in order."""
    outputs = []
    texts = {
        "stream": lambda content: content["text"],
        "display_data": lambda content: content["data"]["text/plain"],
        "update_display_data": lambda content: content["data"]["text/plain"],
    }

    def keep(message: dict) -> None:
        kind = message["msg_type"]
        if kind in texts:
            outputs.append((kind, texts[kind](message["content"])))

    reply = client.execute_interactive(code, output_hook=keep, timeout=60, **how)
    assert reply["content"]["status"] == "ok", reply["content"]
    return outputs


def test_a_run_tells_what_each_rank_does_and_in_the_end_how_long_it_took(kernel) -> None:
    _, client, _ = kernel
    shown(client, "from barrier_lab import run")
    outputs = shown(client, f"print('before'); {RUN}")
    assert outputs[:2] == [("stream", "before\n"), ("display_data", "slowest_rank: starting")]
    during = [text for kind, text in outputs[2:-1] if kind == "update_display_data"]
    assert any("rank 0 in barrier 1 (slowest_rank.py:" in text and "rank 1 in sleep" in text for text in during), during
    assert outputs[-1][1].startswith("slowest_rank: over after ")


def test_a_cell_with_many_runs_has_one_line_and_the_next_cell_its_own(kernel) -> None:
    _, client, _ = kernel
    shown(client, "from barrier_lab import run, run_many")
    outputs = shown(client, f"{RUN}; {RUN_MANY}")
    assert [kind for kind, _ in outputs].count("display_data") == 1
    assert any(text.startswith("2 runs, ") and text.endswith("2 still going") for _, text in outputs), outputs
    assert outputs[-1][1].startswith("2 runs: over after ")
    for stored in (True, False):  # a cell that is not kept in the history has the number of the one before
        assert shown(client, RUN, store_history=stored)[0] == ("display_data", "slowest_rank: starting")


def test_where_nobody_watches_nothing_is_shown(kernel) -> None:
    _, client, _ = kernel
    shown(client, f"import os; os.environ[{notebook.SWITCH!r}] = 'off'\nfrom barrier_lab import run, run_many")
    assert shown(client, f"{RUN}; {RUN_MANY}") == []
