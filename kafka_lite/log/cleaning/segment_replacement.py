"""Takes segments out of a log, and puts a cleaned one in the place of its sources; a crash may come at any step.

Kafka 0.10.2: core/.../log/Log.scala (replaceSegments, asyncDeleteSegment); since 3.1 LocalLog · book 6.1.6
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Sequence
from pathlib import Path

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.log.log_file_utils import (
    CLEANED_FILE_SUFFIX,
    DELETED_FILE_SUFFIX,
    SWAP_FILE_SUFFIX,
    flush_file_or_directory,
)
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments
from kafka_lite.log.producers.producer_state_manager import ProducerStateManager

logger = logging.getLogger(__name__)


class SegmentReplacement:
    """The changes of a log's set of segments that take files away.

    ::

        step                          on disk                                          after a crash (SwapFiles)
        the cleaner writes            0.log  20.log  40.log   0.log.cleaned            undone: .cleaned goes
        1 .cleaned becomes .swap      0.log  20.log  40.log   0.log.swap               completed, from here on
        2 readers see the new one
        3 sources become .deleted     0.log.deleted  20.log.deleted ... 0.log.swap     completed
        4 .swap goes                  0.log (the new one)                              done
        5 sources are removed, after file.delete.delay.ms: reads that have begun can end

    A segment is three files, so each step has three renames; after half of step 1 it is undone. What is renamed has
    been forced to disk before.

    It has no lock: the log calls it under its own.
    """

    def __init__(self, segments: LogSegments, producer_state: ProducerStateManager, scheduler: Scheduler) -> None:
        self._segments = segments
        self._producer_state = producer_state
        self._scheduler = scheduler

    def replace(self, new: LogSegment, old: Sequence[LogSegment], directory: Path, delete_delay_ms: int) -> None:
        """Put ``new``, whose files end in .cleaned, in the place of ``old``. Raises OSError."""
        try:
            new.change_file_suffixes(CLEANED_FILE_SUFFIX, SWAP_FILE_SUFFIX)
        except OSError:
            # If it stayed, a later start would put it in the place of what the log has by then.
            new.delete()
            raise
        self._segments.replace(new, old)
        try:
            for segment in old:
                has_successor = segment.base_offset == new.base_offset
                self._retire(segment, directory, delete_delay_ms, with_snapshot=not has_successor)
            new.change_file_suffixes(SWAP_FILE_SUFFIX, "")
        except OSError as error:
            # From here only the next start can go on. A full disk, after which a log stays in use, must not hide that.
            raise OSError(errno.EIO, f"stopped in the midst of replacing segments ({error.strerror})") from error
        # All is done. That no file can be opened for this, say, is no reason to give up the log directory.
        flush_file_or_directory(directory)

    def delete(self, segment: LogSegment, directory: Path, delete_delay_ms: int) -> None:
        """Take a segment out. Raises OSError."""
        self._segments.remove(segment.base_offset)
        self._retire(segment, directory, delete_delay_ms, with_snapshot=True)

    def _retire(self, segment: LogSegment, directory: Path, delete_delay_ms: int, *, with_snapshot: bool) -> None:
        """Rename the files of a segment, and have them removed later."""
        logger.info("Scheduling log segment %d of %s for deletion", segment.base_offset, directory.name)
        segment.change_file_suffixes("", DELETED_FILE_SUFFIX)
        snapshot = None
        if with_snapshot:
            snapshot = self._producer_state.remove_and_mark_snapshot_for_deletion(segment.base_offset)

        def remove() -> None:
            segment.delete()
            if snapshot is not None:
                snapshot.unlink(missing_ok=True)

        self._scheduler.schedule("delete-file", remove, delete_delay_ms)
