"""Replaces the values of fields by nothing of their type: 0, false, an empty text.

Kafka 0.10.2: connect/transforms/.../connect/transforms/MaskField.java; replacement: Kafka 2.5 · book 8.3.3
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import NO_DEFAULT, NON_EMPTY, ConfigDef, Importance, Type
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.api.transformation import R
from kafka_lite.connect.transforms.key_or_value import KeyOrValueTransformation, OnKey, OnValue
from kafka_lite.connect.transforms.requirements import require_map, require_struct

PURPOSE = "mask fields"
CONFIG = (
    ConfigDef()
    .define("fields", Type.LIST, NO_DEFAULT, Importance.HIGH, "Names of fields to mask.", NON_EMPTY)
    .define(
        "replacement",
        Type.STRING,
        None,
        Importance.LOW,
        "Custom value replacement, that will be applied to all 'fields' values (numeric or non-empty string values "
        "only).",
        NON_EMPTY,
    )
)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


class MaskField(KeyOrValueTransformation):
    """Masks ``fields``; numbers and texts become ``replacement``, if it is set. A map gets what it lacks, as None."""

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError."""
        parsed = CONFIG.parse(configs)
        self._fields = frozenset(parsed["fields"])
        self._replacement: str | None = parsed["replacement"]

    def apply(self, record: R) -> R:
        """Mask the fields. Raises DataError for a value of another type, such as bytes."""
        schema, value = self.operating_schema(record), self.operating_value(record)
        if schema is None:
            values = require_map(value, PURPOSE)
            return self.new_record(
                record, None, {**values, **{name: self._masked(values.get(name)) for name in sorted(self._fields)}}
            )
        struct = require_struct(value, PURPOSE)
        masked = {name: self._masked(of) if name in self._fields else of for name, of in struct.items()}
        return self.new_record(record, schema, Struct(struct.schema, masked))

    def _masked(self, value: Any) -> Any:
        if value is None:
            return None
        return _nothing_like(value) if self._replacement is None else _replaced(value, self._replacement)


def _nothing_like(value: Any) -> Any:
    match value:
        case bool() | int() | float() | str() | decimal.Decimal() | list():
            return type(value)()
        case Mapping():
            return {}
        case datetime.datetime():
            return _EPOCH
        case datetime.date():
            return _EPOCH.date()
        case datetime.time():
            return datetime.time()
    raise DataError(f"Cannot mask value of type: {type(value).__qualname__}")


def _replaced(value: Any, replacement: str) -> Any:
    match value:
        case str():
            return replacement
        case int() | float() | decimal.Decimal() if not isinstance(value, bool):
            try:
                return type(value)(replacement)
            except (ValueError, decimal.InvalidOperation) as error:
                raise DataError(f"Unable to convert {replacement} to number") from error
    raise DataError(f"Cannot mask value of type {type(value).__qualname__} with custom replacement.")


class MaskFieldKey(OnKey, MaskField):
    """Kafka: MaskField$Key."""


class MaskFieldValue(OnValue, MaskField):
    """Kafka: MaskField$Value."""
