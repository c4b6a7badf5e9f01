"""The segment that a cleaning writes.

Kafka 0.10.2: core/.../log/LogCleaner.scala (cleanSegments) · book 6.1.6
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from kafka_lite.common.time import Time
from kafka_lite.log.log import Log
from kafka_lite.log.log_append_info import LogAppendInfo
from kafka_lite.log.log_file_utils import CLEANED_FILE_SUFFIX
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.time_index import TimeIndex
from kafka_lite.record.record import NO_TIMESTAMP
from kafka_lite.record.record_filter import FilteredBatch


class CleanedSegment:
    """A segment whose files end in ``.cleaned``: nobody reads it, and after a crash it is thrown away.

    Batches are collected and written together, but for the one that gets the next index entry: it is appended alone, so
    that the entry leads to it and not to the first of many::

        batches   │ b │ b │ b │ b │ b │ b │ b │ b │ b │ ...
        appends   └──────────────┘└ 1 ┘└──────────┘└ 1 ┘
                  > index interval  ▲  > interval     ▲
                                    index entry       index entry
    """

    def __init__(self, log: Log, sources: Sequence[LogSegment], time: Time) -> None:
        """Begin a segment for what is left of ``sources``. Raises OSError."""
        config = log.config
        base_offset = sources[0].base_offset
        # The sources may have been indexed less densely, and the index must not become full: then fewer entries it is.
        # Rewritten batches are hardly ever larger, but twice as large is on the safe side.
        largest_size = 2 * sum(segment.size for segment in sources)
        entries = max(1, config.segment_index_bytes // TimeIndex.ENTRY.size)
        self._index_interval_bytes = max(config.index_interval_bytes, largest_size // entries)
        LogSegment.delete_if_exists(log.dir, base_offset, CLEANED_FILE_SUFFIX)
        try:
            self.segment = LogSegment.open(
                log.dir, base_offset, config, time, CLEANED_FILE_SUFFIX, self._index_interval_bytes
            )
        except OSError:
            LogSegment.delete_files(log.dir, base_offset, CLEANED_FILE_SUFFIX)  # those for which there was room
            raise
        self._last_modified_ms = sources[-1].log.last_modified_ms()
        self._collected: list[FilteredBatch] = []
        self._bytes_since_last_index_entry = 0

    def append(self, batch: FilteredBatch) -> None:
        """Add a batch. Raises OSError; ValueError for an offset that is too far from the base offset."""
        if self._bytes_since_last_index_entry > self._index_interval_bytes:
            self._write_collected()
            self._write([batch])
            self._bytes_since_last_index_entry = 0
        else:
            self._collected.append(batch)
        self._bytes_since_last_index_entry += len(batch.data)

    def _write_collected(self) -> None:
        if self._collected:
            self._write(self._collected)
            self._collected = []

    def _write(self, batches: Sequence[FilteredBatch]) -> None:
        # The header of a batch without records keeps its timestamp, but there is no message of that time to be found.
        latest = max(batches, key=_largest_timestamp)
        records = b"".join([batch.data for batch in batches])
        info = LogAppendInfo(
            first_offset=batches[0].first_offset,
            last_offset=batches[-1].last_offset,
            max_timestamp=_largest_timestamp(latest),
            offset_of_max_timestamp=latest.last_offset,
            magic=batches[0].magic,
            size_in_bytes=len(records),
        )
        self.segment.append(info, records)

    def complete(self) -> LogSegment:
        """Force all to disk, with the time of the newest source: the age of its messages has not changed."""
        self._write_collected()
        self.segment.on_become_inactive_segment()
        self.segment.flush()
        self.segment.set_last_modified_ms(self._last_modified_ms)
        return self.segment

    def discard(self) -> None:
        """Remove the files, as far as that is possible; what stays goes at the next cleaning, or at the next start."""
        with contextlib.suppress(OSError):
            self.segment.delete()


def _largest_timestamp(batch: FilteredBatch) -> int:
    return batch.max_timestamp if batch.messages_retained else NO_TIMESTAMP
