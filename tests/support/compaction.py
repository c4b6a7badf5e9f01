"""Logs to compact, and a disk that crashes at a chosen step."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from kafka_lite.common.rates.throttler import Throttler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.abstract_index import AbstractIndex
from kafka_lite.log.cleaning.cleaner import Cleaner
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.cleaning.cleaner_stats import CleanerStats
from kafka_lite.log.cleaning.log_cleaner_manager import LogCleanerManager
from kafka_lite.log.cleaning.log_to_clean import LogToClean
from kafka_lite.log.cleaning.skimpy_offset_map import SkimpyOffsetMap
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.log import Log
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import Record
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.records import batches
from tests.support.logs import open_log

Pair = tuple[bytes | None, bytes | None]

DAY_MS = 24 * 3600 * 1000

FORMATS = {0: "0.9.0", 1: "0.10.2", 2: "3.0-IV1"}
"""``message.format.version`` by magic."""


def keyed_set(
    *pairs: Pair,
    timestamp: int = 1_000,
    magic: int = 2,
    compression: CompressionType = CompressionType.NONE,
    **producer: Any,
) -> bytearray:
    """What a producer sends: one record per (key, value), all with the same timestamp."""
    builder = MemoryRecordsBuilder(magic, compression, **producer)
    for key, value in pairs:
        builder.append(timestamp, key, value)
    return bytearray(builder.build())


def append(log: Log, *pairs: Pair, **kwargs: Any) -> int:
    """Append a set in the log's format; returns its first offset."""
    return log.append_as_leader(keyed_set(*pairs, **{"magic": log.config.magic, **kwargs}), 0).first_offset


def new_cleaner(
    time: MockTime,
    *,
    slots: int = 1_000,
    check_done: Callable[[TopicPartition], None] = lambda _: None,
    **config: Any,
) -> Cleaner:
    """A cleaner with space for ``slots`` keys, at a load factor of 1."""
    cleaner_config = CleanerConfig(**{"dedupe_buffer_load_factor": 1.0, **config})
    offset_map = SkimpyOffsetMap(slots * SkimpyOffsetMap.SLOT.size)
    throttler = Throttler(cleaner_config.max_io_bytes_per_second, time)
    return Cleaner(0, offset_map, cleaner_config, throttler, time, check_done)


def new_manager(log: Log, time: MockTime) -> LogCleanerManager:
    """A manager of one log."""
    return LogCleanerManager([log.dir.parent], {log.topic_partition: log}, LogDirFailureChannel(), time)


def clean(log: Log, time: MockTime, first_dirty_offset: int = 0, **cleaner: Any) -> tuple[int, CleanerStats]:
    """Clean a log up to its active segment."""
    base_offset = log.active_segment.base_offset
    cleanable = LogToClean(log.topic_partition, log, first_dirty_offset, base_offset)
    return new_cleaner(time, **cleaner).clean(cleanable)


def all_batches(log: Log) -> list[RecordBatch]:
    """All batches of all segments, as on disk."""
    return [batch for segment in log.segments for batch in batches(segment.log.read(0, segment.size).to_bytes())]


def all_records(log: Log) -> list[Record]:
    """All records of all segments."""
    return [record for batch in all_batches(log) for record in batch.records()]


def contents(log: Log) -> list[tuple[int, bytes | None, bytes | None]]:
    """(offset, key, value) of all records."""
    return [(record.offset, record.key, record.value) for record in all_records(log)]


def replayed(records: Sequence[Record]) -> dict[bytes | None, bytes]:
    """What a reader of all records ends up with: the newest value of every key that has one."""
    state: dict[bytes | None, bytes] = {}
    for record in records:
        if record.value is None:
            state.pop(record.key, None)
        else:
            state[record.key] = record.value
    return state


class Crash(BaseException):
    """The process has crashed."""


@contextmanager
def no_waiting_for_the_disk() -> Iterator[None]:
    """Leave out fsync: it matters if the machine crashes, not if a process does."""
    with mock.patch.object(os, "fsync"), mock.patch.object(AbstractIndex, "flush"):
        yield


_STEPS = ("replace", "rename", "unlink", "pwrite", "ftruncate", "truncate", "fsync", "utime")


@contextmanager
def crash_at(step: int | None) -> Iterator[list[str]]:
    """Crash the process at its ``step``-th change to a file (from 0; None: never); yields the list of steps so far.

    From then on no file changes any more, whatever ``except`` and ``finally`` try. A write that crashes is half done.
    Only changes of the calling thread count: another test's broker may run in this process.
    """
    made: list[str] = []
    dying = threading.get_ident()

    def hooked(name: str) -> Callable[..., Any]:
        original = getattr(os, name)

        def hook(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != dying:
                return original(*args, **kwargs)
            if step is not None and len(made) >= step:
                if len(made) == step and name == "pwrite":
                    fd, data, position = args
                    original(fd, memoryview(data)[: len(data) // 2], position)
                made.append("crash")
                raise Crash
            made.append(f"{name} {Path(args[0]).name if isinstance(args[0], str | Path) else ''}")
            if name == "fsync":
                return None  # data in the page cache survives the process, and fsync takes long
            return original(*args, **kwargs)

        return hook

    with mock.patch.multiple(os, **{name: hooked(name) for name in _STEPS}):
        yield made


def compacted(tmp_path: Path, time: MockTime, **config: Any) -> Log:
    return open_log(tmp_path, time=time, **{"cleanup_policy": "compact", "delete_retention_ms": DAY_MS, **config})


def values_of(log: Log) -> dict[int, bytes | None]:
    return {record.offset: record.value for record in all_records(log)}


def dirty(log: Log, key: bytes) -> None:
    """Append a record and roll, so that there is a dirty segment."""
    append(log, (key, b"v"))
    log.roll()


def cleanable(tmp_path: Path, time: MockTime, name: str = "topic-0", segments: int = 2, **config: Any) -> Log:
    """A log of closed segments of one message each, and an empty active one."""
    log = open_log(tmp_path, time=time, name=name, **{"cleanup_policy": "compact", **config})
    for n in range(segments):
        append(log, (b"%d" % n, b"v"), timestamp=time.milliseconds())
        log.roll()
    return log


def manager_of(tmp_path: Path, time: MockTime, *logs: Log) -> LogCleanerManager:
    return LogCleanerManager([tmp_path], {log.topic_partition: log for log in logs}, LogDirFailureChannel(), time)
