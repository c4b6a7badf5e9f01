"""Passes bytes through as they are.

Kafka 0.11: connect/runtime/.../connect/converters/ByteArrayConverter.java · book 8.3.3
"""

from __future__ import annotations

from typing import Any

from kafka_lite.connect.api.converter import Converter, HeaderConverter
from kafka_lite.connect.api.data.schema import Schema, Type
from kafka_lite.connect.api.data.schema_and_value import SchemaAndValue
from kafka_lite.connect.api.errors import DataError


class ByteArrayConverter(Converter, HeaderConverter):
    """Values have the schema BYTES, or none."""

    def configure(self, configs: object, is_key: bool = False) -> None:
        """There is nothing to configure."""

    def from_connect_data(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:  # noqa: ARG002
        """The bytes. Raises DataError for any other value, and for another schema."""
        if schema is not None and schema.type is not Type.BYTES:
            raise DataError(f"Invalid schema type for ByteArrayConverter: {schema.type}")
        if value is not None and not isinstance(value, bytes | bytearray | memoryview):
            raise DataError(f"ByteArrayConverter is not compatible with objects of type {type(value).__qualname__}")
        return None if value is None else bytes(value)

    def to_connect_data(self, topic: str, value: bytes | None) -> SchemaAndValue:  # noqa: ARG002
        """The bytes, as optional BYTES."""
        return SchemaAndValue(Schema.OPTIONAL_BYTES_SCHEMA, value)

    def from_connect_header(self, topic: str, header_key: str, schema: Schema | None, value: Any) -> bytes | None:  # noqa: ARG002
        """The bytes of a header's value."""
        return self.from_connect_data(topic, schema, value)

    def to_connect_header(self, topic: str, header_key: str, value: bytes | None) -> SchemaAndValue:  # noqa: ARG002
        """The value of a header's bytes."""
        return self.to_connect_data(topic, value)
