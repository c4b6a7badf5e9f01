"""The id of the topic to which a log belongs, beside its segments.

Kafka 2.8: core/.../server/PartitionMetadataFile.scala; 3.9: storage/.../checkpoint/PartitionMetadataFile.java
· book 6.1.5
"""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from pathlib import Path

from kafka_lite.common.ids.uuids import ZERO_UUID, decode_uuid, encode_uuid
from kafka_lite.log.log_file_utils import flush_file_or_directory

FILE_NAME = "partition.metadata"
VERSION = 0


class PartitionMetadataFile:
    """Two lines, without an end of line after the second::

        version: 0
        topic_id: CW1BOIEfT_KcHAaPi9UjXA

    A topic that was deleted and made again while its broker was down has another id, but a log of the same name.

    Kafka forces each file to disk when a topic is created. Here a log does so before it first forces messages to disk
    (``flush``): a thousand partitions are made without a thousand waits for the disk. If the machine fails earlier, it
    may leave a file without content, and no message that was to survive: as if the id had never been told.
    """

    @staticmethod
    def read(directory: Path) -> uuid.UUID | None:
        """The id; None without the file or its content. Raises OSError if it cannot be read or is malformed."""
        file = directory / FILE_NAME
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise _malformed(file, "it is not text") from None
        return _parsed(file, text) if text.strip("\0") else None

    @staticmethod
    def write(directory: Path, topic_id: uuid.UUID) -> None:
        """Write the file. ``flush`` has to follow before any message is forced to disk. Raises OSError."""
        temporary = directory / f"{FILE_NAME}.tmp"
        try:
            with open(temporary, "w", encoding="utf-8") as file:
                file.write(f"version: {VERSION}\ntopic_id: {encode_uuid(topic_id)}")
            os.replace(temporary, directory / FILE_NAME)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()  # it takes space that a full disk needs
            raise

    @staticmethod
    def flush(directory: Path) -> None:
        """Force the content to disk; its entry in the directory is the caller's. Raises OSError."""
        flush_file_or_directory(directory / FILE_NAME)

    @staticmethod
    def load(directory: Path, keep: bool) -> uuid.UUID | None:
        """Read the id. Without ``keep``, remove the file: brokers that know no ids would not keep it true."""
        if not keep:
            (directory / FILE_NAME).unlink(missing_ok=True)
        return PartitionMetadataFile.read(directory)


def _parsed(file: Path, text: str) -> uuid.UUID:
    lines = [line.split() for line in text.splitlines()]
    if len(lines) < 2 or any(len(line) != 2 for line in lines[:2]):
        raise _malformed(file, "it does not start with a version and an id")
    (_, version), (_, topic_id) = lines[:2]
    if not version.isdecimal():
        raise _malformed(file, f"its version is {version}")
    try:
        found = decode_uuid(topic_id)
    except ValueError:
        raise _malformed(file, f"{topic_id} is no id") from None
    if found == ZERO_UUID:
        raise _malformed(file, "its id is zero")
    return found


def _malformed(file: Path, reason: str) -> OSError:
    return OSError(errno.EIO, f"malformed: {reason}", str(file))
