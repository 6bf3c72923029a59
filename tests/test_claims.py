"""A claim says what a source says and what a run measured, and fails where the run does not support its verdict."""

import pytest

from barrier_lab.claims import METADATA, claim

GIVEN = dict(source="A2", says="Both report 5 s.", verdict="holds in part", measured="5.0 s and <4.0 s>.")


def test_a_claim_that_its_run_does_not_support_fails():
    with pytest.raises(AssertionError, match="is not what this run shows"):
        claim(**GIVEN, shown=False)


@pytest.mark.parametrize("wrong", [{"source": "2A"}, {"source": "F1"}, {"verdict": "perhaps"}])
def test_an_unknown_source_or_verdict_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        claim(**GIVEN | wrong, shown=True)


def test_a_claim_shows_itself_and_carries_its_facts():
    shown, facts = claim(**GIVEN, shown=True, sharper="One instant.")._repr_mimebundle_()
    assert "5.0 s and &lt;4.0 s&gt;." in shown["text/html"]
    assert 'href="../book/sources.html#source-a">Source A</a> says' in shown["text/html"]
    assert "More exactly: One instant." in shown["text/plain"]
    assert facts[METADATA]["verdict"] == "holds in part"
