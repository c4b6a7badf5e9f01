"""A value with its schema.

Kafka 0.10.2: connect/api/.../connect/data/SchemaAndValue.java · book 8.3.3
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kafka_lite.connect.api.data.schema import Schema


class SchemaAndValue(NamedTuple):
    """The result of a converter. Data without a schema has None for it."""

    schema: Schema | None
    value: Any

    def __str__(self) -> str:
        return f"SchemaAndValue{{schema={self.schema}, value={self.value}}}"


NULL = SchemaAndValue(None, None)
"""Nothing, without a schema. Kafka: SchemaAndValue.NULL."""
