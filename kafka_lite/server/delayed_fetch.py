"""A fetch request that waits until there is enough to read: the long poll.

Kafka 0.10.2: core/.../server/DelayedFetch.scala · book 6.3.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_lite.cluster.partition import Partition
from kafka_lite.cluster.replica import Replica
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperation
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.server.fetch_params import FetchParams, FetchPartition, LogReadResult


class DelayedFetch(DelayedOperation):
    """Completes if

    - A: this broker no longer leads one of the partitions (or, for readers of any replica, has no log of it), or no
      longer knows it,
    - B: the fetch offset is not in the log's newest segment: a slice of an older one will not grow any more,
    - C: what has accumulated in all partitions reaches ``min_bytes``,
    - D: the follower's log and this one diverge by now, since this one was truncated,
    - or the time is up; then the response has what there is,
    - or the client has left; then nothing is read.
    """

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
        if params.when_client_leaves is not None:
            params.when_client_leaves(self.abandon)

    def try_complete(self) -> bool:
        """Add up the bytes that have come since. In the newest segment a subtraction of positions is enough."""
        accumulated_bytes = 0
        for topic_partition, (asked, position) in self._fetched_at.items():
            available = self._available_bytes(topic_partition, asked, position)
            if available is None:
                return self.force_complete()
            accumulated_bytes += available
        return accumulated_bytes >= self._params.min_bytes and self.force_complete()

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
        if end.message_offset == position.message_offset or self._should_throttle(partition):
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
