"""Prints records, for debugging.

Kafka 0.10.2: streams/.../kstream/internals/KeyValuePrinter.java · book 9.2.2
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, TextIO

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext


def ensure_writable(path: Path) -> Path:
    """Make the file empty. Raises TopologyBuilderError if that is impossible."""
    try:
        path.write_bytes(b"")
    except OSError as error:
        raise TopologyBuilderError(f"Unable to write stream to file at [{path}] {error}") from error
    return path


class KeyValuePrinter(Processor[Any, Any]):
    """Prints a line for each record: ``[name]: key , value``. Keys and values that are bytes are deserialized first."""

    _file: TextIO | None = None

    def __init__(
        self, path: Path | None, key_serde: Serde[Any] | None, value_serde: Serde[Any] | None, stream_name: str
    ) -> None:
        """``path`` is the file to append to, None for standard output. Serdes default to those of the application."""
        self._path = path
        self._key_serde = key_serde
        self._value_serde = value_serde
        self._stream_name = stream_name

    def init(self, context: ProcessorContext) -> None:
        """Open the file. Several tasks may append to it; a line is written as a whole."""
        super().init(context)
        self._key_serde = self._key_serde or context.key_serde
        self._value_serde = self._value_serde or context.value_serde
        if self._path is not None:
            self._file = self._path.open("a", encoding="utf-8", buffering=1)

    def process(self, key: Any, value: Any) -> None:
        """Print the record."""
        shown_key, shown_value = self._shown(key, self._key_serde), self._shown(value, self._value_serde)
        (self._file or sys.stdout).write(f"[{self._stream_name}]: {shown_key} , {shown_value}\n")

    def close(self) -> None:
        """Close the file, or flush standard output."""
        if self._file is not None:
            self._file.close()
        else:
            sys.stdout.flush()

    def _shown(self, element: Any, serde: Serde[Any] | None) -> Any:
        assert serde is not None, "not initialized"
        if not isinstance(element, bytes):
            return element
        return serde.deserializer.deserialize(self.context.topic or "", element)
