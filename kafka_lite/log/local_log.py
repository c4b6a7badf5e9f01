"""The segments of one log on this broker's disk: where they end, and up to where they are flushed.

Kafka 0.10.2: core/.../log/Log.scala; since 3.1 LocalLog · book 6.1.2
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import Time
from kafka_lite.log.fetch_data_info import FetchDataInfo
from kafka_lite.log.log_append_info import LogAppendInfo
from kafka_lite.log.log_cleaning_state import LogCleaningAbortedError
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.log.segment_replacement import SegmentReplacement


class LocalLog:
    """The half of a ``Log`` that knows files and positions, but not what the messages mean.

    ::

        00000000000000000020.log                      │ 20 ────────── 44 │
        00000000000000000045.log    (active)                             │ 45 ─────── 57 │
                                                                ▲                        ▲
                                                         recovery point         log end offset (LEO)

    Validation, leader epochs, producers and retention are left to the ``Log``, which also has the lock: all changes are
    made under it. ``read`` and ``flush`` need no lock. File system errors are raised as OSError; ``Log`` converts them.
    """

    def __init__(
        self,
        directory: Path,
        config: LogConfig,
        segments: LogSegments,
        end: LogOffsetMetadata,
        recovery_point: int,
        replacement: SegmentReplacement,
        time: Time,
    ) -> None:
        self.dir = directory
        self.config = config
        self.segments = segments
        self.next_offset_metadata = end
        """The offset of the next message and its position."""
        self.recovery_point = recovery_point
        """Everything below this offset is on disk."""
        self.last_flushed_ms = time.milliseconds()
        self._previous_end = end
        """Where the last append began: the position that most readers wait for."""
        self._replacement = replacement
        self._time = time

    @property
    def unflushed_messages(self) -> int:
        """Number of messages that may not be on disk yet."""
        return self.next_offset_metadata.message_offset - self.recovery_point

    # -- append and read ---------------------------------------------------------------------------------------------

    def append(self, info: LogAppendInfo, records: Buffer, aborted: Sequence[AbortedTxn]) -> None:
        """Append batches to the active segment, then advance the end. ``aborted``: transactions that they abort."""
        active = self.segments.active
        active.append(info, records, aborted)
        self._update_log_end_offset(info.last_offset + 1, active)

    def _update_log_end_offset(self, offset: int, active: LogSegment) -> None:
        """Let the log end at ``offset``, at the end of the active segment. Readers see everything below it."""
        self._previous_end = self.next_offset_metadata
        self.next_offset_metadata = LogOffsetMetadata(offset, active.base_offset, active.size)

    def read(self, start_offset: int, max_length: int, max_offset: int | None, min_one_message: bool) -> FetchDataInfo:
        """Read as ``Log.read`` does. Raises ApiError OFFSET_OUT_OF_RANGE if the offset is above the log end offset."""
        end = self.next_offset_metadata  # read once, since it may move in the meantime
        end_offset = end.message_offset
        if start_offset >= end_offset:
            if start_offset == end_offset:
                return FetchDataInfo(end)
            beyond = f"offset {start_offset} is beyond the log end offset {end_offset} of {self.dir.name}"
            raise Errors.OFFSET_OUT_OF_RANGE.exception(beyond)
        if max_offset is not None and max_offset >= end_offset:
            max_offset = None  # everything is committed: no need to look up the position
        newest = end.segment_base_offset
        last = self._previous_end
        # All messages of the segment may have been compacted away; then the offset is in a later one.
        for segment in self.segments.from_offset(start_offset):
            if segment.base_offset > newest:
                break
            visible = end.relative_position_in_segment if segment.base_offset == newest else segment.size
            known = last.segment_base_offset == segment.base_offset and last.message_offset <= start_offset
            place = last.relative_position_in_segment if known else 0
            found = segment.read(start_offset, max_length, max_offset, visible, min_one_message, place)
            if found is not None:
                return found
        return FetchDataInfo(end)

    # -- segments ----------------------------------------------------------------------------------------------------

    def roll(self, base_offset: int) -> LogSegment:
        """Start a new segment at ``base_offset``. The old one gets its last index entries and is trimmed."""
        segment = self._new_segment(base_offset)
        try:
            self.segments.active.on_become_inactive_segment()
        except OSError:
            segment.delete()
            raise
        self.segments.add(segment)
        # The offset is unchanged, but its position is now in the new segment.
        self._update_log_end_offset(self.next_offset_metadata.message_offset, segment)
        return segment

    def _new_segment(self, base_offset: int) -> LogSegment:
        LogSegment.delete_if_exists(self.dir, base_offset)
        try:
            return LogSegment.open(self.dir, base_offset, self.config, self._time)
        except OSError:
            LogSegment.delete_files(self.dir, base_offset)  # the files that did fit on the disk
            raise

    def delete_segment(self, segment: LogSegment) -> None:
        """Remove a segment from the log now, and its files after ``file.delete.delay.ms``."""
        self._replacement.delete(segment, self.dir, self.config.file_delete_delay_ms)

    def replace_segments(self, new: LogSegment, old: Sequence[LogSegment]) -> None:
        """Replace adjacent inactive segments by a cleaned one, as ``Log.replace_segments`` says."""
        if not set(old) <= set(self.segments) - {self.segments.active}:
            new.delete()
            raise LogCleaningAbortedError(f"segments of {self.dir.name} were deleted while they were being cleaned")
        self._replacement.replace(new, old, self.dir, self.config.file_delete_delay_ms)

    def truncate_to(self, target_offset: int) -> None:
        """Remove all messages from ``target_offset`` on, and the whole batch that contains it.

        The first segment must not begin above the offset.
        """
        for segment in [segment for segment in self.segments if segment.base_offset > target_offset]:
            self.delete_segment(segment)
        active = self.segments.active
        cut = active.batch_with(target_offset)
        active.truncate_to(target_offset)
        self._end_at(min(target_offset, cut.first_or_last_offset) if cut is not None else target_offset)

    def truncate_fully_and_start_at(self, new_offset: int) -> None:
        """Remove all segments and start again with an empty one at ``new_offset``."""
        for segment in list(self.segments):
            self.delete_segment(segment)
        self.segments.add(self._new_segment(new_offset))
        self._end_at(new_offset)

    def _end_at(self, offset: int) -> None:
        self._update_log_end_offset(offset, self.segments.active)
        self.recovery_point = min(self.recovery_point, offset)

    # -- flush and close ---------------------------------------------------------------------------------------------

    def flush(self, offset: int) -> None:
        """Flush the segments that may have unflushed messages below ``offset``."""
        for segment in self.segments.from_offset(self.recovery_point):
            if segment.base_offset < offset:
                segment.flush()

    def mark_flushed(self, offset: int) -> None:
        """Advance the recovery point to ``offset``, up to which the segments have been flushed."""
        # A truncation may have removed some of it in the meantime.
        flushed = min(offset, self.next_offset_metadata.message_offset)
        self.recovery_point = max(self.recovery_point, flushed)
        self.last_flushed_ms = self._time.milliseconds()

    def close(self) -> None:
        """Trim, flush and close all files."""
        for segment in self.segments:
            segment.close()

    def delete(self) -> None:
        """Delete all files and the directory."""
        for segment in self.segments:
            segment.delete()
        self.segments.clear()
        shutil.rmtree(self.dir, ignore_errors=False)

    def rename_dir(self, directory: Path) -> None:
        """Rename the directory; open files stay open."""
        os.rename(self.dir, directory)
        self.dir = directory
        for segment in self.segments:
            segment.update_directory(directory)
