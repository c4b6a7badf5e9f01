"""Turns the console producer's stdin into records: one per line, or with a reader class of your own.

Kafka 0.10.2: core/.../tools/ConsoleProducer.scala (LineMessageReader), common/MessageReader.scala;
headers and null.marker as in Kafka 3.2's LineMessageReader.java · book 1.4.1
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.tools.common.tool_errors import ToolError

Headers = list[tuple[str, bytes | None]]


class RecordReader(ABC):
    """Base class of readers; ``--line-reader package.module.Class`` selects a subclass."""

    def configure(self, properties: Mapping[str, str]) -> None:  # noqa: B027 - some need none
        """Called first, with the properties of ``--property`` and the ``topic``."""

    @abstractmethod
    def read_records(self, stream: BinaryIO) -> Iterator[ProducerRecord]:
        """Yield the records of ``stream`` up to its end; keys and values are bytes."""

    def close(self) -> None:  # noqa: B027 - most need none
        """Called last."""


class LineMessageReader(RecordReader):
    r"""Makes one record per line. The properties define its parts::

        --property parse.headers=true --property parse.key=true

        h1:v1,h2:v2 ⇥ key ⇥ value
          │  │     │     └ key.separator (a tab)
          │  │     └ headers.delimiter (a tab)
          │  └ headers.separator (,)
          └ headers.key.separator (:)

    With ``ignore.error=true``, a line without the separator becomes a value; otherwise it ends the tool.
    With ``null.marker=TEXT``, a key, value or header equal to TEXT becomes null; a null value is a tombstone.
    Bytes are passed on unchanged, whatever their encoding.
    """

    DEFAULTS: Mapping[str, str] = {
        "parse.key": "false",
        "key.separator": "\t",
        "parse.headers": "false",
        "headers.delimiter": "\t",
        "headers.separator": ",",
        "headers.key.separator": ":",
        "ignore.error": "false",
    }
    MUST_DIFFER = (
        ("headers.delimiter", "headers.separator"),
        ("headers.delimiter", "headers.key.separator"),
        ("headers.separator", "headers.key.separator"),
        ("null.marker", "key.separator"),
        ("null.marker", "headers.separator"),
        ("null.marker", "headers.delimiter"),
        ("null.marker", "headers.key.separator"),
    )

    def __init__(self) -> None:
        self._topic = ""
        self._line_number = 0
        self._prompt = sys.stdin.isatty() and sys.stdout.isatty()

    def configure(self, properties: Mapping[str, str]) -> None:
        """Apply the properties. Raises ToolError for an unknown property and for separators that are equal or empty."""
        unknown = sorted(properties.keys() - {*self.DEFAULTS, "null.marker", "topic"})
        if unknown:
            known = ", ".join([*self.DEFAULTS, "null.marker"])
            raise ToolError(f"--property {unknown[0]}: the reader of lines does not know it; it knows {known}")
        values = {**self.DEFAULTS, **properties}
        for one, other in self.MUST_DIFFER:
            if one in values and values[one] == values[other]:
                raise ToolError(f"{one} and {other} may not be equal")
        for name in ("key.separator", "headers.delimiter", "headers.separator", "headers.key.separator"):
            if not values[name]:
                raise ToolError(f"--property {name}= : a separator cannot be empty")
        self._topic = values["topic"]
        self._parse_key, self._parse_headers, self._ignore_error = (
            values[name].strip().lower() == "true" for name in ("parse.key", "parse.headers", "ignore.error")
        )
        self._key_separator = values["key.separator"].encode()
        self._headers_delimiter = values["headers.delimiter"].encode()
        self._headers_separator = values["headers.separator"].encode()
        self._headers_key_separator = values["headers.key.separator"].encode()
        self._null_marker = values["null.marker"].encode() if "null.marker" in values else None

    def read_records(self, stream: BinaryIO) -> Iterator[ProducerRecord]:
        """Yield a record per line. Raises ToolError for a line without its separators."""
        for line in self._lines(stream):
            yield self.parse(line)

    def parse(self, line: bytes) -> ProducerRecord:
        """Parse one line, without its line ending, into a record. Raises ToolError."""
        self._line_number += 1
        headers, line = self._split(self._parse_headers, line, self._headers_delimiter, "headers delimiter")
        key, value = self._split(self._parse_key, line, self._key_separator, "key separator")
        has_headers = headers is not None and headers != self._null_marker
        return ProducerRecord(
            self._topic,
            self._nullable(value),
            None if key is None else self._nullable(key),
            headers=self._split_headers(headers or b"") if has_headers else (),
        )

    def _lines(self, stream: BinaryIO) -> Iterator[bytes]:
        r"""The lines without their endings (``\n``, ``\r\n`` or ``\r``, as in Java's readers)."""
        while True:
            if self._prompt:
                print(">", end="", flush=True)
            line = stream.readline()
            if not line:
                return
            yield from line.removesuffix(b"\n").removesuffix(b"\r").split(b"\r")

    def _split(self, wanted: bool, line: bytes, separator: bytes, name: str) -> tuple[bytes | None, bytes]:
        """The parts before and after the separator; the first is None if there is no separator."""
        if not wanted:
            return None, line
        first, found, rest = line.partition(separator)
        if found:
            return first, rest
        if self._ignore_error:
            return None, line
        raise ToolError(
            f"No {name} found on line number {self._line_number}: '{_text(line)}' "
            "(with --property ignore.error=true, such lines become values)"
        )

    def _split_headers(self, text: bytes) -> Headers:
        pairs = text.split(self._headers_separator)
        while len(pairs) > 1 and not pairs[-1]:
            pairs.pop()
        return [self._header(pair) for pair in pairs]

    def _header(self, pair: bytes) -> tuple[str, bytes | None]:
        key, found, value = pair.partition(self._headers_key_separator)
        if not found:
            if self._ignore_error:
                return _text(pair), None
            raise ToolError(f"No header key separator found in pair '{_text(pair)}' on line number {self._line_number}")
        if key == self._null_marker:
            raise ToolError(f"Header keys should not be equal to the null marker '{_text(key)}' as they can't be null")
        return _text(key), self._nullable(value)

    def _nullable(self, data: bytes) -> bytes | None:
        return None if data == self._null_marker else data


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
