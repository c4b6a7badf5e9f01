"""Completes or undoes, at start-up, compactions and deletions that a crash interrupted.

Kafka 0.10.2: core/.../log/Log.scala (loadSegmentFiles, completeSwapOperations); since 3.0 LogLoader · book 6.1.6
"""

from __future__ import annotations

import logging
from pathlib import Path

from kafka_lite.common.time import Time
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_file_utils import (
    CLEANED_FILE_SUFFIX,
    DELETED_FILE_SUFFIX,
    LOG_FILE_SUFFIX,
    SWAP_FILE_SUFFIX,
    offset_from_file,
    without_suffix,
)
from kafka_lite.log.log_segment import LogSegment

logger = logging.getLogger(__name__)


class SwapFiles:
    """Completes or undoes what ``SegmentReplacement`` was doing when the broker died."""

    def __init__(self, directory: Path, config: LogConfig, time: Time) -> None:
        self._dir = directory
        self._config = config
        self._time = time

    def remove_temporary_files(self) -> None:
        """Delete the files of incomplete compactions and of deleted segments. Raises OSError."""
        cleaned = [file for file in self._files() if file.name.endswith(CLEANED_FILE_SUFFIX)]
        # The three files of a segment become .swap one after another; when a segment is split because it is too large,
        # so do its parts, from last to first. So .swap files at or after the offset of a .cleaned file are incomplete.
        first_cleaned = min((offset_from_file(file) or 0 for file in cleaned), default=None)
        for file in self._files():
            if file.name.endswith((DELETED_FILE_SUFFIX, CLEANED_FILE_SUFFIX)):
                file.unlink()
            elif file.name.endswith(SWAP_FILE_SUFFIX) and first_cleaned is not None:
                offset = offset_from_file(file)
                if offset is not None and offset >= first_cleaned:
                    file.unlink()

    def complete_swaps(self) -> None:
        """Replace the segments that completed compactions cover. Raises OSError."""
        for swap_log in self._files():
            base_offset = offset_from_file(swap_log)
            if base_offset is None or not swap_log.name.endswith(LOG_FILE_SUFFIX + SWAP_FILE_SUFFIX):
                continue
            logger.info("Found %s from an interrupted swap operation, completing it", swap_log)
            self._delete_files_between(base_offset, self._end_of_swap(base_offset))
        for swap in self._files():
            if swap.name.endswith(SWAP_FILE_SUFFIX):
                swap.replace(without_suffix(swap, SWAP_FILE_SUFFIX))

    def _files(self) -> list[Path]:
        return sorted(file for file in self._dir.iterdir() if file.is_file())

    def _end_of_swap(self, base_offset: int) -> int:
        """Return the offset after the last message of a .swap file, and rebuild its indexes."""
        segment = LogSegment.open(self._dir, base_offset, self._config, self._time, SWAP_FILE_SUFFIX)
        segment.recover()
        end = segment.read_next_offset()
        segment.close()
        return end

    def _delete_files_between(self, first: int, end: int) -> None:
        """Delete the sources. An empty source beyond ``end`` may remain, which is harmless."""
        for file in self._files():
            offset = offset_from_file(file)
            if offset is not None and not file.name.endswith(SWAP_FILE_SUFFIX) and first <= offset < end:
                file.unlink()
