"""The brokers and replicas that a throttled reassignment limits, and the end of the limits.

Kafka 0.10.2: core/.../admin/ReassignPartitionsCommand.scala (maybeThrottle, removeThrottle); 2.6: the same file
(calculateProposedMoveMap, modifyReassignmentThrottle, clearAllThrottles), KIP-73 · book 7.1.6
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from kafka_lite.admin.admin_utils import BROKERS, TOPICS
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.server.quotas.quota_factory import ALTER_LOG_DIRS_RATE, FOLLOWER_THROTTLED_RATE, LEADER_THROTTLED_RATE

LEADER_THROTTLED_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_THROTTLED_REPLICAS = "follower.replication.throttled.replicas"

ConfigChanges = dict[tuple[str, str], dict[str, str | None]]
"""(type, name) of an entity, such as ``("topics", "orders")`` → key → its new value; None removes it."""


class PartitionMove(NamedTuple):
    """The brokers that a partition is copied from and to."""

    sources: frozenset[int]
    destinations: frozenset[int]


def partition_moves(
    targets: Mapping[TopicPartition, Collection[int]],
    current: Mapping[TopicPartition, ReplicaAssignment],
    in_progress: Mapping[TopicPartition, ReplicaAssignment],
) -> dict[TopicPartition, PartitionMove]:
    """The moves that are in progress, and those that ``targets`` will start."""
    moves = {
        tp: PartitionMove(frozenset(each.replicas) - frozenset(each.adding_replicas), frozenset(each.adding_replicas))
        for tp, each in in_progress.items()
    }
    for tp, target in targets.items():
        sources = moves[tp].sources if tp in moves else frozenset(current[tp].replicas)
        moves[tp] = PartitionMove(sources, frozenset(target) - sources)
    return moves


def throttled_replicas(moves: Mapping[TopicPartition, PartitionMove]) -> ConfigChanges:
    """The topics' lists: the sources are throttled as leaders, the destinations as followers."""
    changes: ConfigChanges = {}
    for topic in sorted({tp.topic for tp in moves}):
        of_topic = {tp.partition: move for tp, move in moves.items() if tp.topic == topic}
        changes[TOPICS, topic] = {
            LEADER_THROTTLED_REPLICAS: _replica_list((p, move.sources) for p, move in of_topic.items()),
            FOLLOWER_THROTTLED_REPLICAS: _replica_list((p, move.destinations) for p, move in of_topic.items()),
        }
    return changes


def _replica_list(brokers: Iterable[tuple[int, Collection[int]]]) -> str:
    """``0:101,0:102,1:103``."""
    return ",".join(f"{partition}:{broker}" for partition, brokers in sorted(brokers) for broker in sorted(brokers))


def throttled_rates(moves: Mapping[TopicPartition, PartitionMove], rate: int) -> ConfigChanges:
    """The rate, in bytes per second, of each broker that takes part in a move."""
    brokers = {broker for move in moves.values() for broker in move.sources | move.destinations}
    rates: dict[str, str | None] = {LEADER_THROTTLED_RATE: str(rate), FOLLOWER_THROTTLED_RATE: str(rate)}
    return {(BROKERS, str(broker)): dict(rates) for broker in sorted(brokers)}


def alter_log_dirs_rates(brokers: Collection[int], rate: int) -> ConfigChanges:
    """The rate, in bytes per second, of each broker that moves replicas between its log directories."""
    return {(BROKERS, str(broker)): {ALTER_LOG_DIRS_RATE: str(rate)} for broker in sorted(brokers)}


def no_throttles(brokers: Collection[int], topics: Collection[str]) -> ConfigChanges:
    """Remove all rates of all live brokers, since nobody knows which ones took part, and the lists of the topics."""
    rates = (LEADER_THROTTLED_RATE, FOLLOWER_THROTTLED_RATE, ALTER_LOG_DIRS_RATE)
    lists = (LEADER_THROTTLED_REPLICAS, FOLLOWER_THROTTLED_REPLICAS)
    changes: ConfigChanges = {(BROKERS, str(broker)): dict.fromkeys(rates) for broker in sorted(brokers)}
    return changes | {(TOPICS, topic): dict.fromkeys(lists) for topic in sorted(topics)}
