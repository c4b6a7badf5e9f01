"""Task 1: the first offset that is not decided."""

import pytest

from kafka_lite.log.producers.open_transactions import CompletedTxn, OpenTransactions

COMMITTED = CompletedTxn(producer_id=7, first_offset=40, last_offset=46, is_aborted=False)


@pytest.mark.points(8, task=1)
def test_open_transactions():
    """None, one and two open transactions"""
    for unended, first in (({}, None), ({0: 9}, 0), ({42: 9}, 42), ({45: 9, 42: 7}, 42)):
        found = OpenTransactions(unended).first_unstable_offset(100)
        assert found == first, f"transactions are open since {sorted(unended)}: {first}, not {found}"


@pytest.mark.points(9, task=1)
def test_a_marker_that_is_not_replicated():
    """A transaction from 40 to its marker at 46"""
    ended = OpenTransactions({}, (COMMITTED,))
    for high_watermark, first in ((44, 40), (46, 40), (47, None), (60, None)):
        found = ended.first_unstable_offset(high_watermark)
        why = "offset 46 itself is not replicated" if high_watermark == 46 else f"high watermark {high_watermark}"
        assert found == first, f"the marker is at 46, {why}: {first}, not {found}"


@pytest.mark.points(2, task=1)
def test_two_markers():
    """The marker at 46 is replicated, that at 49 is not"""
    later = CompletedTxn(producer_id=9, first_offset=43, last_offset=49, is_aborted=True)
    found = OpenTransactions({}, (COMMITTED, later)).first_unstable_offset(47)
    assert found == 43, f"the marker at 49 is not replicated, whatever the one before it: 43, not {found}"


@pytest.mark.points(6, task=1)
def test_both_kinds():
    """One that is open, one whose marker is not replicated"""
    found = OpenTransactions({43: 9}, (COMMITTED,)).first_unstable_offset(44)
    assert found == 40, f"the transaction whose marker is not replicated begins before the open one: 40, not {found}"
    found = OpenTransactions({38: 9}, (COMMITTED,)).first_unstable_offset(44)
    assert found == 38, f"the open transaction begins at 38, the other one at 40: 38, not {found}"
    found = OpenTransactions({43: 9}, (COMMITTED,)).first_unstable_offset(50)
    assert found == 43, f"the marker at 46 is replicated (high watermark 50): only 43 is left, not {found}"
