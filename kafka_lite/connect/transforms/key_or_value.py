"""Transformations in two forms: one changes the key of a record, the other its value.

In Kafka they are nested classes, ``InsertField$Key`` and ``InsertField$Value``; here ``InsertFieldKey`` and
``InsertFieldValue``.

Kafka 0.10.2: connect/transforms/.../connect/transforms/InsertField.java (Key, Value), util/SchemaUtil.java · book 8.3.3
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from kafka_lite.connect.api.connect_record import ConnectRecord
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.transformation import R, Transformation

SCHEMA_CACHE_SIZE = 16
"""How many updated schemas a transformation keeps."""


class KeyOrValueTransformation(Transformation):
    """Says what it does with the operating schema and value; a subclass says which they are, by one of those below."""

    @abstractmethod
    def operating_schema(self, record: ConnectRecord) -> Schema | None:
        """The schema of the key, or of the value."""

    @abstractmethod
    def operating_value(self, record: ConnectRecord) -> Any:
        """The key, or the value."""

    @abstractmethod
    def new_record(self, record: R, schema: Schema | None, value: Any) -> R:
        """A copy of the record with this key, or this value."""


class OnKey(KeyOrValueTransformation):
    """Operates on the key."""

    def operating_schema(self, record: ConnectRecord) -> Schema | None:
        """The schema of the key."""
        return record.key_schema

    def operating_value(self, record: ConnectRecord) -> Any:
        """The key."""
        return record.key

    def new_record(self, record: R, schema: Schema | None, value: Any) -> R:
        """A copy of the record with this key."""
        return record.new_record(key_schema=schema, key=value)


class OnValue(KeyOrValueTransformation):
    """Operates on the value."""

    def operating_schema(self, record: ConnectRecord) -> Schema | None:
        """The schema of the value."""
        return record.value_schema

    def operating_value(self, record: ConnectRecord) -> Any:
        """The value."""
        return record.value

    def new_record(self, record: R, schema: Schema | None, value: Any) -> R:
        """A copy of the record with this value."""
        return record.new_record(value_schema=schema, value=value)


def copy_schema_basics(source: Schema, builder: SchemaBuilder) -> SchemaBuilder:
    """Give a builder the name, version, doc and parameters of a schema. Kafka: SchemaUtil.copySchemaBasics."""
    if source.name is not None:
        builder.name(source.name)
    if source.version is not None:
        builder.version(source.version)
    if source.doc is not None:
        builder.doc(source.doc)
    return builder.parameters(source.parameters or {})
