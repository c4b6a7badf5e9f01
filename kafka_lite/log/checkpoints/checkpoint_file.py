"""The text format of all checkpoint files, and their atomic replacement.

Kafka 0.10.2: core/.../server/OffsetCheckpoint.scala (since 0.11 CheckpointFile) · book 6.1.5
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

from kafka_lite.common.errors import KafkaError

Entry = TypeVar("Entry")


class CheckpointFormatError(KafkaError):
    """A checkpoint file that a broker cannot have written."""


class CheckpointFile(Generic[Entry]):
    """Lines of text::

        0                   version of the format
        2                   number of entries
        t3 0 33             one entry per line
        t3 1 34

    The content is written to ``<name>.tmp``, forced to disk, and then renamed over the old file: after a crash the file
    has either the old or the new content, never a mixture.
    """

    VERSION = 0

    def __init__(self, file: Path, to_line: Callable[[Entry], str], from_line: Callable[[str], Entry]) -> None:
        """``from_line`` raises ValueError if the line is not an entry."""
        self.file = file
        self._to_line = to_line
        self._from_line = from_line
        self._lock = threading.Lock()

    def write(self, entries: Iterable[Entry], sync: bool = True) -> None:
        """Replace the content; ``sync`` forces it to disk before the old file is replaced. Raises OSError."""
        lines = [self._to_line(entry) for entry in entries]
        text = "\n".join([str(self.VERSION), str(len(lines)), *lines]) + "\n"
        with self._lock:
            temporary = self.file.with_name(self.file.name + ".tmp")
            try:
                with open(temporary, "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    if sync:
                        os.fsync(file.fileno())
                os.replace(temporary, self.file)
            except OSError:
                with contextlib.suppress(OSError):
                    temporary.unlink()  # it takes space that a full disk needs
                raise

    def read(self) -> list[Entry]:
        """Return the entries; none if the file is missing or empty.

        Raises CheckpointFormatError if the file is malformed, OSError if it cannot be read.
        """
        with self._lock:
            try:
                text = self.file.read_text(encoding="utf-8")
            except FileNotFoundError:
                return []
            except UnicodeDecodeError as error:
                raise self._malformed("it is not text") from error
        return self._parse(text.splitlines()) if text else []

    def _parse(self, lines: list[str]) -> list[Entry]:
        try:
            version, count = int(lines[0]), int(lines[1])
        except (ValueError, IndexError):
            raise self._malformed("it does not start with a version and the number of entries") from None
        if version != self.VERSION:
            raise self._malformed(f"its version is {version}, not {self.VERSION}")
        if count != len(lines) - 2:
            raise self._malformed(f"it has {len(lines) - 2} entries but declares {count}")
        try:
            return [self._from_line(line) for line in lines[2:]]
        except ValueError as error:
            raise self._malformed(f"a line is not a valid entry ({error})") from None

    def _malformed(self, reason: str) -> CheckpointFormatError:
        return CheckpointFormatError(f"malformed checkpoint file {self.file}: {reason}. It will be replaced")


def parse_int32(text: str) -> int:
    """Parse a partition or an epoch. Raises ValueError if it is out of range."""
    return _parse_below(2**31, text)


def parse_int64(text: str) -> int:
    """Parse an offset. Raises ValueError if it is out of range: a log start beyond that would empty the log."""
    return _parse_below(2**63, text)


def _parse_below(limit: int, text: str) -> int:
    number = int(text)
    if not 0 <= number < limit:
        raise ValueError(f"{text} is out of range")
    return number
