"""Logs and batches for tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import Record
from kafka_lite.record.records import batches


def record_set(
    *values: bytes,
    timestamp: int = 1_000,
    magic: int = 2,
    compression: CompressionType = CompressionType.NONE,
    base_offset: int = 0,
    leader_epoch: int = -1,
) -> bytearray:
    """A set of one record per value, as a producer would send it; timestamps count up by 1 ms."""
    builder = MemoryRecordsBuilder(magic, compression, base_offset=base_offset, partition_leader_epoch=leader_epoch)
    for index, value in enumerate(values):
        builder.append(timestamp + index, b"key", value)
    return bytearray(builder.build())


def open_log(
    parent: Path,
    *,
    time: MockTime | None = None,
    recovery_point: int = 0,
    log_start_offset: int = 0,
    had_clean_shutdown: bool = False,
    failures: LogDirFailureChannel | None = None,
    name: str = "topic-0",
    producer_config: ProducerStateManagerConfig | None = None,
    **config: object,
) -> Log:
    """The log in ``parent/name``; configuration keys have ``_`` for ``.``, and small index files by default."""
    time = time or MockTime()
    props: dict[str, object] = {"segment.index.bytes": 4096}
    props.update({key.replace("_", "."): value for key, value in config.items()})
    return Log(
        parent / name,
        LogConfig(props),
        recovery_point,
        MockScheduler(time),
        time,
        log_start_offset=log_start_offset,
        had_clean_shutdown=had_clean_shutdown,
        producer_config=producer_config,
        log_dir_failure_channel=failures,
    )


def read_records(log: Log, start: int | None = None, max_bytes: int = 1 << 20) -> list[Record]:
    """All records from an offset (by default the log start offset) to the end, with as many reads as necessary."""
    offset = log.log_start_offset if start is None else start
    found: list[Record] = []
    while offset < log.log_end_offset:
        data = log.read(offset, max_bytes, min_one_message=True)
        read = list(batches(to_bytes(data.records)))
        if not read:
            break
        found += [record for batch in read for record in batch.records() if record.offset >= offset]
        offset = read[-1].next_offset  # as consumers do: compaction may have left no record at the end of a batch
    return found


def note_syncs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files and directories that are forced to disk from now on, in order."""
    synced, fsync = list[str](), os.fsync

    def note(fd: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{fd}")).name)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", note)
    return synced


def to_bytes(part: object) -> bytes:
    """The bytes of a Part."""
    return bytes(part) if isinstance(part, bytes | bytearray | memoryview) else part.to_bytes()  # type: ignore[attr-defined,no-any-return]
