"""The file with the offsets up to which the stores of a task have their changelogs.

Kafka 0.10.2: streams/.../state/internals/OffsetCheckpoint.java · book 9.1.4
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.errors import ProcessorStateError

logger = logging.getLogger(__name__)

VERSION = 0


class OffsetCheckpoint:
    """Lines of text; a new file replaces the old one as a whole::

    0                              version
    1                              number of entries
    app-counts-changelog 0 42      topic, partition, offset of the next record
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Write and flush the file. Raises OSError."""
        lines = [f"{VERSION}", f"{len(offsets)}"]
        lines += [f"{topic} {partition} {offset}" for (topic, partition), offset in sorted(offsets.items())]
        temporary = self.path.with_name(self.path.name + ".tmp")
        with temporary.open("w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)

    def read(self) -> dict[TopicPartition, int]:
        """The offsets; none without a file. Raises ProcessorStateError if the file is malformed."""
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return {}
        try:
            version, size, entries = int(lines[0]), int(lines[1]), [line.split() for line in lines[2:]]
            offsets = {TopicPartition(topic, int(number)): int(offset) for topic, number, offset in entries}
        except (ValueError, IndexError) as error:
            raise ProcessorStateError(f"Malformed offset checkpoint file {self.path}: {error}") from error
        if version != VERSION:
            raise ProcessorStateError(f"Unknown offset checkpoint version: {version} in {self.path}")
        if len(offsets) != size:
            raise ProcessorStateError(f"Expected {size} entries but found only {len(offsets)} in {self.path}")
        return offsets

    def read_unless_damaged(self, owner: str) -> dict[TopicPartition, int]:
        """The offsets. A damaged file counts as missing: everything is restored. ``owner`` begins the log line."""
        try:
            return self.read()
        except ProcessorStateError as error:
            logger.warning("%s Restoring from the beginning of the changelogs: %s", owner, error)
            return {}

    def delete(self) -> None:
        """Remove the file, if there is one."""
        self.path.unlink(missing_ok=True)
