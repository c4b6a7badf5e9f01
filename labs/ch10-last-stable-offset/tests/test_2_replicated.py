"""Task 2: a transaction counts until its marker is replicated."""

import pytest

from kafka_lite.log.producers.open_transactions import CompletedTxn, OpenTransactions

FIRST, SECOND = CompletedTxn(7, 40, 44, False), CompletedTxn(9, 41, 46, True)


@pytest.mark.points(10, task=2)
def test_markers_below_the_high_watermark():
    """Markers at 44 and 46"""
    for high_watermark, kept in ((43, [44, 46]), (44, [44, 46]), (45, [46]), (46, [46]), (47, [])):
        left = OpenTransactions({30: 5}, (FIRST, SECOND)).replicated_up_to(high_watermark)
        found = [each.last_offset for each in left.ended]
        why = "that offset itself is not replicated" if high_watermark in (44, 46) else "below it all is replicated"
        assert found == kept, f"high watermark {high_watermark}: {why}; markers that count: {kept}, not {found}"
        assert dict(left.unended) == {30: 5}, (
            f"producer 5's transaction is still open since 30, whatever is replicated; yours has {dict(left.unended)}"
        )


@pytest.mark.points(10, task=2)
def test_nothing_changes():
    """The same object, or another one"""
    before = OpenTransactions({}, (FIRST, SECOND))
    assert before.replicated_up_to(44) is before, "no marker is replicated: return this object, as most calls do"
    before.replicated_up_to(60)
    assert len(before.ended) == 2, "readers use the object without a lock: it must not change, return another one"
