"""Replaces structs, or maps, inside of another one by their fields: ``home: {x, y}`` becomes ``home.x`` and ``home.y``.

Kafka 0.11: connect/transforms/.../connect/transforms/Flatten.java · book 8.3.3
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator, Mapping
from typing import Any

from kafka_lite.common.config_def import ConfigDef, Importance
from kafka_lite.common.config_def import Type as ConfigType
from kafka_lite.common.lru_cache import LRUCache
from kafka_lite.connect.api.data.schema import Schema, Type
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.api.transformation import R
from kafka_lite.connect.transforms.key_or_value import (
    SCHEMA_CACHE_SIZE,
    KeyOrValueTransformation,
    OnKey,
    OnValue,
    copy_schema_basics,
)
from kafka_lite.connect.transforms.requirements import require_map, require_struct

PURPOSE = "flattening"
CONFIG = ConfigDef().define(
    "delimiter",
    ConfigType.STRING,
    ".",
    Importance.MEDIUM,
    "Delimiter to insert between field names from the input record when generating field names for the output record",
)


class Flatten(KeyOrValueTransformation):
    """``delimiter`` stands between the names. Lists stay as they are."""

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration."""
        self._delimiter: str = CONFIG.parse(configs)["delimiter"]
        self._schemas = LRUCache[Schema, Schema](SCHEMA_CACHE_SIZE)

    def apply(self, record: R) -> R:
        """Flatten. Raises DataError for a map in a struct, and for a struct in a map."""
        schema, value = self.operating_schema(record), self.operating_value(record)
        if value is None:
            return record
        if schema is None:
            return self.new_record(record, None, dict(self._entries(require_map(value, PURPOSE), "")))
        struct = require_struct(value, PURPOSE)
        updated = self._schemas.get(schema, lambda: self._updated_schema(schema))
        return self.new_record(record, updated, Struct(updated, dict(self._values(struct, ""))))

    def _name(self, prefix: str, name: str) -> str:
        return f"{prefix}{self._delimiter}{name}" if prefix else name

    def _entries(self, values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
        for name, value in values.items():
            full_name = self._name(prefix, name)
            if isinstance(value, Mapping):
                yield from self._entries(value, full_name)
            elif isinstance(value, Struct | decimal.Decimal | datetime.date | datetime.time):
                raise DataError(
                    f"Flatten transformation does not support {type(value).__qualname__} for record without schemas "
                    f"(for field {full_name})."
                )
            else:
                yield full_name, value

    def _values(self, struct: Struct, prefix: str) -> Iterator[tuple[str, Any]]:
        for field in struct.schema.fields:
            value, name = struct.get(field), self._name(prefix, field.name)
            if field.schema.type is not Type.STRUCT:
                yield name, value
            elif value is not None:
                yield from self._values(value, name)

    def _updated_schema(self, schema: Schema) -> Schema:
        builder = copy_schema_basics(schema, SchemaBuilder.struct())
        for name, flat in self._fields(schema, "", schema.optional, schema.default):
            builder.field(name, flat)
        return builder.build()

    def _fields(
        self, schema: Schema, prefix: str, optional: bool, defaults: Struct | None
    ) -> Iterator[tuple[str, Schema]]:
        """The flat fields of a struct. Those of an optional one are optional; its default has their defaults."""
        for field in schema.fields:
            name, may_be_none = self._name(prefix, field.name), optional or field.schema.optional
            default = field.schema.default
            if default is None and defaults is not None:
                default = defaults.get(field.name)
            match field.schema.type:
                case Type.STRUCT:
                    yield from self._fields(field.schema, name, may_be_none, default)
                case Type.MAP:
                    raise DataError(
                        f"Flatten transformation does not support {field.schema.type} for record with schemas "
                        f"(for field {name})."
                    )
                case _:
                    yield name, _field_schema(field.schema, may_be_none, default)


def _field_schema(schema: Schema, optional: bool, default: Any) -> Schema:
    builder = copy_schema_basics(schema, SchemaBuilder(schema.type, values=schema.values))
    if optional:
        builder.optional()
    if default is not None:
        builder.default_value(default)
    return builder.build()


class FlattenKey(OnKey, Flatten):
    """Kafka: Flatten$Key."""


class FlattenValue(OnValue, Flatten):
    """Kafka: Flatten$Value."""
