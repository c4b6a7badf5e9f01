"""Copies of logs that are being moved to another log directory.

Kafka 1.1: core/.../log/LogManager.scala (futureLogs, replaceCurrentWithFutureLog), KIP-113; 0.10 moves no logs
· book 6.1.5
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_append_info import UnexpectedAppendOffsetError
from kafka_lite.log.log_file_utils import FUTURE_DIR_SUFFIX

COPY_BYTES = 1024 * 1024
"""How much is copied at a time."""


class FutureLogs:
    """The copies, by partition::

        log.dirs    /disk1                   /disk2
                    topic-0/                 topic-0.9f86d081…-future/     the copy is behind the log
                    topic-0.4d1c0a2e…-delete/    topic-0/                  it has replaced the log

    ``lock`` is held while a copy grows and while a log is truncated, so that a copy never has what its log has lost.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._logs: dict[TopicPartition, Log] = {}

    def __contains__(self, topic_partition: object) -> bool:
        return topic_partition in self._logs

    def all(self) -> list[Log]:
        """All copies."""
        return list(self._logs.values())

    def get(self, topic_partition: TopicPartition) -> Log | None:
        """The copy of a partition's log, if it is being moved."""
        return self._logs.get(topic_partition)

    def add(self, log: Log) -> None:
        """Keep a copy, whose directory has the suffix ``-future``."""
        assert log.dir.name.endswith(FUTURE_DIR_SUFFIX), log.dir
        self._logs[log.topic_partition] = log

    def pop(self, topic_partition: TopicPartition) -> Log | None:
        """Forget a copy and return it."""
        return self._logs.pop(topic_partition, None)

    def take_offline(self, directory: Path) -> None:
        """Forget the copies in a failed directory."""
        for log in self.all():
            if log.dir.parent == directory:
                self.pop(log.topic_partition)

    def truncate_to(self, topic_partitions: Iterable[TopicPartition], offset: int) -> None:
        """Truncate copies as their logs."""
        for topic_partition in topic_partitions:
            copy = self.get(topic_partition)
            if copy is not None:
                copy.truncate_to(offset)


def copy_next(current: Log, future: Log) -> int:
    """Append the next records of a log to its copy and return their size in bytes; 0 if the copy has all of them.

    The copy starts at the log's start offset, even if that advances. Raises ApiError KAFKA_STORAGE_ERROR.
    """
    if future.log_end_offset < current.log_start_offset:
        future.truncate_fully_and_start_at(current.log_start_offset)
    records = current.read(future.log_end_offset, COPY_BYTES, None, min_one_message=True).records
    payload = records if isinstance(records, bytes | bytearray | memoryview) else records.to_bytes()
    if payload:
        _append(future, payload)
    future.maybe_increment_log_start_offset(current.log_start_offset)
    return len(payload)


def _append(future: Log, payload: bytes | bytearray | memoryview) -> None:
    try:
        future.append_as_follower(payload)
    except UnexpectedAppendOffsetError as error:
        if future.log_start_offset != future.log_end_offset or not error.is_within_first_batches(future.log_end_offset):
            raise
        future.truncate_fully_and_start_at(error.first_offset)  # the log starts within a batch
        future.append_as_follower(payload)
