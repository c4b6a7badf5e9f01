"""What a consumer reads, and how far it has come in each partition.

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


class SubscriptionType(Enum):
    """How a consumer came to what it reads. One way excludes the others until ``unsubscribe``."""

    NONE = auto()
    """Nothing yet."""
    AUTO_TOPICS = auto()
    """``subscribe`` with topics: the group assigns."""
    AUTO_PATTERN = auto()
    """``subscribe`` with a pattern: topics that match, as they come and go; the group assigns."""
    USER_ASSIGNED = auto()
    """``assign``: the user assigns."""


class TopicPartitionState:
    """One assigned partition.

    ::

        no position ── committed offset found ──────────────▶ position ── fetched ──▶ position moves on
             │                                                ▲    │
             └── none: reset_strategy ── ListOffsets answers ─┘    └── out of range, seekToEnd …: reset_strategy again
    """

    __slots__ = (
        "committed",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "next_retry_ms",
        "paused",
        "position",
        "reset_strategy",
    )

    def __init__(self) -> None:
        self.position: int | None = None
        """Offset of the next record that the user gets; None until it is known."""
        self.committed: OffsetAndMetadata | None = None
        """What was committed last, as far as this consumer knows."""
        self.high_watermark: int | None = None
        self.last_stable_offset: int | None = None
        self.log_start_offset: int | None = None
        self.paused = False
        self.reset_strategy: OffsetResetStrategy | None = None
        """Where the position is to be reset to; None unless a reset is under way."""
        self.next_retry_ms = -math.inf
        """When the offset for the reset may be asked for (again), monotonic clock."""

    def seek(self, offset: int) -> None:
        """Go on at ``offset``; a reset that was under way is off."""
        self.position = offset
        self.reset_strategy = None

    def await_reset(self, strategy: OffsetResetStrategy) -> None:
        """Forget the position, and go where the strategy says; the broker may be asked at once."""
        self.reset_strategy = strategy
        self.position = None
        self.next_retry_ms = -math.inf

    @property
    def is_fetchable(self) -> bool:
        """Whether records are wanted."""
        return not self.paused and self.position is not None

    @property
    def is_initializing(self) -> bool:
        """Whether there is neither a position nor a reset under way: it depends on the committed offset."""
        return self.position is None and self.reset_strategy is None


class SubscriptionState:
    """The topics, partitions and positions of one consumer.

    ::

        subscribe(topics) ─┐                    ┌─ assign_from_subscribed ─┐
        subscribe(pattern) ┴─ subscription ─ rebalance                     ├─▶ assignment: partition ─▶ state
        assign(partitions) ───────────────────── assign_from_user ─────────┘

    Belongs to the thread that uses the consumer. The order of the assignment is that of fetching: a partition of which
    something has come moves to the end, so that none starves.
    """

    def __init__(self, default_reset_strategy: OffsetResetStrategy) -> None:
        self.default_reset_strategy = default_reset_strategy
        self.type = SubscriptionType.NONE
        self.pattern: re.Pattern[str] | None = None
        self.listener: ConsumerRebalanceListener = NO_LISTENER
        self._subscription: set[str] = set()
        self._group_subscription: set[str] = set()
        self._assignment: OrderedDict[TopicPartition, TopicPartitionState] = OrderedDict()
        self.assignment_id = 0
        """Grows with every change of the assignment."""

    # ── Subscribing ───────────────────────────────────────────────────────────────────────────────────────────────

    def _set_type(self, wanted: SubscriptionType) -> None:
        """From now on this way to subscribe. Raises IllegalConsumerStateError when there is another one."""
        if self.type is SubscriptionType.NONE:
            self.type = wanted
        elif self.type is not wanted:
            raise IllegalConsumerStateError(
                "Subscription to topics, partitions and pattern are mutually exclusive: unsubscribe first"
            )

    def subscribe(self, topics: Iterable[str], listener: ConsumerRebalanceListener) -> bool:
        """Read these topics, together with the group; true if they are others than before."""
        self._set_type(SubscriptionType.AUTO_TOPICS)
        self.listener = listener
        return self._change_subscription(set(topics))

    def subscribe_pattern(self, pattern: re.Pattern[str], listener: ConsumerRebalanceListener) -> None:
        """Read the topics whose names match, together with the group."""
        self._set_type(SubscriptionType.AUTO_PATTERN)
        self.listener = listener
        self.pattern = pattern

    def subscribe_from_pattern(self, topics: Iterable[str]) -> bool:
        """These match the pattern now; true if they are others than before."""
        if self.type is not SubscriptionType.AUTO_PATTERN:
            raise IllegalConsumerStateError(f"Attempt to subscribe from a pattern while the type is {self.type.name}")
        return self._change_subscription(set(topics))

    def _change_subscription(self, topics: set[str]) -> bool:
        """Replace the topics; false if they are the same. What the group reads follows a pattern; else it grows."""
        if topics == self._subscription:
            return False
        self._subscription = topics
        if self.type is SubscriptionType.AUTO_PATTERN:
            self._group_subscription = set(topics)
        else:
            self._group_subscription |= topics
        return True

    def group_subscribe(self, topics: Iterable[str]) -> bool:
        """As the group's leader, watch the topics of all members; true if that is more than before.

        Raises IllegalConsumerStateError when the user assigns.
        """
        if not self.has_auto_assigned_partitions:
            raise IllegalConsumerStateError("Only a subscription has a group")
        before = len(self._group_subscription)
        self._group_subscription.update(topics)
        return len(self._group_subscription) > before

    def reset_group_subscription(self) -> None:
        """No longer leader: only its own topics are of interest."""
        self._group_subscription &= self._subscription

    def unsubscribe(self) -> None:
        """Back to the beginning."""
        self.type = SubscriptionType.NONE
        self.pattern = None
        self.listener = NO_LISTENER
        self._subscription = set()
        self._group_subscription = set()
        self._assignment.clear()
        self.assignment_id += 1

    @property
    def subscription(self) -> frozenset[str]:
        """The topics subscribed to."""
        return frozenset(self._subscription)

    @property
    def metadata_topics(self) -> set[str]:
        """The topics whose metadata is needed: those of the group for its leader, those of the assignment if any."""
        if self.type is SubscriptionType.USER_ASSIGNED:
            return {partition.topic for partition in self._assignment}
        return self._group_subscription | self._subscription

    @property
    def has_pattern_subscription(self) -> bool:
        """Whether topics are subscribed by pattern."""
        return self.type is SubscriptionType.AUTO_PATTERN

    @property
    def has_auto_assigned_partitions(self) -> bool:
        """Whether the group assigns."""
        return self.type in (SubscriptionType.AUTO_TOPICS, SubscriptionType.AUTO_PATTERN)

    @property
    def has_no_subscription_or_user_assignment(self) -> bool:
        """Whether nothing was asked for yet."""
        return self.type is SubscriptionType.NONE

    # ── The assignment ────────────────────────────────────────────────────────────────────────────────────────────

    def assign_from_user(self, partitions: Iterable[TopicPartition]) -> bool:
        """Read these; positions of those that were assigned before are kept. True if anything changed."""
        self._set_type(SubscriptionType.USER_ASSIGNED)
        wanted = dict.fromkeys(partitions)
        if wanted.keys() == self._assignment.keys():
            return False
        kept = {partition: self._assignment.get(partition) or TopicPartitionState() for partition in wanted}
        self._replace_assignment(kept)
        return True

    def assign_from_subscribed(self, partitions: Collection[TopicPartition]) -> None:
        """The group has assigned these: no position is known. Raises IllegalConsumerStateError unless it assigns."""
        if not self.has_auto_assigned_partitions:
            raise IllegalConsumerStateError("Attempt to dynamically assign partitions while manual assignment in use")
        self._replace_assignment({partition: TopicPartitionState() for partition in partitions})

    def reassign_from_subscribed(self, partitions: Collection[TopicPartition]) -> None:
        """The group has assigned these, in cooperation: of those that the member has had all along nothing changes."""
        before = self._assignment
        self.assign_from_subscribed(partitions)
        for partition in self._assignment.keys() & before.keys():
            self._assignment[partition] = before[partition]

    def matches_subscription(self, partition: TopicPartition) -> bool:
        """Whether the group may assign the partition: its topic was subscribed to when the member joined."""
        if self.pattern is not None:
            return self.pattern.fullmatch(partition.topic) is not None
        return partition.topic in self._subscription

    def _replace_assignment(self, states: Mapping[TopicPartition, TopicPartitionState]) -> None:
        self._assignment = OrderedDict(states)
        self.assignment_id += 1

    @property
    def assigned_partitions(self) -> frozenset[TopicPartition]:
        """What is assigned."""
        return frozenset(self._assignment)

    def is_assigned(self, partition: TopicPartition) -> bool:
        """Whether the partition is."""
        return partition in self._assignment

    def state(self, partition: TopicPartition) -> TopicPartitionState:
        """The state of an assigned partition. Raises IllegalConsumerStateError for another one."""
        state = self._assignment.get(partition)
        if state is None:
            raise IllegalConsumerStateError(f"No current assignment for partition {partition}")
        return state

    def state_or_none(self, partition: TopicPartition) -> TopicPartitionState | None:
        """The state, if the partition is assigned."""
        return self._assignment.get(partition)

    # ── Positions ─────────────────────────────────────────────────────────────────────────────────────────────────

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Go on there."""
        self.state(partition).seek(offset)

    def position(self, partition: TopicPartition) -> int | None:
        """Where the partition is read next."""
        return self.state(partition).position

    def need_offset_reset(self, partition: TopicPartition, strategy: OffsetResetStrategy | None = None) -> None:
        """Go where the strategy says; without one, where the configuration says."""
        self.state(partition).await_reset(strategy or self.default_reset_strategy)

    def maybe_seek_unvalidated(self, partition: TopicPartition, offset: int, strategy: OffsetResetStrategy) -> bool:
        """The offset of a reset is known: go there, unless the user went elsewhere, or it was taken away meanwhile."""
        state = self._assignment.get(partition)
        if state is None or state.reset_strategy is not strategy:
            return False
        state.seek(offset)
        return True

    def all_consumed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The position of each partition that has one: what a commit without arguments commits."""
        return {
            partition: OffsetAndMetadata(state.position)
            for partition, state in self._assignment.items()
            if state.position is not None
        }

    def has_all_fetch_positions(self) -> bool:
        """Whether every partition has a position."""
        return all(state.position is not None for state in self._assignment.values())

    def initializing_partitions(self) -> list[TopicPartition]:
        """Those whose position depends on the committed offset."""
        return [partition for partition, state in self._assignment.items() if state.is_initializing]

    def partitions_needing_reset(self, now_ms: float) -> dict[TopicPartition, OffsetResetStrategy]:
        """Those whose offset is to be asked for now."""
        return {
            partition: state.reset_strategy
            for partition, state in self._assignment.items()
            if state.reset_strategy is not None and state.next_retry_ms <= now_ms
        }

    def set_next_retry(self, partitions: Iterable[TopicPartition], next_retry_ms: float) -> None:
        """Do not ask for the offsets of these again before."""
        for partition in partitions:
            if (state := self._assignment.get(partition)) is not None:
                state.next_retry_ms = next_retry_ms

    # ── Fetching ──────────────────────────────────────────────────────────────────────────────────────────────────

    def fetchable_partitions(self) -> list[TopicPartition]:
        """Those of which records are wanted, the ones that have waited longest first."""
        return [partition for partition, state in self._assignment.items() if state.is_fetchable]

    def is_fetchable(self, partition: TopicPartition) -> bool:
        """Whether records of the partition are wanted."""
        state = self._assignment.get(partition)
        return state is not None and state.is_fetchable and self.is_subscribed(partition)

    def is_subscribed(self, partition: TopicPartition) -> bool:
        """Whether it is still wanted; the group takes away what is not, but for that the member has to join again."""
        return self.type is not SubscriptionType.AUTO_TOPICS or partition.topic in self._subscription

    def move_partition_to_end(self, partition: TopicPartition) -> None:
        """Something has come of it: the others are fetched first."""
        if partition in self._assignment:
            self._assignment.move_to_end(partition)

    def pause(self, partition: TopicPartition) -> None:
        """Give no records of it until ``resume``."""
        self.state(partition).paused = True

    def resume(self, partition: TopicPartition) -> None:
        """Give records of it again."""
        self.state(partition).paused = False

    def paused_partitions(self) -> frozenset[TopicPartition]:
        """Those that are paused."""
        return frozenset(partition for partition, state in self._assignment.items() if state.paused)
