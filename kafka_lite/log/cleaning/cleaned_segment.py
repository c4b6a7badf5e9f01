"""The output segment of a cleaning.

Kafka 0.10.2: core/.../log/LogCleaner.scala (cleanSegments) · book 6.1.6
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence, Set

from kafka_lite.common.time import Time
from kafka_lite.log.log import Log
from kafka_lite.log.log_append_info import LogAppendInfo
from kafka_lite.log.log_file_utils import CLEANED_FILE_SUFFIX
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.time_index import TimeIndex
from kafka_lite.record.record import NO_TIMESTAMP
from kafka_lite.record.record_filter import FilteredBatch


class CleanedSegment:
    """A segment whose files end in ``.cleaned``: it has no readers yet, and is deleted after a crash.

    Batches are collected and written together. Only the batch that gets the next index entry is appended on its own,
    so that the entry points to it and not to the first of many::

        batches   │ b │ b │ b │ b │ b │ b │ b │ b │ b │ ...
        appends   └──────────────┘└ 1 ┘└──────────┘└ 1 ┘
                  > index interval  ▲  > interval     ▲
                                    index entry       index entry
    """

    def __init__(self, log: Log, sources: Sequence[LogSegment], time: Time) -> None:
        """Create a segment for the records that remain from ``sources``. Raises OSError."""
        config = log.config
        base_offset = sources[0].base_offset
        # The sources may have a larger index interval, and the new index must not overflow, so the interval may grow.
        # Rewritten batches are hardly ever larger; twice the size is a safe bound.
        largest_size = 2 * sum(segment.size for segment in sources)
        entries = max(1, config.segment_index_bytes // TimeIndex.ENTRY.size)
        self._index_interval_bytes = max(config.index_interval_bytes, largest_size // entries)
        LogSegment.delete_if_exists(log.dir, base_offset, CLEANED_FILE_SUFFIX)
        try:
            self.segment = LogSegment.open(
                log.dir, base_offset, config, time, CLEANED_FILE_SUFFIX, self._index_interval_bytes
            )
        except OSError:
            LogSegment.delete_files(log.dir, base_offset, CLEANED_FILE_SUFFIX)  # the files that did fit on the disk
            raise
        self._last_modified_ms = sources[-1].log.last_modified_ms()
        self._aborted = [aborted for segment in sources for aborted in segment.txn_index.entries]
        self._collected: list[FilteredBatch] = []
        self._bytes_since_last_index_entry = 0

    def append(self, batch: FilteredBatch) -> None:
        """Add a batch. Raises OSError, or ValueError if its offset is too far from the base offset."""
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
        # The header of an empty batch keeps its timestamp, but there is no record with that timestamp to look up.
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

    def copy_aborted_transactions(self, removed_markers: Set[int]) -> None:
        """Copy the aborted transactions of the sources, except those whose markers were removed. Raises OSError.

        A reader that gets an aborted transaction drops what its producer wrote up to the marker, so an entry without a
        marker would make it drop the transactions that follow.
        """
        self.segment.txn_index.append([each for each in self._aborted if each.last_offset not in removed_markers])

    def complete(self) -> LogSegment:
        """Flush everything, and copy the modification time of the newest source: the messages are no newer."""
        self._write_collected()
        self.segment.on_become_inactive_segment()
        self.segment.flush()
        self.segment.set_last_modified_ms(self._last_modified_ms)
        return self.segment

    def discard(self) -> None:
        """Delete the files if possible; any that remain are deleted by the next cleaning or the next start."""
        with contextlib.suppress(OSError):
            self.segment.delete()


def _largest_timestamp(batch: FilteredBatch) -> int:
    return batch.max_timestamp if batch.messages_retained else NO_TIMESTAMP
