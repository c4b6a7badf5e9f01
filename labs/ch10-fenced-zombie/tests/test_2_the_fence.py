"""Task 2: the epoch is raised before an abort that the producer did not request."""

import pytest

from kafka_learn.labs.coordinators import A0
from kafka_learn.labs.raising import must_raise
from kafka_lite.coordinator.transaction.transaction_metadata import MAX_EPOCH, IllegalTransitionError
from kafka_lite.coordinator.transaction.transaction_state import TransactionState

S = TransactionState


def ongoing(coordinator, **changes):
    return coordinator.put(S.ONGOING, topic_partitions=frozenset({A0}), last_producer_epoch=2, **changes)


@pytest.mark.points(5, task=2)
def test_the_raised_epoch(coordinator):
    """Producer 7 with epoch 3 is fenced"""
    metadata = ongoing(coordinator)
    fence = metadata.prepare_fence_producer_epoch(9_000)
    assert fence.producer_epoch == 4, f"the epoch after 3 is 4, not {fence.producer_epoch}"
    assert fence.state is S.PREPARE_EPOCH_FENCE, f"the state is PrepareEpochFence, not {fence.state.title}"
    assert fence.last_producer_epoch == -1, "a retry with the last epoch must not get the raised one: it becomes -1"
    times = fence.start_timestamp_ms, fence.last_update_timestamp_ms
    assert times == (metadata.current.start_timestamp_ms, 9_000), (
        f"the transaction has lasted as long as before, and was updated at 9000 ms; yours: {times}"
    )
    assert fence.topic_partitions, "the partitions stay in the transaction: they need abort markers"
    assert metadata.current.producer_epoch == 3, "the fence is only prepared: the current epoch is still 3"


@pytest.mark.points(5, task=2)
def test_it_is_raised_once(coordinator):
    """The append of the abort has failed before; and the last epoch of all"""
    metadata = ongoing(coordinator)
    metadata.has_failed_epoch_fence = True
    epoch = metadata.prepare_fence_producer_epoch(9_000).producer_epoch
    assert epoch == 3, f"3 was already raised for this abort, whose append failed: it stays 3, and is not {epoch}"
    metadata.cancel()
    metadata.has_failed_epoch_fence = False
    metadata.current = type(metadata.current)(**{**vars(metadata.current), "producer_epoch": MAX_EPOCH - 1})
    epoch = metadata.prepare_fence_producer_epoch(9_000).producer_epoch
    assert epoch == MAX_EPOCH, f"the coordinator may use the last epoch, {MAX_EPOCH}, to abort; not {epoch}"
    metadata.cancel()
    metadata.current = type(metadata.current)(**{**vars(metadata.current), "producer_epoch": MAX_EPOCH})
    why = f"the epoch is {MAX_EPOCH} already, and there is no higher one to fence with"
    must_raise(IllegalTransitionError, why, metadata.prepare_fence_producer_epoch, 9_000)


@pytest.mark.points(5, task=2)
def test_the_abort_follows(coordinator):
    """The fence gives way to PrepareAbort"""
    metadata = ongoing(coordinator)
    fence = metadata.prepare_fence_producer_epoch(9_000)
    metadata.take_fenced_epoch(fence.producer_epoch)
    current = metadata.current
    assert metadata.pending_state is None, "the fence is taken, so that PrepareAbort can be prepared: none is pending"
    assert current.state is S.ONGOING, f"PrepareAbort is possible from Ongoing; the state is {current.state.title}"
    assert current.producer_epoch == 4, (
        f"the raised epoch, 4, is the current one from now on, not {current.producer_epoch}"
    )
    assert current.last_producer_epoch == -1, "and no last epoch is remembered"
