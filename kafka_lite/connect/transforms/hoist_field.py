"""Wraps a whole key or value into a struct or a map with one field.

Kafka 0.10.2: connect/transforms/.../connect/transforms/HoistField.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Type
from kafka_lite.common.lru_cache import LRUCache
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.transformation import R
from kafka_lite.connect.transforms.key_or_value import SCHEMA_CACHE_SIZE, KeyOrValueTransformation, OnKey, OnValue

CONFIG = ConfigDef().define(
    "field",
    Type.STRING,
    NO_DEFAULT,
    Importance.MEDIUM,
    "Field name for the single field that will be created in the resulting Struct or Map.",
)


class HoistField(KeyOrValueTransformation):
    """``field`` names the field."""

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError."""
        self._field: str = CONFIG.parse(configs)["field"]
        self._schemas = LRUCache[Schema, Schema](SCHEMA_CACHE_SIZE)

    def apply(self, record: R) -> R:
        """Wrap."""
        schema, value = self.operating_schema(record), self.operating_value(record)
        if schema is None:
            return self.new_record(record, None, {self._field: value})
        updated = self._schemas.get(schema, lambda: SchemaBuilder.struct().field(self._field, schema).build())
        return self.new_record(record, updated, Struct(updated, {self._field: value}))


class HoistFieldKey(OnKey, HoistField):
    """Kafka: HoistField$Key."""


class HoistFieldValue(OnValue, HoistField):
    """Kafka: HoistField$Value."""
