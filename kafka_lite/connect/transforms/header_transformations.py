"""Adds headers to records, removes them, and makes them of fields.

Kafka 3.0: connect/transforms/.../connect/transforms/InsertHeader.java, DropHeaders.java, HeaderFrom.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.config_def import NO_DEFAULT, NON_EMPTY, ConfigDef, ConfigError, Importance, Type, ValidString
from kafka_lite.common.lru_cache import LRUCache
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.data.values import parse_string
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.api.transformation import R, Transformation
from kafka_lite.connect.transforms.key_or_value import (
    SCHEMA_CACHE_SIZE,
    KeyOrValueTransformation,
    OnKey,
    OnValue,
    copy_schema_basics,
)
from kafka_lite.connect.transforms.requirements import require_map, require_struct


class InsertHeader(Transformation):
    """Adds the header ``header`` with the value ``value.literal``, whose type is that of its text."""

    CONFIG = (
        ConfigDef()
        .define("header", Type.STRING, NO_DEFAULT, Importance.HIGH, "The name of the header.")
        .define(
            "value.literal",
            Type.STRING,
            NO_DEFAULT,
            Importance.HIGH,
            "The literal value that is to be set as the header value on all records.",
        )
    )

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return self.CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError."""
        parsed = self.CONFIG.parse(configs)
        self._header: str = parsed["header"]
        self._schema, self._value = parse_string(parsed["value.literal"])

    def apply(self, record: R) -> R:
        """Add the header, after others of its name."""
        return record.new_record(headers=record.headers.add(self._header, self._value, self._schema))


class DropHeaders(Transformation):
    """Removes the headers that ``headers`` names."""

    CONFIG = ConfigDef().define(
        "headers", Type.LIST, NO_DEFAULT, Importance.HIGH, "The name of the headers to be removed.", NON_EMPTY
    )

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return self.CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError."""
        self._names = frozenset(self.CONFIG.parse(configs)["headers"])

    def apply(self, record: R) -> R:
        """Remove them."""
        return record.new_record(
            headers=record.headers.apply(lambda header: None if header.key in self._names else header)
        )


class HeaderFrom(KeyOrValueTransformation):
    """Makes headers of fields: each of ``fields`` becomes the one of ``headers`` in the same place."""

    CONFIG = (
        ConfigDef()
        .define(
            "fields",
            Type.LIST,
            NO_DEFAULT,
            Importance.HIGH,
            "Field names in the record whose values are to be copied or moved to headers.",
            NON_EMPTY,
        )
        .define(
            "headers",
            Type.LIST,
            NO_DEFAULT,
            Importance.HIGH,
            "Header names, in the same order as the field names listed in the fields configuration property.",
            NON_EMPTY,
        )
        .define(
            "operation",
            Type.STRING,
            NO_DEFAULT,
            Importance.HIGH,
            "Either <code>move</code> if the fields are to be moved to the headers (removed from the key/value), or "
            "<code>copy</code> if the fields are to be copied to the headers (retained in the key/value).",
            ValidString.in_("move", "copy"),
        )
    )

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return self.CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError if there is not one header for each field."""
        parsed = self.CONFIG.parse(configs)
        self._fields: list[str] = parsed["fields"]
        self._headers: list[str] = parsed["headers"]
        self._moves = parsed["operation"] == "move"
        self._purpose = f"header {parsed['operation']}"
        self._schemas = LRUCache[Schema, Schema](SCHEMA_CACHE_SIZE)
        if len(self._fields) != len(self._headers):
            raise ConfigError(
                "headers",
                self._headers,
                "'fields' config must have the same number of elements as 'headers' config.",
            )

    def apply(self, record: R) -> R:
        """Copy or move the fields. Raises DataError if a schema lacks one; a map has None for it."""
        schema, value = self.operating_schema(record), self.operating_value(record)
        if schema is None:
            values = require_map(value, self._purpose)
            changed = record.new_record(headers=record.headers)
            for field, header in zip(self._fields, self._headers, strict=True):
                changed = changed.new_record(headers=changed.headers.add(header, values.get(field)))
            kept = {name: of for name, of in values.items() if not self._moves or name not in self._fields}
            return self.new_record(changed, None, kept)
        return self._apply_to_struct(record, schema, require_struct(value, self._purpose))

    def _apply_to_struct(self, record: R, schema: Schema, struct: Struct) -> R:
        headers = record.headers
        for name, header in zip(self._fields, self._headers, strict=True):
            field = schema.field(name)
            if field is None:
                raise DataError(f"Field does not exist: {name}")
            headers = headers.add(header, struct.get(field), field.schema)
        changed = record.new_record(headers=headers)
        if not self._moves:
            return changed
        updated = self._schemas.get(schema, lambda: self._without_fields(schema))
        return self.new_record(changed, updated, Struct(updated, {f.name: struct[f.name] for f in updated.fields}))

    def _without_fields(self, schema: Schema) -> Schema:
        builder = copy_schema_basics(schema, SchemaBuilder.struct())
        for field in schema.fields:
            if field.name not in self._fields:
                builder.field(field.name, field.schema)
        return builder.build()


class HeaderFromKey(OnKey, HeaderFrom):
    """Kafka: HeaderFrom$Key."""


class HeaderFromValue(OnValue, HeaderFrom):
    """Kafka: HeaderFrom$Value."""
