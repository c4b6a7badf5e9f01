"""Subscriptions, assignments and positions."""

from __future__ import annotations

import re

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import IllegalConsumerStateError
from kafka_lite.consumer.consumer_rebalance_listener import NO_LISTENER
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata, OffsetResetStrategy
from kafka_lite.consumer.subscription_state import SubscriptionState

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
EARLIEST, LATEST = OffsetResetStrategy.EARLIEST, OffsetResetStrategy.LATEST


@pytest.fixture
def state() -> SubscriptionState:
    return SubscriptionState(EARLIEST)


def test_positions_survive_a_new_assignment_by_the_user(state: SubscriptionState) -> None:
    state.assign_from_user([T0, T1])
    state.seek(T0, 7)
    assert state.assign_from_user([U0, T0])
    assert not state.assign_from_user([T0, U0])
    assert state.position(T0) == 7
    assert state.initializing_partitions() == [U0]
    assert state.metadata_topics == {"t", "u"}
    with pytest.raises(IllegalConsumerStateError):
        state.position(T1)


def test_positions_do_not_survive_a_rebalance(state: SubscriptionState) -> None:
    state.subscribe({"t"}, NO_LISTENER)
    state.assign_from_subscribed([T0])
    state.seek(T0, 7)
    state.pause(T0)
    state.assign_from_subscribed([T0])
    assert state.position(T0) is None
    assert state.paused_partitions() == frozenset()


def test_subscription_types_exclude_each_other(state: SubscriptionState) -> None:
    state.subscribe({"t"}, NO_LISTENER)
    with pytest.raises(IllegalConsumerStateError):
        state.assign_from_user([T0])
    with pytest.raises(IllegalConsumerStateError):
        state.subscribe_pattern(re.compile("t"), NO_LISTENER)
    state.unsubscribe()
    state.assign_from_user([T0])
    with pytest.raises(IllegalConsumerStateError):
        state.assign_from_subscribed([T0])
    with pytest.raises(IllegalConsumerStateError):
        state.group_subscribe({"t"})


def test_a_leader_watches_the_topics_of_all_members(state: SubscriptionState) -> None:
    assert state.subscribe({"t"}, NO_LISTENER)
    assert not state.subscribe({"t"}, NO_LISTENER)
    assert state.group_subscribe({"t", "u"})
    assert state.metadata_topics == {"t", "u"}
    assert state.subscription == {"t"}
    state.reset_group_subscription()
    assert state.metadata_topics == {"t"}


def test_a_pattern_matches_whole_names(state: SubscriptionState) -> None:
    state.subscribe_pattern(re.compile("t|u-.*"), NO_LISTENER)
    assert state.subscribe_from_pattern({"t"})
    assert state.matches_subscription(T0)
    assert state.matches_subscription(TopicPartition("u-1", 0))
    assert not state.matches_subscription(TopicPartition("tt", 0))


def test_a_reset_completes_unless_it_was_superseded(state: SubscriptionState) -> None:
    state.assign_from_user([T0, T1, U0])
    for partition in (T0, T1, U0):
        state.need_offset_reset(partition)
    state.set_next_retry([U0], 500)
    assert state.partitions_needing_reset(0) == {T0: EARLIEST, T1: EARLIEST}
    assert not state.has_all_fetch_positions()
    assert state.maybe_seek_unvalidated(T0, 3, EARLIEST)
    state.seek(T1, 9)
    assert not state.maybe_seek_unvalidated(T1, 3, EARLIEST)
    state.need_offset_reset(U0, LATEST)
    assert not state.maybe_seek_unvalidated(U0, 3, EARLIEST)
    assert not state.maybe_seek_unvalidated(TopicPartition("gone", 0), 3, EARLIEST)
    assert (state.position(T0), state.position(T1), state.position(U0)) == (3, 9, None)
    assert state.partitions_needing_reset(0) == {U0: LATEST}
    assert state.all_consumed() == {T0: OffsetAndMetadata(3), T1: OffsetAndMetadata(9)}


def test_paused_partitions_and_those_without_a_position_are_not_fetched(state: SubscriptionState) -> None:
    state.assign_from_user([T0, T1, U0])
    state.seek(T0, 0)
    state.seek(T1, 0)
    state.pause(T1)
    assert state.fetchable_partitions() == [T0]
    state.resume(T1)
    assert state.fetchable_partitions() == [T0, T1]
    state.move_partition_to_end(T0)
    assert state.fetchable_partitions() == [T1, T0]
