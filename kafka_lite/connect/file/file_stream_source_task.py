"""Reads the lines of a file, and continues as the file grows.

Kafka 0.10.2: connect/file/.../connect/file/FileStreamSourceTask.java · book 8.3.2
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any

from kafka_lite import __version__
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.api.source_task import SourceTask

logger = logging.getLogger(__name__)

FILENAME_FIELD, POSITION_FIELD = "filename", "position"
WAIT_MS = 1000
READ_BYTES = 64 * 1024
MAX_POLL_BYTES = 1024 * 1024


class FileStreamSourceTask(SourceTask):
    """Each line is a record; what follows the last line break waits for the next one.

    ::

        source partition {"filename": "/tmp/a"}    offset {"position": bytes up to the end of the line}

    A line ends with ``\\n``, ``\\r\\n`` or ``\\r``. A file that does not exist yet is waited for. That a file was cut
    or replaced is not noticed.

    Kafka counts characters, and skips as many bytes at the next start, so that it reads a part of a file with other
    characters than ASCII again. Here bytes are counted, which is the same for ASCII.
    """

    def __init__(self, time: Time = SYSTEM_TIME) -> None:
        self._time = time
        self._stopped = threading.Condition()
        self._stopping = False
        self._filename: str | None = None
        self._topic = ""
        self._stream: IO[bytes] | None = None
        self._position = 0
        self._buffer = b""

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def start(self, props: Mapping[str, str]) -> None:
        """Without ``file``, standard input is read, whose position is not stored. Raises ConnectError."""
        self._filename = props.get("file") or None
        topic = props.get("topic")
        if topic is None:
            raise ConnectError("FileStreamSourceTask config missing topic setting")
        self._topic = topic
        if self._filename is None:
            self._stream = sys.stdin.buffer

    def poll(self) -> Sequence[SourceRecord] | None:
        """The lines that are complete; after a second without any, None."""
        stream = self._stream or self._open()
        if stream is None:
            return None
        try:
            records = self._read_lines(stream)
        except ValueError:  # closed by ``stop``
            return None
        if not records:
            self._wait()
        return records or None

    def _open(self) -> IO[bytes] | None:
        """Open the file at the stored position; None if it does not exist yet."""
        filename = str(self._filename)
        try:
            stream = open(filename, "rb")  # noqa: SIM115  ``stop`` closes it
        except FileNotFoundError:
            logger.warning("Couldn't find file %s for FileStreamSourceTask, sleeping to wait for it", filename)
            self._wait()
            return None
        except OSError as error:
            raise ConnectError(f"{filename} cannot be read: {error}") from error
        try:
            self._position = self._stored_position(filename)
            stream.seek(self._position)
        except Exception:
            stream.close()
            raise
        with self._stopped:
            if self._stopping:
                stream.close()
                return None
            self._stream = stream
        return stream

    def _stored_position(self, filename: str) -> int:
        offset: Mapping[str, Any] = self.context.offset_storage_reader.offset({FILENAME_FIELD: filename}) or {}
        position = offset.get(POSITION_FIELD) or 0
        if not isinstance(position, int) or isinstance(position, bool):
            raise ConnectError("Offset position is the incorrect type")
        return position

    def _read_lines(self, stream: IO[bytes]) -> list[SourceRecord]:
        records: list[SourceRecord] = []
        read = 0
        while read < MAX_POLL_BYTES and (data := self._read(stream)):
            read += len(data)
            lines, self._buffer = split_lines(self._buffer + data)
            for line, size in lines:
                self._position += size
                records.append(self._record(line))
        return records

    def _read(self, stream: IO[bytes]) -> bytes:
        return stream.readline() if self._filename is None else stream.read(READ_BYTES)

    def _record(self, line: bytes) -> SourceRecord:
        from_file = self._filename is not None
        return SourceRecord(
            source_partition={FILENAME_FIELD: self._filename} if from_file else None,
            source_offset={POSITION_FIELD: self._position} if from_file else None,
            topic=self._topic,
            value_schema=Schema.STRING_SCHEMA,
            value=line.decode(errors="replace"),
            timestamp=self._time.milliseconds(),
        )

    def _wait(self) -> None:
        with self._stopped:
            if not self._stopping:
                self._time.wait(self._stopped, WAIT_MS)

    def stop(self) -> None:
        """Close the file, and end a wait."""
        with self._stopped:
            self._stopping = True
            if self._stream is not None and self._filename is not None:
                self._stream.close()
            self._stopped.notify_all()


def split_lines(data: bytes) -> tuple[list[tuple[bytes, int]], bytes]:
    """The complete lines, each with its size in bytes including the line break, and the rest.

    A ``\\r`` at the very end waits for the next byte, which may be a ``\\n``.
    """
    pieces = data.splitlines(keepends=True)
    rest = b""
    if pieces and not pieces[-1].endswith(b"\n"):
        rest = pieces.pop()
    return [(piece.rstrip(b"\r\n") if piece.endswith(b"\r\n") else piece[:-1], len(piece)) for piece in pieces], rest
