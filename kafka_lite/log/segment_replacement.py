"""Deletes segments, and replaces segments by a cleaned one; safe against a crash at any step.

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
    """Changes a log's set of segments in ways that delete files.

    ::

        step                          on disk                                          after a crash (SwapFiles)
        the cleaner writes            0.log  20.log  40.log   0.log.cleaned            undone: .cleaned is deleted
        1 .cleaned becomes .swap      0.log  20.log  40.log   0.log.swap               completed, from here on
        2 readers see the new one
        3 sources become .deleted     0.log.deleted  20.log.deleted ... 0.log.swap     completed
        4 .swap is dropped            0.log (the new one)                              done
        5 sources are removed, after file.delete.delay.ms, so that reads in progress can finish

    A segment has three files, so each step is three renames; step 1 is undone if only some of them were made. Files
    are flushed before they are renamed.

    It has no lock of its own: the log calls it under the log's lock.
    """

    def __init__(self, segments: LogSegments, producer_state: ProducerStateManager, scheduler: Scheduler) -> None:
        self._segments = segments
        self._producer_state = producer_state
        self._scheduler = scheduler

    def replace(self, new: LogSegment, old: Sequence[LogSegment], directory: Path, delete_delay_ms: int) -> None:
        """Replace ``old`` by ``new``, whose files end in .cleaned. Raises OSError."""
        try:
            new.change_file_suffixes(CLEANED_FILE_SUFFIX, SWAP_FILE_SUFFIX)
        except OSError:
            # If the .swap file stayed, a later start would swap it into a log that has changed since.
            new.delete()
            raise
        self._segments.replace(new, old)
        try:
            for segment in old:
                has_successor = segment.base_offset == new.base_offset
                self._retire(segment, directory, delete_delay_ms, with_snapshot=not has_successor)
            new.change_file_suffixes(SWAP_FILE_SUFFIX, "")
        except OSError as error:
            # Only a restart can complete this. A log stays in use after ENOSPC, so ENOSPC must not be raised here.
            raise OSError(errno.EIO, f"interrupted while replacing segments ({error.strerror})") from error
        # The replacement is complete, so this is outside the try: a lack of file descriptors, for example, must not
        # take the log directory offline.
        flush_file_or_directory(directory)

    def delete(self, segment: LogSegment, directory: Path, delete_delay_ms: int) -> None:
        """Delete a segment. Raises OSError."""
        self._segments.remove(segment.base_offset)
        self._retire(segment, directory, delete_delay_ms, with_snapshot=True)

    def _retire(self, segment: LogSegment, directory: Path, delete_delay_ms: int, *, with_snapshot: bool) -> None:
        """Rename a segment's files to .deleted and schedule their removal."""
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
