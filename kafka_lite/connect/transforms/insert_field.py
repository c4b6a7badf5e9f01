"""Adds what is known of a record (topic, partition, offset, timestamp), or a fixed text, as fields.

Kafka 0.10.2: connect/transforms/.../connect/transforms/InsertField.java (InsertionSpec) · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Type
from kafka_lite.common.lru_cache import LRUCache
from kafka_lite.connect.api.connect_record import ConnectRecord
from kafka_lite.connect.api.data.logical_types import Timestamp
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.transformation import R
from kafka_lite.connect.transforms.key_or_value import (
    SCHEMA_CACHE_SIZE,
    KeyOrValueTransformation,
    OnKey,
    OnValue,
    copy_schema_basics,
)
from kafka_lite.connect.transforms.requirements import require_map, require_sink_record, require_struct

PURPOSE = "field insertion"
_OPTIONALITY = (
    "Suffix with <code>!</code> to make this a required field, or <code>?</code> to keep it optional (the default)."
)
CONFIG = (
    ConfigDef()
    .define("topic.field", Type.STRING, None, Importance.MEDIUM, f"Field name for Kafka topic. {_OPTIONALITY}")
    .define("partition.field", Type.STRING, None, Importance.MEDIUM, f"Field name for Kafka partition. {_OPTIONALITY}")
    .define(
        "offset.field",
        Type.STRING,
        None,
        Importance.MEDIUM,
        f"Field name for Kafka offset - only applicable to sink connectors.<br/>{_OPTIONALITY}",
    )
    .define("timestamp.field", Type.STRING, None, Importance.MEDIUM, f"Field name for record timestamp. {_OPTIONALITY}")
    .define("static.field", Type.STRING, None, Importance.MEDIUM, f"Field name for static data field. {_OPTIONALITY}")
    .define("static.value", Type.STRING, None, Importance.MEDIUM, "Static field value, if field name configured.")
)

_TYPES: Final = {
    "topic.field": Schema.STRING_SCHEMA,
    "partition.field": Schema.INT32_SCHEMA,
    "offset.field": Schema.INT64_SCHEMA,
    "timestamp.field": Timestamp.SCHEMA,
    "static.field": Schema.STRING_SCHEMA,
}
"""The fields that can be inserted, in the order in which they are."""
_OPTIONAL_TYPES: Final = {
    "topic.field": Schema.OPTIONAL_STRING_SCHEMA,
    "partition.field": Schema.OPTIONAL_INT32_SCHEMA,
    "offset.field": Schema.OPTIONAL_INT64_SCHEMA,
    "timestamp.field": Timestamp.builder().optional().build(),
    "static.field": Schema.OPTIONAL_STRING_SCHEMA,
}


@dataclass(frozen=True)
class InsertionSpec:
    """A field to insert: its name, and its schema."""

    name: str
    schema: Schema

    @staticmethod
    def parse(key: str, text: str) -> InsertionSpec:
        """The field of a configuration key. ``name!`` is a required one, ``name`` and ``name?`` are optional."""
        types = _TYPES if text.endswith("!") else _OPTIONAL_TYPES
        return InsertionSpec(text[:-1] if text.endswith(("!", "?")) else text, types[key])


class InsertField(KeyOrValueTransformation):
    """A record without a value (or key) stays as it is, as since Kafka 2.0."""

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError if nothing is to be inserted."""
        parsed = CONFIG.parse(configs)
        self._specs = {key: InsertionSpec.parse(key, parsed[key]) for key in _TYPES if parsed[key] is not None}
        self._static_value: str | None = parsed["static.value"]
        self._schemas = LRUCache[Schema, Schema](SCHEMA_CACHE_SIZE)
        if not self._specs:
            raise ConfigError("topic.field", None, "No field insertion configured")
        if "static.field" in self._specs and self._static_value is None:
            field = self._specs["static.field"].name
            raise ConfigError("static.value", None, f"No value specified for static field: {field}")

    def apply(self, record: R) -> R:
        """Insert the fields. Raises DataError for a value without fields, and for an offset in a source's record."""
        schema, value = self.operating_schema(record), self.operating_value(record)
        if value is None:
            return record
        if schema is None:
            inserted = {spec.name: known for spec, known in self._insertions(record, lambda time_ms: time_ms)}
            return self.new_record(record, None, {**require_map(value, PURPOSE), **inserted})
        struct = require_struct(value, PURPOSE)
        updated = Struct(
            self._schemas.get(struct.schema, lambda: self._updated_schema(struct.schema)), dict(struct.items())
        )
        for spec, known in self._insertions(record, lambda time_ms: Timestamp.to_logical(Timestamp.SCHEMA, time_ms)):
            updated.put(spec.name, known)
        return self.new_record(record, updated.schema, updated)

    def _updated_schema(self, schema: Schema) -> Schema:
        builder = copy_schema_basics(schema, SchemaBuilder.struct())
        for field in schema.fields:
            builder.field(field.name, field.schema)
        for spec in self._specs.values():
            builder.field(spec.name, spec.schema)
        return builder.build()

    def _insertions(self, record: ConnectRecord, timestamp: Callable[[int], Any]) -> list[tuple[InsertionSpec, Any]]:
        """The fields with their values; a partition or a timestamp that a record lacks is left out."""
        known: dict[str, Any] = {
            "topic.field": record.topic,
            "partition.field": record.kafka_partition,
            "timestamp.field": None if record.timestamp is None else timestamp(record.timestamp),
            "static.field": self._static_value,
        }
        if "offset.field" in self._specs:
            known["offset.field"] = require_sink_record(record, PURPOSE).kafka_offset
        return [(spec, known[key]) for key, spec in self._specs.items() if known[key] is not None]


class InsertFieldKey(OnKey, InsertField):
    """Kafka: InsertField$Key."""


class InsertFieldValue(OnValue, InsertField):
    """Kafka: InsertField$Value."""
