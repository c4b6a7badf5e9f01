"""The parts that the binary data of subscriptions and assignments have in common.

Kafka 0.10.2: java.io.DataInput and DataOutput; streams/.../processor/TaskId.java (writeTo, readFrom) · book 9.1.3
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.errors import TaskAssignmentError
from kafka_lite.streams.task_id import TaskId


class InfoReader:
    """Reads big-endian integers and texts, one after the other. Raises TaskAssignmentError if the data is too short."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes."""
        end = self._position + size
        if size < 0 or end > len(self._data):
            raise TaskAssignmentError(f"assignment data ends after {len(self._data)} bytes, {end} are needed")
        taken = self._data[self._position : end]
        self._position = end
        return taken

    def int32(self) -> int:
        """A signed integer of four bytes."""
        return int.from_bytes(self.take(4), "big", signed=True)

    def utf(self) -> str:
        """A text with its length in two bytes: Java's ``writeUTF``."""
        return self.take(int.from_bytes(self.take(2), "big")).decode()

    def task_id(self) -> TaskId:
        """A task id: two integers."""
        return TaskId(self.int32(), self.int32())

    def partitions(self) -> frozenset[TopicPartition]:
        """A count, then topics with partition numbers."""
        return frozenset(TopicPartition(self.utf(), self.int32()) for _ in range(self.int32()))


def int32(value: int) -> bytes:
    """A signed integer of four bytes."""
    return struct.pack(">i", value)


def utf(text: str) -> bytes:
    """A text with its length in two bytes."""
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def task_ids(ids: Iterable[TaskId]) -> bytes:
    """A count, then the ids."""
    listed = list(ids)
    return int32(len(listed)) + b"".join(struct.pack(">ii", *task_id) for task_id in listed)


def partitions(of: Iterable[TopicPartition]) -> bytes:
    """A count, then the partitions in order."""
    listed = sorted(of)
    return int32(len(listed)) + b"".join(utf(topic) + int32(partition) for topic, partition in listed)
