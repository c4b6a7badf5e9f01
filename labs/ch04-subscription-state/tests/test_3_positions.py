"""Task 3: a position, a reset, or neither."""

import math

import pytest

from kafka_lite.consumer.offset_and_metadata import OffsetResetStrategy
from kafka_lite.consumer.subscription_state import TopicPartitionState

EARLIEST, LATEST = OffsetResetStrategy.EARLIEST, OffsetResetStrategy.LATEST


@pytest.mark.points(9, task=3)
def test_the_states_of_a_position():
    """New, set by seek, reset, set again"""
    one = TopicPartitionState()
    assert one.is_initializing, "neither position nor reset: it depends on the committed offset"
    one.seek(0)
    assert one.position == 0, f"seek(0): the position is 0, not {one.position}"
    assert not one.is_initializing, "0 is a position"
    one.next_retry_ms = 5000.0
    one.await_reset(EARLIEST)
    assert one.position is None, (
        f"a reset is in progress: the position is not {one.position} any more, or records would be fetched from there"
    )
    assert one.reset_strategy is EARLIEST, f"it is reset to the earliest offset, not {one.reset_strategy}"
    assert one.next_retry_ms == -math.inf, "a new reset may be requested at once, whatever the backoff of an older one"
    assert not one.is_initializing, "a reset is in progress: the committed offset is not requested"
    one.seek(9)
    assert (one.position, one.reset_strategy) == (9, None), "seek(9) sets the position: the reset is cancelled"
    one.await_reset(EARLIEST)
    one.await_reset(LATEST)
    assert one.reset_strategy is LATEST, f"the second reset is to the latest offset, not {one.reset_strategy}"


@pytest.mark.points(6, task=3)
def test_when_to_fetch():
    """Without a position, with one, paused"""
    one = TopicPartitionState()
    assert not one.is_fetchable, "where should a fetch begin? The position is unknown"
    one.seek(0)
    assert one.is_fetchable, "position 0, not paused: fetch"
    one.paused = True
    assert not one.is_fetchable, "paused: do not fetch"
    one.paused, one.pending_revocation = False, True
    assert not one.is_fetchable, "its position is being committed, to give it up: do not fetch"
    one.paused, one.pending_revocation = True, False
    assert one.position == 0, "pausing does not change the position"
    one.seek(4)
    assert one.paused, "a seek does not resume a paused partition"


@pytest.mark.points(10, task=3)
def test_a_response_to_list_offsets(state, partitions):
    """ListOffsets responds in time, after a seek, after another reset, after a rebalance"""
    zero, one = partitions("t-0", "t-1")
    state.assign_from_user([zero])
    state.need_offset_reset(zero, EARLIEST)
    assert state.maybe_seek_unvalidated(zero, 40, EARLIEST) is True, "the reset is in progress: set the position, True"
    assert state.partitions_needing_reset(0) == {}, "the reset is completed: no offset is to be requested any more"
    assert state.position(zero) == 40, f"the earliest offset is 40, not {state.position(zero)}"
    state.need_offset_reset(zero, EARLIEST)
    assert state.maybe_seek_unvalidated(zero, 0, EARLIEST) is True, "0 is an offset as any other: True"
    assert state.position(zero) == 0, f"the earliest offset is 0, not {state.position(zero)}"
    state.need_offset_reset(zero, EARLIEST)
    state.seek(zero, 7)
    gone = state.maybe_seek_unvalidated(zero, 40, EARLIEST)
    assert (gone, state.position(zero)) == (False, 7), "the user has called seek(7) meanwhile: the position stays there"
    state.need_offset_reset(zero, LATEST)
    gone = state.maybe_seek_unvalidated(zero, 40, EARLIEST)
    assert (gone, state.position(zero)) == (False, None), (
        "the reset is now to the latest offset: this response is for another one"
    )
    try:
        gone = state.maybe_seek_unvalidated(one, 40, EARLIEST)
    except KeyError:
        pytest.fail("t-1 is not assigned (any more): return False, that is no error")
    assert gone is False, f"t-1 is not assigned (any more): False, not {gone}"
