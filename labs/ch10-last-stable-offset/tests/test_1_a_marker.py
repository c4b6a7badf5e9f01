"""Task 1: a marker ends the transaction of its producer."""

from types import SimpleNamespace

import pytest

from kafka_lite.common.errors import ApiError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.producers.open_transactions import CompletedTxn
from kafka_lite.log.producers.producer_append_info import ProducerAppendInfo
from kafka_lite.log.producers.producer_state_entry import ProducerStateEntry


def appending(origin, *batches):
    """An append of producer 7, which has written with epoch 3 before."""
    append = ProducerAppendInfo(TopicPartition("a", 0), ProducerStateEntry(7, 3), origin)
    for each in batches:
        append.append(each)
    return append


@pytest.mark.points(10, task=1)
def test_commit_and_abort(origin, batch):
    """Two transactions in one append"""
    append = appending(origin, batch(40, 7, "a"), batch(41, 7, "b"))
    assert append.updated_entry.current_txn_first_offset == 40, "the transaction begins with its first batch, at 40"
    assert append.has_transactional, "the batch is transactional: set has_transactional, or its verification is kept"
    assert append.completed == [], f"no marker has come; completed is {append.completed}"
    append.append(batch(42, 7, "COMMIT"))
    assert append.completed == [CompletedTxn(7, 40, 42, False)], (
        f"the marker at 42 commits the transaction from 40 to the marker; completed is {append.completed}"
    )
    first = append.updated_entry.current_txn_first_offset
    assert first is None, f"after the marker no transaction is open; yours is open since {first}"
    append.append(batch(43, 7, "c"))
    append.append(batch(44, 7, "ABORT"))
    assert append.completed[1:] == [CompletedTxn(7, 43, 44, True)], (
        f"the second marker aborts the transaction that begins at 43; completed is {append.completed}"
    )
    append.append(batch(45, 0, "d"))
    assert append.has_transactional, (
        "the batch at 45 is not transactional, but those before it are: has_transactional stays true"
    )


@pytest.mark.points(8, task=1)
def test_a_marker_without_a_transaction(origin, batch):
    """A coordinator that repeats a marker"""
    append = appending(origin, batch(40, 7, "a"), batch(41, 7, "COMMIT"), batch(42, 7, "COMMIT"))
    assert len(append.completed) == 1, (
        f"the second marker ends nothing, because no transaction is open; completed is {append.completed}"
    )
    append = appending(origin, batch(40, 7, "ABORT", epoch=4))
    assert append.updated_entry.producer_epoch == 4, "the marker's epoch counts even if it ends nothing: a fence"


@pytest.mark.points(6, task=1)
def test_an_old_marker(origin, batch):
    """Its epoch is lower than the producer's"""
    append, error = appending(origin, batch(40, 7, "a")), "no error"
    try:
        append.append(batch(41, 7, "COMMIT", epoch=2))
    except ApiError as failure:
        error = failure.error.name
    assert error == "INVALID_PRODUCER_EPOCH", (
        f"a marker with epoch 2 must not end a transaction of epoch 3: INVALID_PRODUCER_EPOCH, not {error}; "
        f"completed is {append.completed}"
    )


@pytest.mark.points(4, task=1)
def test_an_old_coordinator(origin, batch):
    """A coordinator of epoch 5 has ended a transaction; then a marker of the one before it comes"""
    append, error = appending(origin, batch(40, 7, "a"), batch(41, 7, "COMMIT", coordinator_epoch=5)), "no error"
    try:
        append.append(batch(42, 7, "ABORT", coordinator_epoch=4))
    except ApiError as failure:
        error = failure.error.name
    assert error == "TRANSACTION_COORDINATOR_FENCED", (
        f"the marker is of coordinator epoch 4, after one of epoch 5: TRANSACTION_COORDINATOR_FENCED, not {error}"
    )
    try:
        append.append(batch(42, 7, "ABORT", epoch=2, coordinator_epoch=4))
    except ApiError as failure:
        error = failure.error.name
    assert error == "INVALID_PRODUCER_EPOCH", (
        f"both epochs of the marker are old, and that of the producer is checked first: not {error}"
    )


@pytest.mark.points(2, task=1)
def test_a_marker_that_was_compacted_away(origin, batch):
    """A control batch without a record, while a transaction is open"""
    append = appending(origin, batch(40, 7, "a"))
    empty = SimpleNamespace(is_control=True, is_transactional=True, records=lambda: iter(()))
    try:
        append.append(empty)
    except (StopIteration, AttributeError, TypeError, IndexError) as error:
        pytest.fail(f"a control batch may have lost its record to the cleaner: do nothing; you raised {error!r}")
    first = append.updated_entry.current_txn_first_offset
    assert first == 40, f"it changes nothing: the transaction is open since 40, not {first}"
