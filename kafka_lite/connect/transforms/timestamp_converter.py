"""Changes how times are represented: as text, as a number since 1970, or as a Date, Time or Timestamp.

Kafka 0.11: connect/transforms/.../connect/transforms/TimestampConverter.java; unix.precision: Kafka 3.3 · book 8.3.3
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Final

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, ConfigError, Importance, ValidString
from kafka_lite.common.config_def import Type as ConfigType
from kafka_lite.common.java.simple_date_format import SimpleDateFormat
from kafka_lite.common.lru_cache import LRUCache
from kafka_lite.connect.api.data.logical_types import Date, Time, Timestamp
from kafka_lite.connect.api.data.schema import Schema, Type
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import ConnectError, DataError
from kafka_lite.connect.api.transformation import R
from kafka_lite.connect.transforms.key_or_value import (
    SCHEMA_CACHE_SIZE,
    KeyOrValueTransformation,
    OnKey,
    OnValue,
    copy_schema_basics,
)
from kafka_lite.connect.transforms.requirements import require_map, require_struct

PURPOSE = "converting timestamp formats"
STRING, UNIX, DATE, TIME, TIMESTAMP = "string", "unix", "Date", "Time", "Timestamp"
PER_SECOND: Final = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}

CONFIG = (
    ConfigDef()
    .define(
        "field",
        ConfigType.STRING,
        "",
        Importance.HIGH,
        "The field containing the timestamp, or empty if the entire value is a timestamp",
    )
    .define(
        "target.type",
        ConfigType.STRING,
        NO_DEFAULT,
        Importance.HIGH,
        "The desired timestamp representation: string, unix, Date, Time, or Timestamp",
        ValidString.in_(STRING, UNIX, DATE, TIME, TIMESTAMP),
    )
    .define(
        "format",
        ConfigType.STRING,
        "",
        Importance.MEDIUM,
        "A SimpleDateFormat-compatible format for the timestamp. Used to generate the output when type=string or used "
        "to parse the input if the input is a string.",
    )
    .define(
        "unix.precision",
        ConfigType.STRING,
        "milliseconds",
        Importance.LOW,
        "The desired Unix precision for the timestamp: seconds, milliseconds, microseconds, or nanoseconds. Used to "
        "generate the output when type=unix or used to parse the input if the input is a Long.",
        ValidString.in_(*PER_SECOND),
    )
)

_SCHEMAS: Final = {
    STRING: (Schema.STRING_SCHEMA, Schema.OPTIONAL_STRING_SCHEMA),
    UNIX: (Schema.INT64_SCHEMA, Schema.OPTIONAL_INT64_SCHEMA),
    DATE: (Date.SCHEMA, Date.builder().optional().build()),
    TIME: (Time.SCHEMA, Time.builder().optional().build()),
    TIMESTAMP: (Timestamp.SCHEMA, Timestamp.builder().optional().build()),
}
"""The schema of each representation: required, optional."""
_LOGICAL: Final = {Timestamp.LOGICAL_NAME: TIMESTAMP, Date.LOGICAL_NAME: DATE, Time.LOGICAL_NAME: TIME}


class TimestampConverter(KeyOrValueTransformation):
    """``target.type`` is how ``field`` is to be, or the whole value. ``format`` is the pattern of texts, in UTC."""

    def config(self) -> ConfigDef:
        """The keys of the configuration."""
        return CONFIG

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take the configuration. Raises ConfigError for texts without a format."""
        parsed = CONFIG.parse(configs)
        self._field: str = parsed["field"]
        self._target: str = parsed["target.type"]
        self._per_second = PER_SECOND[parsed["unix.precision"]]
        self._format: SimpleDateFormat | None = None
        self._schemas = LRUCache[Schema, Schema](SCHEMA_CACHE_SIZE)
        pattern: str = parsed["format"]
        if not pattern and self._target == STRING:
            raise ConfigError(
                "format", "", "TimestampConverter requires format option to be specified when using string timestamps"
            )
        if pattern:
            try:
                self._format = SimpleDateFormat(pattern)
            except ValueError as error:
                raise ConfigError(
                    "format",
                    pattern,
                    "TimestampConverter requires a SimpleDateFormat-compatible pattern for string timestamps: "
                    f"{pattern} ({error})",
                ) from error

    def apply(self, record: R) -> R:
        """Convert. Raises DataError for what is no time."""
        schema, value = self.operating_schema(record), self.operating_value(record)
        if schema is None:
            return self.new_record(record, None, self._without_schema(value))
        if not self._field:
            updated = _SCHEMAS[self._target][schema.optional]
            return self.new_record(record, updated, self._converted(value, _representation(schema)))
        updated = self._schemas.get(schema, lambda: self._updated_schema(schema))
        struct = None if value is None else self._updated_struct(require_struct(value, PURPOSE), updated)
        return self.new_record(record, updated, struct)

    def _without_schema(self, value: Any) -> Any:
        if value is None:
            return None
        if not self._field:
            return self._converted(value, _representation_of_value(value))
        values = require_map(value, PURPOSE)
        time = values.get(self._field)
        converted = None if time is None else self._converted(time, _representation_of_value(time))
        return {**values, self._field: converted}

    def _updated_schema(self, schema: Schema) -> Schema:
        if schema.type is not Type.STRUCT:
            raise DataError("Cannot list fields on non-struct type")
        builder = copy_schema_basics(schema, SchemaBuilder.struct())
        for field in schema.fields:
            converted = field.name == self._field
            builder.field(field.name, _SCHEMAS[self._target][field.schema.optional] if converted else field.schema)
        if schema.optional:
            builder.optional()
        if isinstance(schema.default, Struct):
            builder.default_value(self._updated_struct(schema.default, builder.build()))
        return builder.build()

    def _updated_struct(self, struct: Struct, updated: Schema) -> Struct:
        values = dict(struct.items())
        field = struct.schema.field(self._field)
        if field is not None:
            values[self._field] = self._converted(values[self._field], _representation(field.schema))
        return Struct(updated, values)

    # -------------------------------------------------------------------------------------------------------- times

    def _converted(self, value: Any, representation: str) -> Any:
        """From any representation, through ms since 1970, to the target's. None stays None."""
        return None if value is None else self._target_value(self._ms_of(value, representation))

    def _ms_of(self, value: Any, representation: str) -> int:
        match representation, value:
            case "string", str() if self._format is not None:
                try:
                    return self._format.parse(value)
                except ValueError as error:
                    raise DataError(
                        f"Could not parse timestamp: value ({value}) does not match pattern ({self._format.pattern})"
                    ) from error
            case "unix", int() if not isinstance(value, bool):
                ms = abs(value) * 1000 // self._per_second
                return -ms if value < 0 else ms  # as Java's TimeUnit: towards 1970
            case "Timestamp", datetime.datetime():
                return Timestamp.from_logical(Timestamp.SCHEMA, value)
            case "Date", datetime.date():
                return Date.from_logical(Date.SCHEMA, value) * 86_400_000
            case "Time", datetime.time():
                return Time.from_logical(Time.SCHEMA, value)
        if representation == STRING and self._format is None:
            raise DataError(f"Could not parse timestamp: value ({value}), since there is no format")
        raise DataError(f"Expected {representation} timestamp, but found {type(value).__qualname__}")

    def _target_value(self, ms: int) -> Any:
        match self._target:
            case "unix":
                value = abs(ms) * self._per_second // 1000
                return -value if ms < 0 else value
            case "Date":
                return Date.to_logical(Date.SCHEMA, ms // 86_400_000)
            case "Time":
                return Time.to_logical(Time.SCHEMA, ms % 86_400_000)
            case "Timestamp":
                return Timestamp.to_logical(Timestamp.SCHEMA, ms)
        assert self._format is not None
        try:
            return self._format.format(ms)
        except ValueError as error:
            raise DataError(str(error)) from error


def _representation(schema: Schema) -> str:
    if schema.name in _LOGICAL:
        return _LOGICAL[schema.name]
    match schema.type:
        case Type.STRING:
            return STRING
        case Type.INT64:
            return UNIX
    raise ConnectError(f"Schema {schema} does not correspond to a known timestamp type format")


def _representation_of_value(value: Any) -> str:
    match value:
        case datetime.datetime():
            return TIMESTAMP
        case datetime.date():
            return DATE
        case datetime.time():
            return TIME
        case int() if not isinstance(value, bool):
            return UNIX
        case str():
            return STRING
    raise DataError(f"TimestampConverter does not support {type(value).__qualname__} objects as timestamps")


class TimestampConverterKey(OnKey, TimestampConverter):
    """Kafka: TimestampConverter$Key."""


class TimestampConverterValue(OnValue, TimestampConverter):
    """Kafka: TimestampConverter$Value."""
