"""Task 1: from reports to batches."""

import pytest

from pipeline.tuning.volume import Batch, batches


@pytest.mark.points(6, task=1)
def test_figures_of_a_batch(report):
    """100 records in 2.5 seconds"""
    got = batches([report(3, rows=100, ms=2500)])
    assert len(got) == 1, f"one report is one batch, you have {len(got)}"
    assert got[0].seconds != 2500, "durationMs is in milliseconds, seconds are asked for"
    assert got[0].seconds != 2.47, "addBatch is a part of the batch: triggerExecution is the whole"
    assert got == [Batch(3, 100, 2.5, 0)], f"the batch is {Batch(3, 100, 2.5, 0)}, not {got[0]}"


@pytest.mark.points(6, task=1)
def test_what_is_left_for_the_next_batch(report):
    """Three partitions, two sources"""
    got = batches([report(1, rows=7, ms=100, ends=[10, 20, 30], latest=[15, 20, 31])])[0]
    assert got.behind == 6, f"the lags 5, 0 and 1 are 6 together, not {got.behind}"
    two = report(1, rows=7, ms=100, ends=[10], latest=[12], more=[([5, 5], [8, 5])])
    got = batches([two])[0]
    assert got.behind == 5, f"one source is behind by 2, the other by 3: 5 together, not {got.behind}"


@pytest.mark.points(6, task=1)
def test_a_report_without_rows_is_no_batch(report):
    """A stream that waits"""
    reports = [report(0, 0, 40), report(0, 5, 1000), report(1, 1, 900), report(2, 0, 30), report(2, 8, 1100)]
    got = batches(reports)
    assert len(got) != 5, "a query that waits reports no rows: that is no batch"
    assert [each.records for each in got] == [5, 1, 8], f"three reports have rows: {got}"
    assert [each.number for each in got] == [0, 1, 2], f"their numbers are 0, 1, 2: {got}"
