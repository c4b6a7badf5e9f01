"""Casts fields to other types, or a whole key or value to one type.

Kafka 0.11: connect/transforms/.../connect/transforms/Cast.java · book 8.3.3
"""

from __future__ import annotations

import decimal
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, ConfigError, Importance
from kafka_lite.common.config_def import Type as ConfigType
from kafka_lite.common.java.java_numbers import to_single
from kafka_lite.common.lru_cache import LRUCache
from kafka_lite.connect.api.data.java_text import java_text
from kafka_lite.connect.api.data.logical_types import Date, Time, Timestamp
from kafka_lite.connect.api.data.schema import Field, Schema, Type
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.data.values import value_text
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

PURPOSE = "cast types"
WHOLE_VALUE = ""
"""In place of a field's name: the spec has one type for the whole value."""

_INTEGER_BITS: Final = {Type.INT8: 8, Type.INT16: 16, Type.INT32: 32, Type.INT64: 64}
_OUTPUT_TYPES: Final = (*_INTEGER_BITS, Type.FLOAT32, Type.FLOAT64, Type.BOOLEAN, Type.STRING)
_INPUT_TYPES: Final = (*_OUTPUT_TYPES, Type.BYTES)


def parse_spec(entries: Sequence[str]) -> dict[str, Type]:
    """The type of each field, or one type under ``WHOLE_VALUE``. Raises ConfigError."""
    casts = {}
    for entry in entries:
        parts = [part.strip() for part in entry.split(":")]
        if len(parts) > 2:
            raise ConfigError("spec", f"[{', '.join(entries)}]", f"Invalid rename mapping: {entry}")
        casts[parts[0] if len(parts) == 2 else WHOLE_VALUE] = _output_type(parts[-1])
    if WHOLE_VALUE in casts and len(entries) > 1:
        raise _spec_error(
            entries,
            "Cast transformations that specify a type to cast the entire value to may only specify a single cast in "
            "their spec",
        )
    return casts


def _output_type(name: str) -> Type:
    try:
        kind = Type[name.upper()]
    except KeyError:
        raise _spec_error([name], f"Invalid type found in casting spec: {name}") from None
    if kind not in _OUTPUT_TYPES:
        problem = f"Cast transformation does not support casting to {kind}; {_supported(_OUTPUT_TYPES)}"
        raise _spec_error([name], problem)
    return kind


def _supported(types: Sequence[Type]) -> str:
    return f"supported types are [{', '.join(kind.name for kind in types)}]"


def _spec_error(entries: Sequence[str], message: str) -> ConfigError:
    return ConfigError("spec", f"[{', '.join(entries)}]", message)


class _Spec:
    """Checks that there is an entry, and that all can be understood."""

    def ensure_valid(self, name: str, value: Sequence[str]) -> None:
        """Raise ConfigError if not."""
        if not value:
            raise ConfigError(name, value, "Must specify at least one field to cast.")
        parse_spec(value)

    def __str__(self) -> str:
        return "list of colon-delimited pairs, e.g. <code>foo:bar,abc:xyz</code>"


CONFIG = ConfigDef().define(
    "spec",
    ConfigType.LIST,
    NO_DEFAULT,
    Importance.HIGH,
    "List of fields and the type to cast them to of the form field1:type,field2:type to cast fields of Maps or "
    "Structs. A single type to cast the entire value. Valid types are int8, int16, int32, int64, float32, float64, "
    "boolean, and string. Note that binary fields can only be cast to string.",
    _Spec(),
)


class Cast(KeyOrValueTransformation):
    """``spec`` is ``field:type,...``, or a type. As in Java, an integer that is too large loses its upper bits."""

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError."""
        self._casts = parse_spec(CONFIG.parse(configs)["spec"])
        self._whole = self._casts.get(WHOLE_VALUE)
        self._schemas = LRUCache[Schema, Schema](SCHEMA_CACHE_SIZE)

    def apply(self, record: R) -> R:
        """Cast. Raises DataError for a text that is no number, and for lists, maps and structs."""
        schema, value = self.operating_schema(record), self.operating_value(record)
        if value is None:
            return record
        if schema is None:
            return self.new_record(record, None, self._without_schema(value))
        updated = self._schemas.get(schema, lambda: self._updated_schema(schema))
        if self._whole is not None:
            return self.new_record(record, updated, cast_value(schema, value, self._whole))
        struct = require_struct(value, PURPOSE)
        values = {field.name: self._field_value(field, struct.get(field)) for field in schema.fields}
        return self.new_record(record, updated, Struct(updated, values))

    def _without_schema(self, value: Any) -> Any:
        if self._whole is not None:
            return cast_value(None, value, self._whole)
        values = require_map(value, PURPOSE)
        return {**values, **{name: cast_value(None, values.get(name), kind) for name, kind in self._casts.items()}}

    def _field_value(self, field: Field, value: Any) -> Any:
        kind = self._casts.get(field.name)
        return value if kind is None else cast_value(field.schema, value, kind)

    def _updated_schema(self, schema: Schema) -> Schema:
        if self._whole is not None:
            return _with_default(copy_schema_basics(schema, SchemaBuilder(self._whole)), schema, self._whole)
        builder = copy_schema_basics(schema, SchemaBuilder.struct())
        for field in schema.fields:
            kind = self._casts.get(field.name)
            cast = field.schema if kind is None else _with_default(SchemaBuilder(kind), field.schema, kind)
            builder.field(field.name, cast)
        if schema.optional:
            builder.optional()
        return builder.build()


def _with_default(builder: SchemaBuilder, schema: Schema, kind: Type) -> Schema:
    """The schema of cast values: optional if they were, with their default cast as well."""
    if schema.optional:
        builder.optional()
    if schema.default is not None:
        builder.default_value(cast_value(schema, schema.default, kind))
    return builder.build()


# ---------------------------------------------------------------------------------------------------------- values


def cast_value(schema: Schema | None, value: Any, kind: Type) -> Any:
    """A value as one of another type; None stays None. Raises DataError."""
    if value is None:
        return None
    source = _type_of(value) if schema is None else schema.type
    if source not in _INPUT_TYPES:
        raise DataError(f"Cast transformation does not support casting from {source}; {_supported(_INPUT_TYPES)}")
    if kind is Type.STRING:
        return value_text(value)
    plain = value if schema is None else _plain(schema, value)
    if not isinstance(plain, bool | int | float | str | decimal.Decimal):
        raise DataError(f"Unexpected type in Cast transformation: {type(plain).__qualname__}")
    try:
        return _number(plain, kind)
    except (ValueError, OverflowError) as error:
        raise DataError(f"Value ({java_text(value)}) was out of range for requested data type") from error


_PYTHON_TYPES: Final[tuple[tuple[type | tuple[type, ...], Type], ...]] = (
    (bool, Type.BOOLEAN),
    (int, Type.INT64),
    (float, Type.FLOAT64),
    (str, Type.STRING),
    ((bytes, bytearray, memoryview), Type.BYTES),
    ((list, tuple), Type.ARRAY),
    (Mapping, Type.MAP),
    (Struct, Type.STRUCT),
)


def _type_of(value: Any) -> Type:
    for classes, kind in _PYTHON_TYPES:
        if isinstance(value, classes):
            return kind
    raise DataError(
        f"Cast transformation was passed a value of type {type(value).__qualname__} which is not supported by "
        "Connect's data API"
    )


def _plain(schema: Schema, value: Any) -> Any:
    """The number that represents a date, a time or a timestamp."""
    match schema.name:
        case Date.LOGICAL_NAME:
            return Date.from_logical(schema, value)
        case Time.LOGICAL_NAME:
            return Time.from_logical(schema, value)
        case Timestamp.LOGICAL_NAME:
            return Timestamp.from_logical(schema, value)
    return value


def _number(value: bool | int | float | str | decimal.Decimal, kind: Type) -> Any:
    match kind:
        case Type.BOOLEAN:
            return value.lower() == "true" if isinstance(value, str) else int(value) != 0
        case Type.FLOAT32:
            return to_single(float(value))
        case Type.FLOAT64:
            return float(value)
    bits = _INTEGER_BITS[kind]
    if isinstance(value, str):
        number = int(value) if value.isascii() and value.lstrip("+-").isdecimal() else None
        if number is None or not -(1 << bits - 1) <= number < 1 << bits - 1:
            raise ValueError(f"{value} is no {kind}")
        return number
    if isinstance(value, float):
        value = _clamped(value, 64 if kind is Type.INT64 else 32)
    lower = int(value) & ((1 << bits) - 1)
    return lower - (1 << bits) if lower >> (bits - 1) else lower


def _clamped(value: float, bits: int) -> int:
    """As Java casts a double: NaN is 0, what is too large is the largest int or long."""
    if value != value:
        return 0
    limit = 1 << (bits - 1)
    return limit - 1 if value >= limit else -limit if value < -limit else int(value)


class CastKey(OnKey, Cast):
    """Kafka: Cast$Key."""


class CastValue(OnValue, Cast):
    """Kafka: Cast$Value."""
