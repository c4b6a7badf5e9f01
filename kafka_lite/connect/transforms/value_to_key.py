"""Makes a key of fields of the value.

Kafka 0.10.2: connect/transforms/.../connect/transforms/ValueToKey.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.config_def import NO_DEFAULT, NON_EMPTY, ConfigDef, Importance, Type
from kafka_lite.common.lru_cache import LRUCache
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.api.transformation import R, Transformation
from kafka_lite.connect.transforms.key_or_value import SCHEMA_CACHE_SIZE
from kafka_lite.connect.transforms.requirements import require_map, require_struct

PURPOSE = "copying fields from value to key"
CONFIG = ConfigDef().define(
    "fields",
    Type.LIST,
    NO_DEFAULT,
    Importance.HIGH,
    "Field names on the record value to extract as the record key.",
    NON_EMPTY,
)


class ValueToKey(Transformation):
    """``fields`` names them, in the key's order."""

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError."""
        self._fields: list[str] = CONFIG.parse(configs)["fields"]
        self._schemas = LRUCache[Schema, Schema](SCHEMA_CACHE_SIZE)

    def apply(self, record: R) -> R:
        """Replace the key. Raises DataError if a schema lacks a field; a map has None for it."""
        if record.value_schema is None:
            values = require_map(record.value, PURPOSE)
            return record.new_record(key_schema=None, key={name: values.get(name) for name in self._fields})
        struct = require_struct(record.value, PURPOSE)
        schema = self._schemas.get(struct.schema, lambda: self._key_schema(struct.schema))
        return record.new_record(key_schema=schema, key=Struct(schema, {name: struct[name] for name in self._fields}))

    def _key_schema(self, schema: Schema) -> Schema:
        """A struct's schema without a name, with the fields of the value's schema. Raises DataError if it lacks one."""
        builder = SchemaBuilder.struct()
        for name in self._fields:
            field = schema.field(name)
            if field is None:
                raise DataError(f"Field does not exist: {name}")
            builder.field(name, field.schema)
        return builder.build()
