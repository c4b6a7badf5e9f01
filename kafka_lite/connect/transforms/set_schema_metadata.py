"""Sets the name and the version of a schema.

Kafka 0.10.2: connect/transforms/.../connect/transforms/SetSchemaMetadata.java · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance
from kafka_lite.common.config_def import Type as ConfigType
from kafka_lite.connect.api.data.schema import Type
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.api.transformation import R
from kafka_lite.connect.transforms.key_or_value import KeyOrValueTransformation, OnKey, OnValue

CONFIG = (
    ConfigDef()
    .define("schema.name", ConfigType.STRING, None, Importance.HIGH, "Schema name to set.")
    .define("schema.version", ConfigType.INT, None, Importance.HIGH, "Schema version to set.")
)


class SetSchemaMetadata(KeyOrValueTransformation):
    """``schema.name`` and ``schema.version``: at least one of them.

    A struct gets the new schema as well. (In 0.10.2 it keeps the old one, so that no converter takes the record.) As in
    Kafka, other values cannot have a name set.
    """

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError if it is empty."""
        parsed = CONFIG.parse(configs)
        changes = {"name": parsed["schema.name"], "version": parsed["schema.version"]}
        self._changes = {name: value for name, value in changes.items() if value is not None}
        if not self._changes:
            raise ConfigError("schema.name", None, "Neither schema name nor version configured")

    def apply(self, record: R) -> R:
        """Set them. Raises DataError for a value without a schema, and for one that is not a struct's."""
        schema, value = self.operating_schema(record), self.operating_value(record)
        if schema is None:
            if value is None:
                return record
            raise DataError("Schema required for [updating schema metadata]")
        if schema.type is not Type.STRUCT:
            raise DataError("Cannot list fields on non-struct type")
        updated = replace(schema, **self._changes)
        if isinstance(value, Struct):
            value = Struct(updated, dict(value.items()))
        return self.new_record(record, updated, value)


class SetSchemaMetadataKey(OnKey, SetSchemaMetadata):
    """Kafka: SetSchemaMetadata$Key."""


class SetSchemaMetadataValue(OnValue, SetSchemaMetadata):
    """Kafka: SetSchemaMetadata$Value."""
