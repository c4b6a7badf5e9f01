"""Recorded runs of a single log, without a broker around it: append and roll, read, recover, compact.

Each returns what was recorded of the broker's own classes on files in a temporary folder; see ``runs`` for how they
are shown. The network's part of the same is recorded there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from chapters.ch06_storage.figures.compaction_drawings import COMPACTED, EXAMPLE, append_pairs, clean
from chapters.ch06_storage.figures.log_drawings import example_log, fill, open_log
from kafka_learn.recording.broker_watches import watch_files
from kafka_learn.recording.recorded_run import RecordedRun
from kafka_learn.recording.recorder import Recording, Watch
from kafka_learn.recording.watches import watch
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.log.cleaning.cleaned_segment import CleanedSegment
from kafka_lite.log.cleaning.cleaner import Cleaner
from kafka_lite.log.cleaning.skimpy_offset_map import SkimpyOffsetMap
from kafka_lite.log.files.file_message_set import FileMessageSet
from kafka_lite.log.loading.log_loader import LogLoader
from kafka_lite.log.loading.swap_files import SwapFiles
from kafka_lite.log.local_log import LocalLog
from kafka_lite.log.log import Log
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.managing.log_dirs_loader import LogDirsLoader
from kafka_lite.log.offset_index import OffsetIndex
from kafka_lite.log.segment_replacement import SegmentReplacement
from kafka_lite.log.validation.log_validator import LogValidator


def _recorded(
    name: str, title: str, watches: list[Watch], lanes: tuple[str, ...], scene: Callable[[], object]
) -> RecordedRun:
    with Recording(watches, title=title) as recording:
        scene()
    return recording.run.recorded_in(__name__, name, lanes=lanes)


def append_and_roll() -> RecordedRun:
    """Two appends: the first fits into the active segment, the second does not."""
    watches = [
        *watch_files(),
        *watch(Log.append_as_leader, LogValidator.validate, show=("records",)),
        *watch(LogSegment.should_roll, show=("size_in_bytes",)),
        *watch(Log.roll, LocalLog.roll, LogSegment.on_become_inactive_segment, LocalLog._update_log_end_offset),
        *watch(LocalLog.append, LogSegment.append, show=("records",)),
    ]
    lanes = ("main", "Log", "LogValidator", "LocalLog", "LogSegment", "FileMessageSet", "OffsetIndex", "TimeIndex")
    with example_log() as log:
        fill(log, 1)
        return _recorded("append_and_roll", "Two appends, the second rolls", watches, lanes, lambda: fill(log, 2))


def read_from_two_segments() -> RecordedRun:
    """Two reads, one after the other: the first ends with its segment, though its limit allows more."""
    watches = [
        *watch(Log.read, show=("start_offset", "max_length", "max_offset")),
        *watch(LogSegment.read, show=("start_offset", "max_position")),
        *watch(LogSegment.translate_offset, show=("offset",)),
        *watch(OffsetIndex.lookup, show=("target_offset",)),
        *watch(FileMessageSet.search_for_offset_with_size, show=("target_offset", "starting_position")),
        *watch_files(),
    ]
    lanes = ("main", "Log", "LogSegment", "OffsetIndex", "FileMessageSet")

    def scene(log: Log) -> None:
        log.read(4, 1 << 20)
        log.read(6, 1 << 20, max_offset=9)

    with example_log() as log:
        fill(log, 4)
        return _recorded("read_from_two_segments", "Two reads", watches, lanes, lambda: scene(log))


def start_after_a_crash() -> RecordedRun:
    """A broker starts over a log whose last batch is torn, and whose first segment was flushed."""
    watches = [
        *watch(LogManager.startup, show=()),
        *watch(LogDirsLoader._load_logs_in, show=()),
        *watch(LogLoader.load, LogLoader._load_segment_files, LogLoader._recover_unflushed_segments, show=()),
        *watch(SwapFiles.remove_temporary_files, SwapFiles.complete_swaps, show=()),
        *watch(LogSegment.sanity_check, show=()),
        *watch(LogSegment.recover, show=()),
        *watch(FileMessageSet.truncate_to, show=("target_size",)),
    ]
    lanes = ("main", "LogManager", "LogDirsLoader", "LogLoader", "SwapFiles", "LogSegment", "FileMessageSet")
    time = MockTime()
    with tempfile.TemporaryDirectory() as folder:
        disk = Path(folder) / "disk1"
        log = open_log(disk / "demo-0")
        fill(log, 4)
        with log.active_segment.log.file.open("r+b") as file:
            file.truncate(log.active_segment.size - 70)
        (disk / "recovery-point-offset-checkpoint").write_text("0\n1\ndemo 0 6\n", encoding="utf-8")
        manager = LogManager([disk], {}, log.config, MockScheduler(time), time)
        with quiet("kafka_lite.log"):
            run = _recorded(
                "start_after_a_crash", "The start after a crash", watches, lanes, lambda: manager.startup()
            )  # looked up when it is called: then it is the watched one
        manager.shutdown()
    return run


def clean_a_log() -> RecordedRun:
    """The cleaning of two small segments: the map first, then a copy of each, then the swap."""
    watches = [
        *watch(Cleaner.clean, show=()),
        *watch(Cleaner.build_offset_map, show=("start", "end")),
        *watch(SkimpyOffsetMap.put, show=("key", "offset")),
        *watch(Cleaner._clean_segments, show=()),
        *watch(CleanedSegment.append, CleanedSegment.complete, show=()),
        *watch(Log.replace_segments, show=()),
        *watch(SegmentReplacement.replace, show=()),
        *watch(LogSegment.change_file_suffixes, show=("old_suffix", "new_suffix")),
    ]
    lanes = ("main", "Cleaner", "SkimpyOffsetMap", "CleanedSegment", "Log", "SegmentReplacement", "LogSegment")
    with example_log(COMPACTED) as log:
        append_pairs(log, EXAMPLE)
        return _recorded("clean_a_log", "A log is cleaned", watches, lanes, lambda: clean(log))


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "append-and-roll": append_and_roll,
    "read-from-two-segments": read_from_two_segments,
    "start-after-a-crash": start_after_a_crash,
    "clean-a-log": clean_a_log,
}
