"""Task 3: a position, a reset, or neither."""

import math

import pytest

from kafka_lite.consumer.offset_and_metadata import OffsetResetStrategy
from kafka_lite.consumer.subscription_state import TopicPartitionState

EARLIEST, LATEST = OffsetResetStrategy.EARLIEST, OffsetResetStrategy.LATEST


@pytest.mark.points(9, task=3)
def test_the_life_of_a_position():
    """New, sought, reset, sought again"""
    one = TopicPartitionState()
    assert one.is_initializing, "neither position nor reset: it depends on the committed offset"
    one.seek(0)
    assert one.position == 0, f"seek(0): the position is 0, not {one.position}"
    assert not one.is_initializing, "0 is a position"
    one.next_retry_ms = 5000.0
    one.await_reset(EARLIEST)
    assert one.position is None, (
        f"a reset is under way: not {one.position} any more, or it would be fetched from there meanwhile"
    )
    assert one.reset_strategy is EARLIEST, f"it goes to the earliest offset, not {one.reset_strategy}"
    assert one.next_retry_ms == -math.inf, "a new reset may ask at once, whatever an older one was told"
    assert not one.is_initializing, "a reset is under way: the committed offset is not asked for"
    one.seek(9)
    assert (one.position, one.reset_strategy) == (9, None), "seek(9) says where: the reset is off"


@pytest.mark.points(6, task=3)
def test_when_records_are_wanted():
    """Without a position, with one, paused"""
    one = TopicPartitionState()
    assert not one.is_fetchable, "where should a fetch begin? The position is not known"
    one.seek(0)
    assert one.is_fetchable, "position 0, not paused: fetch"
    one.paused = True
    assert not one.is_fetchable, "paused: nothing is wanted"
    assert one.position == 0, "paused is not moved"


@pytest.mark.points(10, task=3)
def test_an_answer_comes(state, partitions):
    """ListOffsets is answered in time, after a seek, after another reset, after a rebalance"""
    zero, one = partitions("t-0", "t-1")
    state.assign_from_user([zero])
    state.need_offset_reset(zero, EARLIEST)
    assert state.maybe_seek_unvalidated(zero, 40, EARLIEST) is True, "the reset is under way: go there, True"
    assert state.position(zero) == 40, f"the earliest offset is 40, not {state.position(zero)}"
    state.need_offset_reset(zero, EARLIEST)
    state.seek(zero, 7)
    gone = state.maybe_seek_unvalidated(zero, 40, EARLIEST)
    assert (gone, state.position(zero)) == (False, 7), "the user has gone elsewhere meanwhile, to 7: there it stays"
    state.need_offset_reset(zero, LATEST)
    gone = state.maybe_seek_unvalidated(zero, 40, EARLIEST)
    assert (gone, state.position(zero)) == (False, None), "by now it is to go to the latest offset: this is not it"
    assert state.maybe_seek_unvalidated(one, 40, EARLIEST) is False, "t-1 is not assigned (any more): False, no error"
