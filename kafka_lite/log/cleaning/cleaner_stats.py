"""Statistics of a cleaning, and the log message about them.

Kafka 0.10.2: core/.../log/LogCleaner.scala (CleanerStats) · book 6.1.6
"""

from __future__ import annotations

from kafka_lite.common.time import Time


class PreCleanStats:
    """Statistics of one choice of a log to clean."""

    def __init__(self) -> None:
        self.max_compaction_delay_ms = 0
        """By how much the most overdue log has exceeded its ``max.compaction.lag.ms``."""
        self.delayed_partitions = 0
        self.cleanable_partitions = 0

    def update_max_compaction_delay(self, delay_ms: int) -> None:
        """Count a log that is ``delay_ms`` overdue; 0 if it is not."""
        self.max_compaction_delay_ms = max(self.max_compaction_delay_ms, delay_ms)
        if delay_ms > 0:
            self.delayed_partitions += 1


class CleanerStats:
    """Statistics of one cleaning of one log."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._start_ms = self._index_done_ms = self._end_ms = time.hi_res_ms()
        self.map_bytes_read = 0
        self.map_messages_read = 0
        self.bytes_read = 0
        self.bytes_written = 0
        self.messages_read = 0
        self.messages_written = 0
        self.invalid_messages_read = 0
        """Messages without a key, from before the topic was compacted; they are removed."""
        self.buffer_utilization = 0.0
        """How full the offset map was, from 0 to 1."""

    def index_done(self) -> None:
        """Record that the offset map is complete."""
        self._index_done_ms = self._end_ms = self._time.hi_res_ms()

    def all_done(self) -> None:
        """Record that the log is clean."""
        self._end_ms = self._time.hi_res_ms()

    @property
    def elapsed_secs(self) -> float:
        """Duration of the whole cleaning."""
        return (self._end_ms - self._start_ms) / 1000

    @property
    def elapsed_index_secs(self) -> float:
        """Duration of building the offset map."""
        return (self._index_done_ms - self._start_ms) / 1000

    def summary(self, thread_id: int, log_name: str, first_offset: int, end_offset: int) -> str:
        """The summary that Kafka logs after a cleaning."""
        index_secs = self.elapsed_index_secs
        clean_secs = self.elapsed_secs - index_secs
        return (
            f"\n\tLog cleaner thread {thread_id} cleaned log {log_name} (dirty section = [{first_offset}, "
            f"{end_offset}])\n"
            f"\t{_mb(self.bytes_read):,.1f} MB of log processed in {self.elapsed_secs:,.1f} seconds "
            f"({_mb(_per(self.bytes_read, self.elapsed_secs)):,.1f} MB/sec).\n"
            f"\tIndexed {_mb(self.map_bytes_read):,.1f} MB in {index_secs:.1f} seconds "
            f"({_mb(_per(self.map_bytes_read, index_secs)):,.1f} Mb/sec, "
            f"{100 * _per(index_secs, self.elapsed_secs):.1f}% of total time)\n"
            f"\tBuffer utilization: {100 * self.buffer_utilization:.1f}%\n"
            f"\tCleaned {_mb(self.bytes_read):,.1f} MB in {clean_secs:.1f} seconds "
            f"({_mb(_per(self.bytes_read, clean_secs)):,.1f} Mb/sec, "
            f"{100 * _per(clean_secs, self.elapsed_secs):.1f}% of total time)\n"
            f"\tStart size: {_mb(self.bytes_read):,.1f} MB ({self.messages_read:,d} messages)\n"
            f"\tEnd size: {_mb(self.bytes_written):,.1f} MB ({self.messages_written:,d} messages)\n"
            f"\t{_reduction(self.bytes_written, self.bytes_read):.1f}% size reduction "
            f"({_reduction(self.messages_written, self.messages_read):.1f}% fewer messages)"
        )


def _mb(number_of_bytes: float) -> float:
    return number_of_bytes / (1024 * 1024)


def _per(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _reduction(after: int, before: int) -> float:
    return 100 * (1 - after / before) if before else 0.0
