"""The checkpoint of a partition's leader epochs and their start offsets.

Kafka 0.11 and later: core/.../server/checkpoints/LeaderEpochCheckpointFile · book 6.2.2
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from kafka_lite.log.checkpoints.checkpoint_file import CheckpointFile, parse_int32, parse_int64

LEADER_EPOCH_CHECKPOINT_FILE = "leader-epoch-checkpoint"


class EpochEntry(NamedTuple):
    """A leader epoch and the offset of the first message appended in it."""

    epoch: int
    start_offset: int


class LeaderEpochCheckpointFile:
    """The file ``leader-epoch-checkpoint`` in a partition's directory: ``epoch start_offset`` per line, ascending."""

    def __init__(self, directory: Path) -> None:
        file = directory / LEADER_EPOCH_CHECKPOINT_FILE
        self._checkpoint: CheckpointFile[EpochEntry] = CheckpointFile(file, _to_line, _from_line)

    def set_directory(self, directory: Path) -> None:
        """Use the new directory after the partition's directory has been renamed."""
        self._checkpoint.file = directory / LEADER_EPOCH_CHECKPOINT_FILE

    def write(self, entries: Iterable[EpochEntry], sync: bool = True) -> None:
        """Replace all entries. Raises OSError."""
        self._checkpoint.write(entries, sync)

    def read(self) -> list[EpochEntry]:
        """Return all entries. Raises CheckpointFormatError or OSError."""
        return self._checkpoint.read()


def _to_line(entry: EpochEntry) -> str:
    return f"{entry.epoch} {entry.start_offset}"


def _from_line(line: str) -> EpochEntry:
    epoch, start_offset = line.split()
    return EpochEntry(parse_int32(epoch), parse_int64(start_offset))
