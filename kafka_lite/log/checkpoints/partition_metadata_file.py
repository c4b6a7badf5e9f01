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

FILE_NAME = "partition.metadata"
VERSION = 0


class PartitionMetadataFile:
    """Two lines, without an end of line after the second::

        version: 0
        topic_id: CW1BOIEfT_KcHAaPi9UjXA

    A topic that was deleted and made again while its broker was down has another id, but a log of the same name. The
    content is forced to disk before the file gets its name, so that no crash leaves half of it.
    """

    @staticmethod
    def read(directory: Path) -> uuid.UUID | None:
        """The id; None without the file. Raises OSError if it cannot be read or is malformed, as Kafka does."""
        file = directory / FILE_NAME
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            raise _malformed(file, "it is not text") from None
        return _parsed(file, text)

    @staticmethod
    def write(directory: Path, topic_id: uuid.UUID) -> None:
        """Write the file. Raises OSError."""
        temporary = directory / f"{FILE_NAME}.tmp"
        try:
            with open(temporary, "w", encoding="utf-8") as file:
                file.write(f"version: {VERSION}\ntopic_id: {encode_uuid(topic_id)}")
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, directory / FILE_NAME)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()  # it takes space that a full disk needs
            raise

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
