"""Which replicas and brokers a throttled reassignment limits."""

from __future__ import annotations

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.tools.admin.replication_throttles import (
    PartitionMove,
    alter_log_dirs_rates,
    no_throttles,
    partition_moves,
    throttled_rates,
    throttled_replicas,
)

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


def move(sources: set[int], destinations: set[int]) -> PartitionMove:
    return PartitionMove(frozenset(sources), frozenset(destinations))


def test_a_partition_is_copied_from_its_replicas_to_those_that_it_gets() -> None:
    current = {T0: ReplicaAssignment([1, 2]), T1: ReplicaAssignment([2, 3])}
    assert partition_moves({T0: [2, 3], T1: [3, 2]}, current, {}) == {T0: move({1, 2}, {3}), T1: move({2, 3}, set())}


def test_moves_in_progress_keep_their_sources() -> None:
    moving = ReplicaAssignment([1, 2]).reassign_to([3, 4])
    assert partition_moves({}, {}, {U0: moving}) == {U0: move({1, 2}, {3, 4})}
    # Another target replaces the first; the new replicas have not caught up yet, so they are no sources.
    assert partition_moves({U0: [4, 5]}, {U0: moving}, {U0: moving}) == {U0: move({1, 2}, {4, 5})}


def test_sources_are_throttled_as_leaders_and_destinations_as_followers() -> None:
    moves = {T1: move({2, 10}, {4, 3}), T0: move({1}, set()), U0: move({1}, {2})}
    assert throttled_replicas(moves) == {
        ("topics", "t"): {
            "leader.replication.throttled.replicas": "0:1,1:2,1:10",
            "follower.replication.throttled.replicas": "1:3,1:4",
        },
        ("topics", "u"): {
            "leader.replication.throttled.replicas": "0:1",
            "follower.replication.throttled.replicas": "0:2",
        },
    }


def test_both_ends_of_a_move_get_the_rate() -> None:
    rates = {"leader.replication.throttled.rate": "500", "follower.replication.throttled.rate": "500"}
    assert throttled_rates({T0: move({2}, {1})}, 500) == {("brokers", "1"): rates, ("brokers", "2"): rates}
    key = "replica.alter.log.dirs.io.max.bytes.per.second"
    assert alter_log_dirs_rates([2, 1], 7) == {("brokers", "1"): {key: "7"}, ("brokers", "2"): {key: "7"}}


def test_all_throttles_are_removed() -> None:
    changes = no_throttles([1], ["t"])
    assert set(changes) == {("brokers", "1"), ("topics", "t")}
    assert all(value is None for values in changes.values() for value in values.values())
    assert set(changes["topics", "t"]) == set(throttled_replicas({T0: move({1}, {2})})["topics", "t"])
    set_before = throttled_rates({T0: move({1}, set())}, 1) | alter_log_dirs_rates([2], 1)
    assert set(changes["brokers", "1"]) == {key for values in set_before.values() for key in values}
