"""A fetch request that waits until there is enough to read: the long poll.

Kafka 0.10.2: core/.../server/DelayedFetch.scala · book 6.3.1
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import islice
from typing import Final

from kafka_lite.cluster.partition import Partition
from kafka_lite.cluster.replica import Replica
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperation, DelayedOperationPurgatory
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.server.fetch_params import FetchParams, FetchPartition, LogReadResult

REMEMBERED_CHANGES: Final = 1000
"""A fetch that has missed more than that looks at all of its partitions, as it does at first."""


class RecentChanges:
    """The partitions to which something has happened, in order; the last ``REMEMBERED_CHANGES`` of them.

    Any thread may call it. ``since`` never misses a change that was noted before the call.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changed: deque[Hashable] = deque(maxlen=REMEMBERED_CHANGES)
        self._count = 0

    def note(self, changed: Hashable) -> None:
        """Something has happened to a partition; its new state must be visible."""
        with self._lock:
            self._changed.append(changed)
            self._count += 1

    def since(self, count: int, limit: int) -> tuple[int, set[Hashable] | None]:
        """How many changes there have been, and which of them came after ``count`` changes.

        None for the latter if they are more than ``limit``, or more than are remembered.
        """
        with self._lock:
            new = self._count - count
            if new > min(limit, len(self._changed)):
                return self._count, None
            return self._count, set(islice(reversed(self._changed), new))


class DelayedFetch(DelayedOperation):
    """Completes if

    - A: this broker no longer leads one of the partitions (or, for readers of any replica, has no log of it), or no
      longer knows it,
    - B: the fetch offset is not in the log's newest segment: a slice of an older one will not grow any more,
    - C: what has accumulated in all partitions reaches ``min_bytes``,
    - D: the follower's log and this one diverge by now, since this one was truncated,
    - or the time is up; then the response has what there is,
    - or the client has left; then nothing is read.

    It looks at all partitions once, and then only at those to which something has happened, if its purgatory notes
    them: ``changes``. A fetch of a thousand partitions is checked after each append to one of them.
    """

    changes: RecentChanges | None = None

    def __init__(
        self,
        params: FetchParams,
        fetched_at: Mapping[TopicPartition, tuple[FetchPartition, LogOffsetMetadata]],
        partition_of: Callable[[TopicPartition], Partition | None],
        read_again: Callable[[], list[tuple[TopicPartition, LogReadResult]]],
        respond: Callable[[list[tuple[TopicPartition, LogReadResult]]], None],
        expired: Callable[[bool], None] = lambda _from_follower: None,
        should_throttle: Callable[[Partition], bool] = lambda _partition: False,
    ) -> None:
        """``should_throttle``: whether this reader must wait for its quota, whatever there is to read."""
        super().__init__(params.max_wait_ms)
        self._params = params
        self._fetched_at = fetched_at
        self._partition_of = partition_of
        self._read_again = read_again
        self._respond = respond
        self._expired = expired
        self._should_throttle = should_throttle
        self._client_has_left = False
        self._seen_changes = -1  # before the first look there is always one more than are remembered
        self._available: dict[TopicPartition, int] = {}
        self._accumulated_bytes = 0
        self._throttled: set[TopicPartition] = set()
        """Looked at each time: nothing happens to a partition when the quota has room again."""
        if params.when_client_leaves is not None:
            params.when_client_leaves(self.abandon)

    def try_complete(self) -> bool:
        """Add up the bytes that have come since. In the newest segment a subtraction of positions is enough."""
        for topic_partition in self._changed():
            available = self._available_bytes(topic_partition, *self._fetched_at[topic_partition])
            if available is None:
                return self.force_complete()
            self._accumulated_bytes += available - self._available.get(topic_partition, 0)
            self._available[topic_partition] = available
        return self._accumulated_bytes >= self._params.min_bytes and self.force_complete()

    def _changed(self) -> Collection[TopicPartition]:
        """The partitions that may have more, or less, to read than at the last look."""
        if self.changes is None:
            return self._fetched_at
        # Counted before the look: what happens meanwhile is noted, and looked at next time.
        self._seen_changes, changed = self.changes.since(self._seen_changes, len(self._fetched_at))
        if changed is None:
            return self._fetched_at
        return self._fetched_at.keys() & changed | self._throttled

    def _available_bytes(
        self, topic_partition: TopicPartition, asked: FetchPartition, position: LogOffsetMetadata
    ) -> int | None:
        """Bytes to read in one partition; None if there is no point in waiting longer (cases A, B and D)."""
        partition = self._partition_of(topic_partition)
        if partition is None:
            return None
        local = partition.get_replica() if self._params.from_any_replica else partition.leader_replica_if_local
        if local is None or local.log is None:
            return None
        if partition.check_leader_epoch(asked.current_leader_epoch) is not Errors.NONE:
            return None
        if asked.last_fetched_epoch >= 0 and _diverges(partition, local.log, asked):
            return None
        end = self._end_for_reader(local)
        if self._params.committed_only and end.message_offset <= position.message_offset:
            return 0  # the reader waits for the end of a transaction
        if end.message_offset < position.message_offset:
            if (
                partition.leader_replica_if_local is None
                and position.message_offset <= local.log_end_offset.message_offset
            ):
                return 0  # the leader has shown the reader more than this follower knows to be committed yet
            return None  # the log was truncated below the fetch offset, which the client must learn
        self._throttled.discard(topic_partition)
        if end.message_offset == position.message_offset:
            return 0
        if self._should_throttle(partition):
            self._throttled.add(topic_partition)
            return 0
        if end.message_offset_only or position.on_older_segment(end) or end.on_older_segment(position):
            return None  # a rolled segment, or a watermark of unknown position: there is certainly something to read
        return min(end.position_diff(position), asked.max_bytes)

    def _end_for_reader(self, local: Replica) -> LogOffsetMetadata:
        if self._params.from_follower:
            return local.log_end_offset
        return local.last_stable_offset if self._params.committed_only else local.high_watermark

    def on_expiration(self) -> None:
        """Count a long poll that lasted as long as the client allowed. That is not an error."""
        self._expired(self._params.from_follower)

    def abandon(self) -> None:
        """The client has left: complete with nothing, so that appends need not check it until its time is up."""
        self._client_has_left = True
        self.force_complete()

    def on_complete(self) -> None:
        """Read once more and respond; called exactly once."""
        if self._params.when_client_leaves is not None:
            self._params.when_client_leaves(None)  # the request must not keep this operation, which keeps the request
        self._respond([] if self._client_has_left else self._read_again())


def _diverges(partition: Partition, log: Log, asked: FetchPartition) -> bool:
    try:
        return partition.diverging_epoch(log, asked.last_fetched_epoch, asked.fetch_offset) is not None
    except ApiError:
        return True  # the client must learn of it


class DelayedFetchPurgatory(DelayedOperationPurgatory[DelayedFetch]):
    """Notes each partition that fetches are checked for, so that they need not look at their other ones."""

    def __init__(self, *, broker_id: int, purge_interval: int, time: Time) -> None:
        """The arguments of ``DelayedOperationPurgatory``."""
        self._recent_changes = RecentChanges()
        super().__init__("Fetch", broker_id=broker_id, purge_interval=purge_interval, time=time)

    def try_complete_else_watch(self, operation: DelayedFetch, watch_keys: Sequence[Hashable]) -> bool:
        """As in its base class; the second look is only at what has happened since the first one."""
        operation.changes = self._recent_changes
        return super().try_complete_else_watch(operation, watch_keys)

    def check_and_complete(self, key: Hashable) -> int:
        """As in its base class. A change is noted whether or not a fetch waits for it: one may be about to."""
        self._recent_changes.note(key)
        return super().check_and_complete(key)
