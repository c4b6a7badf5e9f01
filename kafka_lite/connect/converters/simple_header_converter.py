"""Converts the values of headers to texts, and texts to the values that they look like.

Kafka 1.1: connect/api/.../connect/storage/SimpleHeaderConverter.java · book 8.3.3
"""

from __future__ import annotations

from typing import Any

from kafka_lite.connect.api.converter import HeaderConverter
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_and_value import NULL, SchemaAndValue
from kafka_lite.connect.api.data.values import parse_string, value_text


class SimpleHeaderConverter(HeaderConverter):
    """The default of ``header.converter``. What was a text ``1`` is read as a number."""

    def from_connect_header(self, topic: str, header_key: str, schema: Schema | None, value: Any) -> bytes | None:  # noqa: ARG002
        """The text of a value in UTF-8."""
        text = value_text(value)
        return None if text is None else text.encode("utf-8", "replace")

    def to_connect_header(self, topic: str, header_key: str, value: bytes | None) -> SchemaAndValue:  # noqa: ARG002
        """The value that the text looks like."""
        return NULL if value is None else parse_string(value.decode("utf-8", "replace"))
