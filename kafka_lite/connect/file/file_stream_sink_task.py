"""Appends the values of records to a file, one per line.

Kafka 0.10.2: connect/file/.../connect/file/FileStreamSinkTask.java · book 8.3.2
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from kafka_lite import __version__
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.data.java_text import java_text
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.api.sink_task import SinkTask
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata


class FileStreamSinkTask(SinkTask):
    """A value is written as Java's ``toString`` would, a tombstone as ``null``."""

    def __init__(self) -> None:
        self._output: TextIO | None = None

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def start(self, props: Mapping[str, str]) -> None:
        """Open the file; standard output without ``file``. Raises ConnectError."""
        filename = props.get("file")
        try:
            self._output = sys.stdout if filename is None else open(filename, "a", encoding="utf-8", newline="\n")  # noqa: SIM115
        except OSError as error:
            raise ConnectError(f"Couldn't find or create file for FileStreamSinkTask: {error}") from error

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Write a line per record."""
        if self._output is not None:
            self._output.writelines(f"{java_text(record.value)}\n" for record in records)

    def flush(self, current_offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:  # noqa: ARG002
        """Hand what was written over to the system. Raises OSError."""
        if self._output is not None:
            self._output.flush()

    def stop(self) -> None:
        """Close the file."""
        if self._output is not None and self._output is not sys.stdout:
            self._output.close()
