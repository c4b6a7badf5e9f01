"""A recorded run of a search by time: which segment, which index, how much of the log. Book 10.2."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from chapters.ch10_advanced.figures.timestamp_drawings import HOUR_MS, NOON, open_hourly_log
from kafka_learn.recording.recorded_run import RecordedRun
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.watches import watch
from kafka_lite.log.files.file_message_set import FileMessageSet
from kafka_lite.log.log import Log
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.offset_index import OffsetIndex
from kafka_lite.log.time_index import TimeIndex


def offset_by_time() -> RecordedRun:
    """Two questions to a log of three segments: from hour 12 on, and from hour 99 on."""
    watches = [
        *watch(Log.fetch_offset_by_timestamp, show=("target_timestamp",)),
        *watch(LogSegment.find_offset_by_timestamp, show=("timestamp",)),
        *watch(TimeIndex.lookup, show=("target_timestamp",)),
        *watch(OffsetIndex.lookup, show=("target_offset",)),
        *watch(FileMessageSet.search_for_timestamp, show=("target_timestamp", "starting_position")),
        *watch(FileMessageSet.load, show=()),
    ]
    lanes = ("main", "Log", "LogSegment", "TimeIndex", "OffsetIndex", "FileMessageSet")
    with tempfile.TemporaryDirectory() as folder:
        log = open_hourly_log(Path(folder) / "demo-0", [[0, 4, 2, 5], [6, 8, 7, 11, 10, 9, 13, 12], [14, 16]])
        with Recording(watches, title="Two searches by time") as recording:
            log.fetch_offset_by_timestamp(NOON + 12 * HOUR_MS)
            log.fetch_offset_by_timestamp(NOON + 99 * HOUR_MS)
        log.close()
    return recording.run.recorded_in(__name__, "offset_by_time", lanes=lanes)


RUNS: dict[str, Callable[[], RecordedRun]] = {"offset-by-time": offset_by_time}
