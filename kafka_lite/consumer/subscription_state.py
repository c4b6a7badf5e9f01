"""The topics and partitions that a consumer reads, and its position in each.

Kafka 0.10.2: clients/.../consumer/internals/SubscriptionState.java (TopicPartitionState, SubscriptionType),
common/internals/PartitionStates.java · book 4.1.1
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from enum import Enum, auto

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import IllegalConsumerStateError
from kafka_lite.consumer.consumer_rebalance_listener import NO_LISTENER, ConsumerRebalanceListener
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata, OffsetResetStrategy
from kafka_lite.consumer.subscription_pattern import SubscriptionPattern


class SubscriptionType(Enum):
    """How a consumer got its partitions. One way excludes the others until ``unsubscribe``."""

    NONE = auto()
    """Neither subscribed nor assigned."""
    AUTO_TOPICS = auto()
    """``subscribe`` with topics. The group assigns partitions."""
    AUTO_PATTERN = auto()
    """``subscribe`` with a pattern, for topics that match now or later. The group assigns partitions."""
    AUTO_PATTERN_RE2J = auto()
    """``subscribe`` with a pattern that the broker resolves. The group assigns partitions."""
    USER_ASSIGNED = auto()
    """``assign``. The user assigns partitions."""


class TopicPartitionState:
    """One assigned partition.

    ::

        no position ── committed offset found ──────────────▶ position ── fetched ──▶ position moves on
             │                                                ▲    │
             └── none: reset_strategy ── ListOffsets result ──┘    └── out of range, seekToEnd …: reset_strategy again
    """

    __slots__ = (
        "committed",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "next_retry_ms",
        "paused",
        "pending_revocation",
        "position",
        "read_replica",
        "read_replica_expires_ms",
        "reset_strategy",
    )

    def __init__(self) -> None:
        self.position: int | None = None
        """Offset of the next record to return to the user; None until it is known."""
        self.committed: OffsetAndMetadata | None = None
        """The last committed offset that this consumer knows of."""
        self.high_watermark: int | None = None
        self.last_stable_offset: int | None = None
        self.log_start_offset: int | None = None
        self.paused = False
        self.pending_revocation = False
        """Whether its position is being committed, because it is about to be given up."""
        self.read_replica: int | None = None
        """The broker that the leader wants it to be read from; None if that is the leader itself."""
        self.read_replica_expires_ms = -math.inf
        """When the leader must be asked again, on the monotonic clock."""
        self.reset_strategy: OffsetResetStrategy | None = None
        """The strategy of the reset in progress; None if there is none."""
        self.next_retry_ms = -math.inf
        """When the offset for the reset may be requested (again), on the monotonic clock."""

    def seek(self, offset: int) -> None:
        """Continue at ``offset``, and cancel a reset in progress."""
        self.position = offset
        self.reset_strategy = None

    def await_reset(self, strategy: OffsetResetStrategy) -> None:
        """Forget the position and start a reset. The broker may be asked at once."""
        self.reset_strategy = strategy
        self.position = None
        self.next_retry_ms = -math.inf

    @property
    def is_fetchable(self) -> bool:
        """Whether records should be fetched: the partition has a position, and is neither paused nor given up."""
        return not self.paused and not self.pending_revocation and self.position is not None

    @property
    def is_initializing(self) -> bool:
        """Whether there is neither a position nor a reset in progress, so that the committed offset decides."""
        return self.position is None and self.reset_strategy is None


class SubscriptionState:
    """The topics, partitions and positions of one consumer.

    ::

        subscribe(topics) ─┐                    ┌─ assign_from_subscribed ─┐
        subscribe(pattern) ┴─ subscription ─ rebalance                     ├─▶ assignment: partition ─▶ state
        assign(partitions) ───────────────────── assign_from_user ─────────┘

    Belongs to the thread that uses the consumer. Partitions are fetched in the order of the assignment. A partition
    that has returned records moves to the end, so that none starves.
    """

    def __init__(self, default_reset_strategy: OffsetResetStrategy) -> None:
        self.default_reset_strategy = default_reset_strategy
        self.type = SubscriptionType.NONE
        self.pattern: re.Pattern[str] | None = None
        self.subscription_pattern: SubscriptionPattern | None = None
        self.listener: ConsumerRebalanceListener = NO_LISTENER
        self._subscription: set[str] = set()
        self._group_subscription: set[str] = set()
        self._assignment: OrderedDict[TopicPartition, TopicPartitionState] = OrderedDict()
        self.assignment_id = 0
        """Incremented with every change of the assignment."""

    # ── Subscribing ───────────────────────────────────────────────────────────────────────────────────────────────

    def _set_type(self, wanted: SubscriptionType) -> None:
        """Set the type of subscription. Raises IllegalConsumerStateError if another one is in use."""
        if self.type is SubscriptionType.NONE:
            self.type = wanted
        elif self.type is not wanted:
            raise IllegalConsumerStateError(
                "Subscription to topics, partitions and pattern are mutually exclusive: unsubscribe first"
            )

    def subscribe(self, topics: Iterable[str], listener: ConsumerRebalanceListener) -> bool:
        """Read these topics as a member of the group; true if the topics have changed."""
        self._set_type(SubscriptionType.AUTO_TOPICS)
        self.listener = listener
        return self._change_subscription(set(topics))

    def subscribe_pattern(self, pattern: re.Pattern[str], listener: ConsumerRebalanceListener) -> None:
        """Read the topics whose whole names match, as a member of the group."""
        self._set_type(SubscriptionType.AUTO_PATTERN)
        self.listener = listener
        self.pattern = pattern

    def subscribe_re2(self, pattern: SubscriptionPattern, listener: ConsumerRebalanceListener) -> None:
        """Read the topics that the broker finds, as a member of the group."""
        self._set_type(SubscriptionType.AUTO_PATTERN_RE2J)
        self.listener = listener
        self.subscription_pattern = pattern

    def subscribe_from_pattern(self, topics: Iterable[str]) -> bool:
        """Set the topics that match the pattern; true if they have changed."""
        if self.type is not SubscriptionType.AUTO_PATTERN:
            raise IllegalConsumerStateError(f"Attempt to subscribe from a pattern while the type is {self.type.name}")
        return self._change_subscription(set(topics))

    def _change_subscription(self, topics: set[str]) -> bool:
        """Replace the topics; false if they are the same. The group's topics are replaced with a pattern, extended
        otherwise."""
        if topics == self._subscription:
            return False
        self._subscription = topics
        if self.type is SubscriptionType.AUTO_PATTERN:
            self._group_subscription = set(topics)
        else:
            self._group_subscription |= topics
        return True

    def group_subscribe(self, topics: Iterable[str]) -> bool:
        """As the group's leader: watch the topics of all members; true if there are new ones.

        Raises IllegalConsumerStateError if the group does not assign partitions.
        """
        if not self.has_auto_assigned_partitions:
            raise IllegalConsumerStateError("Only a subscribed consumer has a group")
        before = len(self._group_subscription)
        self._group_subscription.update(topics)
        return len(self._group_subscription) > before

    def reset_group_subscription(self) -> None:
        """No longer the leader: watch only this member's topics."""
        self._group_subscription &= self._subscription

    def unsubscribe(self) -> None:
        """Drop the subscription and the assignment."""
        self.type = SubscriptionType.NONE
        self.pattern = self.subscription_pattern = None
        self.listener = NO_LISTENER
        self._subscription = set()
        self._group_subscription = set()
        self._assignment.clear()
        self.assignment_id += 1

    @property
    def subscription(self) -> frozenset[str]:
        """The subscribed topics."""
        return frozenset(self._subscription)

    @property
    def metadata_topics(self) -> set[str]:
        """The topics whose metadata is needed: for the leader those of the group, for a user's assignment its own."""
        if self.type is SubscriptionType.USER_ASSIGNED:
            return {partition.topic for partition in self._assignment}
        return self._group_subscription | self._subscription

    @property
    def has_pattern_subscription(self) -> bool:
        """Whether the subscription is a pattern."""
        return self.type is SubscriptionType.AUTO_PATTERN

    @property
    def has_auto_assigned_partitions(self) -> bool:
        """Whether the group assigns partitions."""
        return self.type not in (SubscriptionType.NONE, SubscriptionType.USER_ASSIGNED)

    @property
    def has_no_subscription_or_user_assignment(self) -> bool:
        """Whether there is neither a subscription nor an assignment by the user."""
        return self.type is SubscriptionType.NONE

    # ── The assignment ────────────────────────────────────────────────────────────────────────────────────────────

    def assign_from_user(self, partitions: Iterable[TopicPartition]) -> bool:
        """Read these partitions, and keep the positions of those already assigned. True if anything has changed."""
        self._set_type(SubscriptionType.USER_ASSIGNED)
        wanted = dict.fromkeys(partitions)
        if wanted.keys() == self._assignment.keys():
            return False
        kept = {partition: self._assignment.get(partition) or TopicPartitionState() for partition in wanted}
        self._replace_assignment(kept)
        return True

    def assign_from_subscribed(self, partitions: Collection[TopicPartition]) -> None:
        """Take over the group's assignment, without positions. Raises IllegalConsumerStateError if the user assigns."""
        if not self.has_auto_assigned_partitions:
            raise IllegalConsumerStateError("Attempt to dynamically assign partitions while manual assignment in use")
        self._replace_assignment({partition: TopicPartitionState() for partition in partitions})

    def reassign_from_subscribed(self, partitions: Collection[TopicPartition]) -> None:
        """Take over the group's assignment, and keep the state of partitions that were assigned before."""
        before = self._assignment
        self.assign_from_subscribed(partitions)
        for partition in self._assignment.keys() & before.keys():
            self._assignment[partition] = before[partition]

    def matches_subscription(self, partition: TopicPartition) -> bool:
        """Whether the group may assign the partition: its topic is in the subscription with which the member joined."""
        if self.pattern is not None:
            return self.pattern.fullmatch(partition.topic) is not None
        return partition.topic in self._subscription

    def _replace_assignment(self, states: Mapping[TopicPartition, TopicPartitionState]) -> None:
        self._assignment = OrderedDict(states)
        self.assignment_id += 1

    @property
    def assigned_partitions(self) -> frozenset[TopicPartition]:
        """The assigned partitions."""
        return frozenset(self._assignment)

    def is_assigned(self, partition: TopicPartition) -> bool:
        """Whether the partition is assigned."""
        return partition in self._assignment

    def state(self, partition: TopicPartition) -> TopicPartitionState:
        """The state of an assigned partition. Raises IllegalConsumerStateError if it is not assigned."""
        state = self._assignment.get(partition)
        if state is None:
            raise IllegalConsumerStateError(f"No current assignment for partition {partition}")
        return state

    def state_or_none(self, partition: TopicPartition) -> TopicPartitionState | None:
        """The state of the partition; None if it is not assigned."""
        return self._assignment.get(partition)

    # ── Positions ─────────────────────────────────────────────────────────────────────────────────────────────────

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Continue at ``offset``."""
        self.state(partition).seek(offset)

    def position(self, partition: TopicPartition) -> int | None:
        """The offset of the partition's next record; None if it is unknown."""
        return self.state(partition).position

    def need_offset_reset(self, partition: TopicPartition, strategy: OffsetResetStrategy | None = None) -> None:
        """Reset the position by this strategy, by default the configured one."""
        self.state(partition).await_reset(strategy or self.default_reset_strategy)

    def maybe_seek_unvalidated(self, partition: TopicPartition, offset: int, strategy: OffsetResetStrategy) -> bool:
        """Complete a reset at ``offset``; false if the user has sought elsewhere or the partition was revoked."""
        state = self._assignment.get(partition)
        if state is None or state.reset_strategy is not strategy:
            return False
        state.seek(offset)
        return True

    def all_consumed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The positions of all partitions that have one. A commit without arguments commits these."""
        return {
            partition: OffsetAndMetadata(state.position)
            for partition, state in self._assignment.items()
            if state.position is not None
        }

    def has_all_fetch_positions(self) -> bool:
        """Whether every partition has a position."""
        return all(state.position is not None for state in self._assignment.values())

    def initializing_partitions(self) -> list[TopicPartition]:
        """Partitions whose position depends on the committed offset."""
        return [partition for partition, state in self._assignment.items() if state.is_initializing]

    def partitions_needing_reset(self, now_ms: float) -> dict[TopicPartition, OffsetResetStrategy]:
        """Partitions whose reset offset should be requested now."""
        return {
            partition: state.reset_strategy
            for partition, state in self._assignment.items()
            if state.reset_strategy is not None and state.next_retry_ms <= now_ms
        }

    def set_next_retry(self, partitions: Iterable[TopicPartition], next_retry_ms: float) -> None:
        """Do not request the reset offsets of these partitions before ``next_retry_ms``."""
        for partition in partitions:
            if (state := self._assignment.get(partition)) is not None:
                state.next_retry_ms = next_retry_ms

    # ── Fetching ──────────────────────────────────────────────────────────────────────────────────────────────────

    def fetchable_partitions(self) -> list[TopicPartition]:
        """Partitions to fetch, those that have waited longest first."""
        return [partition for partition, state in self._assignment.items() if state.is_fetchable]

    def is_fetchable(self, partition: TopicPartition) -> bool:
        """Whether records of the partition may be fetched and returned."""
        state = self._assignment.get(partition)
        return state is not None and state.is_fetchable and self.is_subscribed(partition)

    def is_subscribed(self, partition: TopicPartition) -> bool:
        """Whether the topic is still in the subscription. The group revokes other partitions only when the member
        rejoins."""
        return self.type is not SubscriptionType.AUTO_TOPICS or partition.topic in self._subscription

    def move_partition_to_end(self, partition: TopicPartition) -> None:
        """The partition has returned records: fetch the others first."""
        if partition in self._assignment:
            self._assignment.move_to_end(partition)

    def pause(self, partition: TopicPartition) -> None:
        """Return no records of the partition until ``resume``."""
        self.state(partition).paused = True

    def resume(self, partition: TopicPartition) -> None:
        """Return records of the partition again."""
        self.state(partition).paused = False

    def mark_pending_revocation(self, partitions: Iterable[TopicPartition], *, pending: bool = True) -> None:
        """Return no more records of partitions whose positions are being committed, or return them again."""
        for partition in partitions:
            if (state := self._assignment.get(partition)) is not None:
                state.pending_revocation = pending

    def paused_partitions(self) -> frozenset[TopicPartition]:
        """The paused partitions."""
        return frozenset(partition for partition, state in self._assignment.items() if state.paused)
