"""A checkpoint of one offset per partition, for all partitions of a log directory.

Kafka 0.10.2: core/.../server/OffsetCheckpoint.scala · book 6.1.5
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.checkpoint_file import CheckpointFile, parse_int32, parse_int64

RECOVERY_POINT_CHECKPOINT_FILE = "recovery-point-offset-checkpoint"
"""Everything below is flushed: recovery starts here. Written by the log manager."""
LOG_START_OFFSET_CHECKPOINT_FILE = "log-start-offset-checkpoint"
"""Records below were deleted by DeleteRecords, though their segment may still exist. Written by the log manager."""
HIGH_WATERMARK_CHECKPOINT_FILE = "replication-offset-checkpoint"
"""The high watermarks. Written by the replica manager."""
CLEANER_OFFSET_CHECKPOINT_FILE = "cleaner-offset-checkpoint"
"""Everything below has been compacted. Written by the log cleaner manager."""

_Entry = tuple[TopicPartition, int]


class OffsetCheckpointFile:
    """A map TopicPartition → offset in a file: ``topic partition offset`` per line."""

    def __init__(self, file: Path) -> None:
        self._checkpoint: CheckpointFile[_Entry] = CheckpointFile(file, _to_line, _from_line)

    @property
    def file(self) -> Path:
        """Path of the checkpoint file."""
        return self._checkpoint.file

    def write(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace all offsets. Raises OSError."""
        self._checkpoint.write(offsets.items())

    def read(self) -> dict[TopicPartition, int]:
        """Return all offsets. Raises CheckpointFormatError or OSError."""
        return dict(self._checkpoint.read())


def _to_line(entry: _Entry) -> str:
    (topic, partition), offset = entry
    return f"{topic} {partition} {offset}"


def _from_line(line: str) -> _Entry:
    topic, partition, offset = line.split()
    return TopicPartition(topic, parse_int32(partition)), parse_int64(offset)
