"""The records of MirrorMaker 2's own topics, as Java's Struct writes them.

::

    topic            key                                              value
    heartbeats       source STRING, target STRING                     version INT16 (0), timestamp INT64
    checkpoints      group STRING, topic STRING, partition INT32      version INT16 (0), upstream INT64,
                                                                      downstream INT64, metadata STRING
    offset syncs     topic STRING, partition INT32                    upstream INT64, downstream INT64

A STRING is its length in bytes as INT16, then UTF-8. All numbers are big-endian.

Kafka 2.4: connect/mirror-client/.../connect/mirror/Heartbeat.java (Heartbeat), Checkpoint.java
(Checkpoint); connect/mirror/.../connect/mirror/OffsetSync.java (OffsetSync) · book 8.1.1
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Self

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition

VERSION = 0


class MirrorRecordError(KafkaError):
    """Bytes that are no record of MirrorMaker 2, or one of an unknown version."""


@dataclass(frozen=True)
class Heartbeat:
    """A sign of life of a mirror. Copied from cluster to cluster, it shows that, and how fast, records get there."""

    source_cluster_alias: str
    target_cluster_alias: str
    timestamp_ms: int

    def key(self) -> bytes:
        """The record's key."""
        return _string(self.source_cluster_alias) + _string(self.target_cluster_alias)

    def value(self) -> bytes:
        """The record's value."""
        return struct.pack(">hq", VERSION, self.timestamp_ms)

    @classmethod
    def decode(cls, key: bytes, value: bytes) -> Self:
        """Raises MirrorRecordError."""
        names, rest = _Reader(key), _Reader(value)
        rest.expect_version()
        return cls(names.string(), names.string(), rest.int64())


@dataclass(frozen=True)
class Checkpoint:
    """How far a group of the source had come, in offsets of both clusters."""

    group: str
    topic_partition: TopicPartition
    """In the target."""
    upstream_offset: int
    downstream_offset: int
    metadata: str

    def key(self) -> bytes:
        """The record's key."""
        return _string(self.group) + _partition(self.topic_partition)

    def value(self) -> bytes:
        """The record's value."""
        offsets = struct.pack(">hqq", VERSION, self.upstream_offset, self.downstream_offset)
        return offsets + _string(self.metadata)

    @classmethod
    def decode(cls, key: bytes, value: bytes) -> Self:
        """Raises MirrorRecordError."""
        names, rest = _Reader(key), _Reader(value)
        rest.expect_version()
        return cls(names.string(), names.topic_partition(), rest.int64(), rest.int64(), rest.string())


@dataclass(frozen=True)
class OffsetSync:
    """The same record's offset in both clusters."""

    topic_partition: TopicPartition
    """In the source."""
    upstream_offset: int
    downstream_offset: int

    def key(self) -> bytes:
        """The record's key."""
        return _partition(self.topic_partition)

    def value(self) -> bytes:
        """The record's value. It has no version."""
        return struct.pack(">qq", self.upstream_offset, self.downstream_offset)

    @classmethod
    def decode(cls, key: bytes, value: bytes) -> Self:
        """Raises MirrorRecordError."""
        offsets = _Reader(value)
        return cls(_Reader(key).topic_partition(), offsets.int64(), offsets.int64())


def _string(text: str) -> bytes:
    data = text.encode()
    if len(data) > 0x7FFF:
        raise MirrorRecordError(f"a STRING of {len(data)} bytes is too long")
    return struct.pack(">h", len(data)) + data


def _partition(partition: TopicPartition) -> bytes:
    return _string(partition.topic) + struct.pack(">i", partition.partition)


class _Reader:
    """Reads fields from the beginning on. As in Java, bytes that are left over do not matter."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def string(self) -> str:
        """Raises MirrorRecordError, as the others do."""
        length = self._number(">h")
        end = self._at + length
        if not self._at <= end <= len(self._data):
            raise MirrorRecordError(f"a STRING of {length} bytes, of which {len(self._data) - self._at} are there")
        data, self._at = self._data[self._at : end], end
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise MirrorRecordError(f"a STRING that is not UTF-8: {error}") from error

    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.string(), self._number(">i"))

    def int64(self) -> int:
        return self._number(">q")

    def expect_version(self) -> None:
        if (version := self._number(">h")) != VERSION:
            raise MirrorRecordError(f"version {version} is not known")

    def _number(self, layout: str) -> int:
        try:
            (number,) = struct.unpack_from(layout, self._data, self._at)
        except struct.error as error:
            raise MirrorRecordError(f"{len(self._data)} bytes are too few: {error}") from error
        self._at += struct.calcsize(layout)
        return int(number)
