"""Task 2: what each step of a transaction changes."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_metadata import MAX_EPOCH
from kafka_lite.coordinator.transaction.transaction_state import TransactionState

S = TransactionState
A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def names(partitions):
    return " ".join(sorted(map(str, partitions)))


def prepared(metadata, transit, before):
    """The transition, which is pending; nothing has changed yet."""
    assert metadata.current == before, "the step is only prepared: the current state changes once its record is written"
    assert metadata.pending_state is transit.state, f"_prepare makes the step pending: {transit.state.title} is not"
    return transit


@pytest.mark.points(8, task=2)
def test_partitions_are_added(an_id):
    """The first partitions of a transaction, then others"""
    metadata = an_id(S.COMPLETE_COMMIT, topic_partitions=frozenset(), start_timestamp_ms=1_000)
    before = metadata.current
    first = prepared(metadata, metadata.prepare_add_partitions([A0, A1], 7_000), before)
    assert first.state is S.ONGOING, f"a transaction with partitions is Ongoing, not {first.state.title}"
    assert first.start_timestamp_ms == 7_000, (
        f"the first partitions begin the transaction, at 7000 ms; yours began at {first.start_timestamp_ms} ms, as the "
        "one before, and would time out too soon"
    )
    metadata.complete(first)
    second = metadata.prepare_add_partitions([B0], 9_000)
    assert names(second.topic_partitions) == "a-0 a-1 b-0", (
        f"b-0 joins a-0 and a-1, which need their markers, too; yours has only {names(second.topic_partitions)}"
    )
    assert second.start_timestamp_ms == 7_000, (
        f"the transaction has lasted since 7000 ms, not {second.start_timestamp_ms}: with every new partition its "
        "timeout would begin again"
    )
    assert second.last_update_timestamp_ms == 9_000, "the last update was at 9000 ms"
    assert (second.producer_id, second.producer_epoch) == (7, 3), "the producer is the same"


@pytest.mark.points(6, task=2)
def test_the_decision(an_id):
    """PrepareCommit and PrepareAbort"""
    for state in (S.PREPARE_COMMIT, S.PREPARE_ABORT):
        metadata = an_id(S.ONGOING, topic_partitions=frozenset({A0, B0}))
        before = metadata.current
        transit = prepared(metadata, metadata.prepare_abort_or_commit(state, 8_000), before)
        assert transit.state is state, f"the decision is {state.title}, not {transit.state.title}"
        assert names(transit.topic_partitions) == "a-0 b-0", (
            "the record of the decision lists all partitions: the next coordinator sends them markers, so keep them; "
            f"yours: {names(transit.topic_partitions) or 'none'}"
        )
        assert (transit.start_timestamp_ms, transit.last_update_timestamp_ms) == (5_000, 8_000), "times: 5000, 8000"


@pytest.mark.points(6, task=2)
def test_the_end(an_id):
    """CompleteCommit and CompleteAbort"""
    for state, end in ((S.PREPARE_COMMIT, S.COMPLETE_COMMIT), (S.PREPARE_ABORT, S.COMPLETE_ABORT)):
        metadata = an_id(state, topic_partitions=frozenset({A0}))
        metadata.has_failed_epoch_fence = True
        before = metadata.current
        transit = prepared(metadata, metadata.prepare_complete(8_500), before)
        assert transit.state is end, f"{state.title} leads to {end.title}, not {transit.state.title}"
        assert not transit.topic_partitions, (
            f"the transaction has ended: no partition is in it; yours still has {names(transit.topic_partitions)}, "
            "which would get markers of the next transaction"
        )
        assert transit.last_update_timestamp_ms == 8_500, "the last update was at 8500 ms"
        assert transit.start_timestamp_ms == 5_000, (
            "the transaction had begun at 5000 ms, which its end does not change"
        )
        assert not metadata.has_failed_epoch_fence, "the abort has succeeded: the next one must raise the epoch again"
    metadata = an_id(S.PREPARE_COMMIT, producer_epoch=MAX_EPOCH, next_producer_id=8)
    transit = metadata.prepare_complete(8_500)
    assert (transit.producer_id, transit.producer_epoch) == (8, 0), (
        "the decision had reserved the producer id 8: the producer continues with it and epoch 0, not with "
        f"{transit.producer_id} and epoch {transit.producer_epoch}"
    )
    assert (transit.last_producer_id, transit.next_producer_id) == (7, -1), (
        "the producer had the id 7 before, and no other id is reserved any more: last_producer_id 7, next_producer_id "
        f"-1, not {transit.last_producer_id} and {transit.next_producer_id}"
    )
