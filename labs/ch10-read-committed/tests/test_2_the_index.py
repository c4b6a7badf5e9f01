"""Task 2: what is open after an append, and what goes into the transaction index."""

import pytest

from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.log.producers.open_transactions import CompletedTxn, OpenTransactions


@pytest.mark.points(8, task=2)
def test_a_transaction_begins_and_is_committed():
    """Producer 7 begins at 40 and commits at 42"""
    begun, entries = OpenTransactions().after([(40, 7)], [])
    assert dict(begun.unended) == {40: 7}, f"producer 7 has a transaction since 40; open are {dict(begun.unended)}"
    assert entries == [], f"nothing has ended, but the index gets {entries}"
    ended, entries = begun.after([], [CompletedTxn(7, 40, 42, False)])
    assert dict(ended.unended) == {}, f"the marker at 42 ended the transaction; open are {dict(ended.unended)}"
    assert [each.last_offset for each in ended.ended] == [42], (
        "it counts until its marker is replicated: keep it in ended"
    )
    assert entries == [], f"the transaction was committed, so nobody drops its records; the index gets {entries}"
    assert dict(begun.unended) == {40: 7}, "readers use the object without a lock: after returns another one"


@pytest.mark.points(9, task=2)
def test_aborted_transactions_are_indexed():
    """Two aborted, one of them while another is open"""
    log = OpenTransactions({40: 7, 41: 9})
    log, entries = log.after([], [CompletedTxn(7, 40, 45, True)])
    assert entries == [AbortedTxn(7, 40, 45, 41)], (
        f"another transaction is open since 41, so the last stable offset at the marker is 41; yours: {entries}"
    )
    log, entries = log.after([], [CompletedTxn(9, 41, 47, True)])
    assert entries == [AbortedTxn(9, 41, 47, 48)], f"nothing is open: all up to the marker at 47 is stable; {entries}"


@pytest.mark.points(8, task=2)
def test_several_in_one_append():
    """A follower appends two transactions with their markers at once"""
    completed = [CompletedTxn(9, 41, 46, True), CompletedTxn(7, 40, 44, True)]
    try:
        log, entries = OpenTransactions().after([(43, 5)], completed)
    except KeyError as error:
        pytest.fail(f"a follower's transaction may begin and end in one append, so it was never in unended: {error!r}")
    assert entries == [AbortedTxn(7, 40, 44, 41), AbortedTxn(9, 41, 46, 43)], (
        f"the index is in the order of the markers, 44 before 46; at each, what is open decides; yours: {entries}"
    )
    assert dict(log.unended) == {43: 5}, f"only producer 5 has an open transaction; open are {dict(log.unended)}"
    crossed = [CompletedTxn(7, 40, 46, True), CompletedTxn(9, 41, 44, True)]
    log, entries = OpenTransactions().after([(47, 5)], crossed)
    assert entries == [AbortedTxn(9, 41, 44, 40), AbortedTxn(7, 40, 46, 47)], (
        f"by their markers, not by their beginnings: 44 (7 is open since 40), then 46 (none is open); yours: {entries}"
    )
    log, entries = OpenTransactions().after([(50, 5)], crossed)
    assert entries[-1].last_stable_offset == 47, (
        "when the marker at 46 was written, the transaction that begins at 50 did not exist: the LSO is 47, right "
        f"behind the marker, not {entries[-1].last_stable_offset}"
    )
    log, _ = log.after([], [CompletedTxn(5, 50, 51, False)])
    assert [each.last_offset for each in log.ended] == [44, 46, 51], (
        "the markers of earlier appends count until they are replicated: add to ended; you kept "
        f"{[each.last_offset for each in log.ended]}"
    )
