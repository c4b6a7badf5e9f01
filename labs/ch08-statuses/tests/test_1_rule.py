"""Task 1: a rule for two reports."""

import pytest


@pytest.mark.points(10, task=1)
def test_generations(report):
    """Worker A has reported in generation 4, worker B reports"""
    known = report("RUNNING", "A", 4)
    assert report("UNASSIGNED", "B", 5).may_replace(known), "a report of a later generation replaces it"
    assert report("UNASSIGNED", "B", 4).may_replace(known), "in the same generation, too: only a higher one is kept"
    assert not report("UNASSIGNED", "B", 3).may_replace(known), "generation 4 is higher than 3: B is late"


@pytest.mark.points(10, task=1)
def test_the_same_worker_and_nothing(report):
    """Worker A reports again; nobody has reported"""
    assert report("FAILED", "A", 3).may_replace(report("RUNNING", "A", 4)), "a worker may replace its own report"
    assert report("FAILED", "A", 3).may_replace(None), "nothing is known: it is written"
