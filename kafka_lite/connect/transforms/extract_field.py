"""Replaces a struct or a map by one of its fields.

Kafka 0.10.2: connect/transforms/.../connect/transforms/ExtractField.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Type
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.api.transformation import R
from kafka_lite.connect.transforms.key_or_value import KeyOrValueTransformation, OnKey, OnValue
from kafka_lite.connect.transforms.requirements import require_map, require_struct

PURPOSE = "field extraction"
CONFIG = ConfigDef().define("field", Type.STRING, NO_DEFAULT, Importance.MEDIUM, "Field name to extract.")


class ExtractField(KeyOrValueTransformation):
    """``field`` names the field. Nothing stays nothing, as since Kafka 2.0."""

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError."""
        self._field: str = CONFIG.parse(configs)["field"]

    def apply(self, record: R) -> R:
        """Extract the field. Raises DataError if a schema has none of this name; a map has None for it."""
        schema, value = self.operating_schema(record), self.operating_value(record)
        if schema is None:
            return self.new_record(
                record, None, None if value is None else require_map(value, PURPOSE).get(self._field)
            )
        struct = None if value is None else require_struct(value, PURPOSE)
        field = schema.field(self._field)
        if field is None:
            raise DataError(f"Unknown field: {self._field}")
        return self.new_record(record, field.schema, None if struct is None else struct.get(field))


class ExtractFieldKey(OnKey, ExtractField):
    """Kafka: ExtractField$Key."""


class ExtractFieldValue(OnValue, ExtractField):
    """Kafka: ExtractField$Value."""
