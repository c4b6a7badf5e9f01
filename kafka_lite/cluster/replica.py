"""One copy of a partition: on this broker, with a log, or on another one.

Kafka 0.10.2: core/.../cluster/Replica.scala · book 6.2.2
"""

from __future__ import annotations

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata


class Replica:
    """The two offsets of a replica: the log end offset (LEO) and the high watermark (HW).

    ::

        0 ──────────── HW ─────────── LEO
        │  committed   │  not yet on  │  next message
        │              │  every ISR   │

    The LEO of a local replica is its log's; that of a remote replica is what its last fetch request told the leader.
    Only the local replica's HW has a meaning: consumers see nothing beyond it.
    """

    def __init__(
        self,
        broker_id: int,
        topic_partition: TopicPartition,
        log: Log | None = None,
        initial_high_watermark: int = 0,
    ) -> None:
        self.broker_id = broker_id
        self.topic_partition = topic_partition
        self.log = log
        self._high_watermark = LogOffsetMetadata(initial_high_watermark)
        self._remote_log_end_offset = LogOffsetMetadata.UNKNOWN
        self.log_start_offset = -1
        """Where a follower's log began at its last fetch; -1 if it has not said so. Not set for the local replica."""
        self.last_caught_up_time_ms = 0.0
        """When a follower had everything that the leader had, on the leader's clock; 0 if it never had."""
        self._last_fetch_leader_log_end_offset = 0
        self._last_fetch_time_ms = 0.0

    @property
    def is_local(self) -> bool:
        """Whether the log lies on this broker."""
        return self.log is not None

    @property
    def log_end_offset(self) -> LogOffsetMetadata:
        """The offset of the next message, with its position if that is known."""
        if self.log is not None:
            return self.log.log_end_offset_metadata
        return self._remote_log_end_offset

    def update_log_end_offset(self, log_end_offset: LogOffsetMetadata) -> None:
        """Note how far a follower has come.

        Raises ValueError for the local replica, whose LEO is its log's.
        """
        if self.is_local:
            raise ValueError(f"the log end offset of the local replica of {self.topic_partition} is its log's")
        self._remote_log_end_offset = log_end_offset

    def update_last_caught_up_time(self, fetch_offset: int, leader_log_end_offset: int, now_ms: float) -> None:
        """Note when a follower was at the leader's end: now, or at its last fetch.

        A follower of a busy leader never finds the log as it left it. It has kept up if it now has all that the leader
        had at its last fetch.
        """
        if fetch_offset >= leader_log_end_offset:
            self.last_caught_up_time_ms = max(self.last_caught_up_time_ms, now_ms)
        elif fetch_offset >= self._last_fetch_leader_log_end_offset:
            self.last_caught_up_time_ms = max(self.last_caught_up_time_ms, self._last_fetch_time_ms)
        self._last_fetch_leader_log_end_offset = leader_log_end_offset
        self._last_fetch_time_ms = now_ms

    def reset_last_caught_up_time(
        self, leader_log_end_offset: int, now_ms: float, last_caught_up_time_ms: float
    ) -> None:
        """Begin under a new leader, which counts the time from ``last_caught_up_time_ms`` on."""
        self._last_fetch_leader_log_end_offset = leader_log_end_offset
        self._last_fetch_time_ms = now_ms
        self.last_caught_up_time_ms = last_caught_up_time_ms

    @property
    def high_watermark(self) -> LogOffsetMetadata:
        """The offset below which everything is committed."""
        return self._high_watermark

    @high_watermark.setter
    def high_watermark(self, value: LogOffsetMetadata) -> None:
        self._high_watermark = value
        if self.log is not None:
            self.log.derived_state.on_high_watermark_updated(value.message_offset)

    @property
    def last_stable_offset(self) -> LogOffsetMetadata:
        """Where readers of committed records stop: the HW, or below it the first offset of an open transaction."""
        high_watermark = self._high_watermark
        if self.log is None:
            return high_watermark
        offset = self.log.last_stable_offset(high_watermark.message_offset)
        return high_watermark if offset == high_watermark.message_offset else LogOffsetMetadata(offset)
