"""From JSON to values.

As in Kafka, a value of the wrong JSON type is read as nothing (0, false, None, no elements), and an integer that is too
large loses its upper bits.

Kafka 0.10.2: connect/json/.../connect/json/JsonConverter.java (convertToConnect, TO_CONNECT_CONVERTERS) · book 8.3.3
"""

from __future__ import annotations

import base64
import binascii
import decimal
import math
from collections.abc import Callable
from typing import Any, Final

from kafka_lite.common.java.java_numbers import to_single
from kafka_lite.connect.api.data.logical_types import Date, Decimal, Time, Timestamp
from kafka_lite.connect.api.data.schema import Schema, Type
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.json.json_converter_config import JsonConverterConfig


def value_of(schema: Schema | None, node: Any, config: JsonConverterConfig) -> Any:
    """The value of parsed JSON. Raises DataError if a value is missing, or encoded in another way."""
    if schema is None:
        return _value_without_schema(node)
    if node is None:
        if schema.default is not None and config.replace_null_with_default:
            return schema.default
        if schema.optional:
            return None
        raise DataError(f"Invalid null value for required {schema.type} field")
    logical = _LOGICAL.get(schema.name) if schema.name is not None else None
    reader = _READERS[schema.type] if logical is None else logical
    return reader(schema, node, config)


def _value_without_schema(node: Any) -> Any:
    match node:
        case decimal.Decimal():
            return float(node)
        case bool():
            return node
        case int():
            return _integer(node, 64)
        case list():
            return [_value_without_schema(element) for element in node]
        case dict():
            return {key: _value_without_schema(element) for key, element in node.items()}
    return node


# --------------------------------------------------------------------------------------------------------- plain values


def _integer(node: Any, bits: int) -> int:
    """The lower bits of a number, signed; a fraction is cut."""
    if isinstance(node, decimal.Decimal):
        # The lower 64 bits of 1E64 are 0, and int() of 1E999999999 would take all memory.
        exponent = node.as_tuple().exponent
        node = int(node) if isinstance(exponent, int) and exponent < 64 else 0
    if type(node) is not int:
        return 0
    lower = node & ((1 << bits) - 1)
    return lower - (1 << bits) if lower >> (bits - 1) else lower


def _integer_reader(bits: int) -> _Reader:
    return lambda _schema, node, _config: _integer(node, bits)


def _double(node: Any) -> float:
    if isinstance(node, decimal.Decimal) or type(node) is int:
        try:
            return float(node)
        except OverflowError:
            return -math.inf if node < 0 else math.inf
    return _NOT_FINITE.get(node, 0.0) if isinstance(node, str) else 0.0


_NOT_FINITE: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""How JsonConverter writes them. Java's reads them as 0."""


def _bytes(node: Any) -> bytes | None:
    if not isinstance(node, str):
        return None
    try:
        return base64.b64decode(node, validate=True)
    except (binascii.Error, ValueError) as error:
        raise DataError("Invalid bytes field") from error


# ----------------------------------------------------------------------------------------------------------- containers


def _array(schema: Schema, node: Any, config: JsonConverterConfig) -> list[Any]:
    elements = node if isinstance(node, list) else node.values() if isinstance(node, dict) else ()
    return [value_of(schema.value_schema, element, config) for element in elements]


def _map(schema: Schema, node: Any, config: JsonConverterConfig) -> dict[Any, Any]:
    if schema.key_schema.type is Type.STRING:
        if not isinstance(node, dict):
            raise DataError(f"Maps with string fields should be encoded as JSON objects, but found {_kind(node)}")
        return {key: value_of(schema.value_schema, element, config) for key, element in node.items()}
    if not isinstance(node, list):
        raise DataError(
            f"Maps with non-string fields should be encoded as JSON array of tuples, but found {_kind(node)}"
        )
    return dict(_entry(schema, entry, config) for entry in node)


def _entry(schema: Schema, entry: Any, config: JsonConverterConfig) -> tuple[Any, Any]:
    if not isinstance(entry, list):
        raise DataError(f"Found invalid map entry instead of array tuple: {_kind(entry)}")
    if len(entry) != 2:
        raise DataError(f"Found invalid map entry, expected length 2 but found :{len(entry)}")
    key, element = entry
    if not schema.key_schema.type.is_primitive:
        raise DataError(f"A map with keys of type {schema.key_schema.type} cannot be read: a dict has no such keys")
    return value_of(schema.key_schema, key, config), value_of(schema.value_schema, element, config)


def _struct(schema: Schema, node: Any, config: JsonConverterConfig) -> Struct:
    if not isinstance(node, dict):
        raise DataError(f"Structs should be encoded as JSON objects, but found {_kind(node)}")
    struct = Struct(schema)
    for field in schema.fields:
        # A field that is not there is like a null, as since Kafka 2.0. (0.10.2: NullPointerException.)
        struct.put(field, value_of(field.schema, node.get(field.name), config))
    return struct


def _kind(node: Any) -> str:
    """The name of Jackson's type of node."""
    kinds = {bool: "BOOLEAN", int: "NUMBER", decimal.Decimal: "NUMBER", str: "STRING", list: "ARRAY", dict: "OBJECT"}
    return kinds.get(type(node), "NULL")


_Reader = Callable[[Schema, Any, JsonConverterConfig], Any]

_READERS: Final[dict[Type, _Reader]] = {
    Type.INT8: _integer_reader(8),
    Type.INT16: _integer_reader(16),
    Type.INT32: _integer_reader(32),
    Type.INT64: _integer_reader(64),
    Type.FLOAT32: lambda _schema, node, _config: to_single(_double(node)),
    Type.FLOAT64: lambda _schema, node, _config: _double(node),
    Type.BOOLEAN: lambda _schema, node, _config: node is True,
    Type.STRING: lambda _schema, node, _config: node if isinstance(node, str) else None,
    Type.BYTES: lambda _schema, node, _config: _bytes(node),
    Type.ARRAY: _array,
    Type.MAP: _map,
    Type.STRUCT: _struct,
}


# -------------------------------------------------------------------------------------------------------- logical types


def _decimal(schema: Schema, node: Any, _config: JsonConverterConfig) -> decimal.Decimal:
    """Either format is read, whatever the configuration says."""
    if isinstance(node, decimal.Decimal) or type(node) is int:
        return decimal.Decimal(node)
    plain = _bytes(node)
    if plain is None:
        raise DataError("Invalid type for Decimal, underlying representation should be numeric or bytes but was null")
    return Decimal.to_logical(schema, plain)


_LOGICAL: Final[dict[str, _Reader]] = {
    Decimal.LOGICAL_NAME: _decimal,
    Date.LOGICAL_NAME: lambda schema, node, _config: Date.to_logical(schema, _integer(node, 32)),
    Time.LOGICAL_NAME: lambda schema, node, _config: Time.to_logical(schema, _integer(node, 32)),
    Timestamp.LOGICAL_NAME: lambda schema, node, _config: Timestamp.to_logical(schema, _integer(node, 64)),
}
