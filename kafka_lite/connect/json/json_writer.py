"""From values to JSON.

Kafka 0.10.2: connect/json/.../connect/json/JsonConverter.java (convertToJson, TO_JSON_LOGICAL_CONVERTERS) · book 8.3.3
"""

from __future__ import annotations

import base64
import datetime
import decimal
from collections.abc import Callable, Mapping
from typing import Any, Final

from kafka_lite.connect.api.data.logical_types import Date, Decimal, Time, Timestamp
from kafka_lite.connect.api.data.schema import Schema, Type
from kafka_lite.connect.api.data.struct import Struct, is_of_type
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.json.json_converter_config import JsonConverterConfig
from kafka_lite.connect.json.json_text import double_json, float_json, quoted


def json_of(schema: Schema | None, value: Any, config: JsonConverterConfig) -> str:
    """The JSON of a value. Raises DataError if the value does not fit the schema."""
    if value is None:
        return _json_of_none(schema, config)
    if schema is None:
        return _json_without_schema(value, config)
    logical = _LOGICAL.get(schema.name) if schema.name is not None else None
    if logical is not None:
        return logical(schema, value, config)
    if not is_of_type(schema.type, value):
        raise DataError(f"Invalid type for {schema.type}: {type(value).__qualname__}")
    return _WRITERS[schema.type](schema, value, config)


def _json_of_none(schema: Schema | None, config: JsonConverterConfig) -> str:
    if schema is None:
        return "null"
    if schema.default is not None and config.replace_null_with_default:
        return json_of(schema, schema.default, config)
    if schema.optional:
        return "null"
    raise DataError("Conversion error: null value for field that is required and has no default value")


def _json_without_schema(value: Any, config: JsonConverterConfig) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return double_json(value)
        case str():
            return quoted(value)
        case bytes() | bytearray() | memoryview():
            return _base64(value)
        case list() | tuple():
            return _json_of_array(None, value, config)
        case Mapping():
            return _json_of_map(None, value, config)
        case Struct():
            return _json_of_struct(value.schema, value, config)
    raise DataError(f"Python class {type(value).__qualname__} does not have corresponding schema type.")


# -------------------------------------------------------------------------------------------------- values with schemas


def _base64(value: bytes | bytearray | memoryview) -> str:
    return f'"{base64.b64encode(value).decode("ascii")}"'


def _json_of_array(schema: Schema | None, value: Any, config: JsonConverterConfig) -> str:
    element_schema = None if schema is None else schema.value_schema
    return f"[{','.join([json_of(element_schema, element, config) for element in value])}]"


def _json_of_map(schema: Schema | None, value: Mapping[Any, Any], config: JsonConverterConfig) -> str:
    """An object if the keys are strings, else a list of pairs."""
    key_schema, value_schema = (None, None) if schema is None else (schema.key_schema, schema.value_schema)
    pairs = [(json_of(key_schema, k, config), json_of(value_schema, v, config)) for k, v in value.items()]
    if all(isinstance(key, str) for key in value) if key_schema is None else key_schema.type is Type.STRING:
        return f"{{{','.join([f'{key}:{element}' for key, element in pairs])}}}"
    return f"[{','.join([f'[{key},{element}]' for key, element in pairs])}]"


def _json_of_struct(schema: Schema, value: Struct, config: JsonConverterConfig) -> str:
    if value.schema != schema:
        raise DataError("Mismatching schema.")
    # A None stays one here: whether the default replaces it is for json_of to say.
    values = ((field, value.get_without_default(field)) for field in schema.fields)
    pairs = [f"{quoted(field.name)}:{json_of(field.schema, element, config)}" for field, element in values]
    return f"{{{','.join(pairs)}}}"


_Writer = Callable[[Schema, Any, JsonConverterConfig], str]

_WRITERS: Final[dict[Type, _Writer]] = {
    Type.INT8: lambda _schema, value, _config: str(value),
    Type.INT16: lambda _schema, value, _config: str(value),
    Type.INT32: lambda _schema, value, _config: str(value),
    Type.INT64: lambda _schema, value, _config: str(value),
    Type.FLOAT32: lambda _schema, value, _config: float_json(value),
    Type.FLOAT64: lambda _schema, value, _config: double_json(value),
    Type.BOOLEAN: lambda _schema, value, _config: "true" if value else "false",
    Type.STRING: lambda _schema, value, _config: quoted(value),
    Type.BYTES: lambda _schema, value, _config: _base64(value),
    Type.ARRAY: _json_of_array,
    Type.MAP: _json_of_map,
    Type.STRUCT: _json_of_struct,
}


# -------------------------------------------------------------------------------------------------------- logical types


def _json_of_decimal(schema: Schema, value: Any, config: JsonConverterConfig) -> str:
    if not isinstance(value, decimal.Decimal):
        raise _wrong_class(value, "Decimal", "Decimal")
    return str(value) if config.numeric_decimals else _base64(Decimal.from_logical(schema, value))


def _json_of_date(schema: Schema, value: Any, _config: JsonConverterConfig) -> str:
    if not isinstance(value, datetime.date):
        raise _wrong_class(value, "Date", "date")
    return str(Date.from_logical(schema, value))


def _json_of_time(schema: Schema, value: Any, _config: JsonConverterConfig) -> str:
    if not isinstance(value, datetime.time):
        raise _wrong_class(value, "Time", "time")
    return str(Time.from_logical(schema, value))


def _json_of_timestamp(schema: Schema, value: Any, _config: JsonConverterConfig) -> str:
    if not isinstance(value, datetime.datetime):
        raise _wrong_class(value, "Timestamp", "datetime")
    return str(Timestamp.from_logical(schema, value))


def _wrong_class(value: object, logical: str, expected: str) -> DataError:
    return DataError(f"Invalid type for {logical}, expected {expected} but was {type(value).__qualname__}")


_LOGICAL: Final[dict[str, _Writer]] = {
    Decimal.LOGICAL_NAME: _json_of_decimal,
    Date.LOGICAL_NAME: _json_of_date,
    Time.LOGICAL_NAME: _json_of_time,
    Timestamp.LOGICAL_NAME: _json_of_timestamp,
}
