"""Values from texts and texts of values, as headers need them: a header's bytes do not say what they are.

Kafka 1.1: connect/api/.../connect/data/Values.java · book 8.3.3
"""

from __future__ import annotations

import base64
import datetime
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal as Number
from decimal import InvalidOperation
from typing import Any, Final

from kafka_lite.common.java.java_numbers import to_single
from kafka_lite.common.java.simple_date_format import SimpleDateFormat
from kafka_lite.connect.api.data.java_text import java_text
from kafka_lite.connect.api.data.logical_types import Date, Decimal, Time, Timestamp
from kafka_lite.connect.api.data.schema import Schema, Type
from kafka_lite.connect.api.data.schema_and_value import NULL, SchemaAndValue
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import DataError

_TIME: Final = SimpleDateFormat("HH:mm:ss.SSS'Z'")
_TIMESTAMP: Final = SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")
_DATE: Final = SimpleDateFormat("yyyy-MM-dd")
_MS_PER_DAY: Final = 86_400_000

# ------------------------------------------------------------------------------------------------------------ texts


def value_text(value: Any) -> str | None:
    """The text of a value: ``2023-11-14`` of a date, base64 of bytes, ``[1,"a"]`` of a list. None stays None."""
    return None if value is None else value if isinstance(value, str) else _text(value)


def _text(value: Any) -> str:
    match value:
        case None:
            return "null"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(value).decode("ascii")
        case datetime.datetime():
            return _TIMESTAMP.format(Timestamp.from_logical(Timestamp.SCHEMA, value))
        case datetime.date():
            return value.isoformat()
        case datetime.time():
            return _TIME.format(Time.from_logical(Time.SCHEMA, value))
        case list() | tuple():
            return f"[{','.join(map(_text, value))}]"
        case Mapping():
            return _entries_text(value.items())
        case Struct():
            return _entries_text(value.items())
    return java_text(value)


def _entries_text(entries: Iterable[tuple[Any, Any]]) -> str:
    return f"{{{','.join(f'{_text(key)}:{_text(value)}' for key, value in entries)}}}"


# ---------------------------------------------------------------------------------------------------------- values


def parse_string(text: str | None) -> SchemaAndValue:
    """The value of a text, of the smallest type that holds it; a text that is nothing else is a STRING.

    ``true``, ``1``, ``1.5``, ``2023-11-14``, ``22:13:20.123Z``, ``2023-11-14T22:13:20.123Z``, and lists and maps in
    JSON whose elements have one type. ``null`` is nothing.
    """
    if text is None or text == "null":
        return NULL
    match text[:1]:
        case "[" | "{":
            found = _parsed_json(text)
        case _:
            found = _scalar(text)
    return found or SchemaAndValue(Schema.STRING_SCHEMA, text)


def _scalar(text: str) -> SchemaAndValue | None:
    if text in ("true", "false"):
        return SchemaAndValue(Schema.BOOLEAN_SCHEMA, text == "true")
    if text[:1].isdecimal() or text[:1] in ("+", "-"):
        return _time(text) or _number(text)
    return None


def _time(text: str) -> SchemaAndValue | None:
    try:
        match len(text):
            case 10:
                return SchemaAndValue(Date.SCHEMA, Date.to_logical(Date.SCHEMA, _DATE.parse(text) // _MS_PER_DAY))
            case 13:
                return SchemaAndValue(Time.SCHEMA, Time.to_logical(Time.SCHEMA, _TIME.parse(text) % _MS_PER_DAY))
            case 24:
                return SchemaAndValue(Timestamp.SCHEMA, Timestamp.to_logical(Timestamp.SCHEMA, _TIMESTAMP.parse(text)))
    except (ValueError, DataError):
        pass
    return None


def _number(text: str) -> SchemaAndValue | None:
    try:
        number = Number(text)
    except InvalidOperation:
        return None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > 1000:
        return None  # not finite; or an integer that nobody should make
    if number == number.to_integral_value() and -(1 << 63) <= number < 1 << 63:
        return _integer(int(number))
    if exponent != 0 and math.isfinite(to_single(float(number))):
        return SchemaAndValue(Schema.FLOAT32_SCHEMA, to_single(float(number)))
    if exponent != 0 and math.isfinite(float(number)):
        return SchemaAndValue(Schema.FLOAT64_SCHEMA, float(number))
    return SchemaAndValue(Decimal.schema(-exponent), number)


def _integer(number: int) -> SchemaAndValue:
    for bits, schema in ((8, Schema.INT8_SCHEMA), (16, Schema.INT16_SCHEMA), (32, Schema.INT32_SCHEMA)):
        if -(1 << bits - 1) <= number < 1 << bits - 1:
            return SchemaAndValue(schema, number)
    return SchemaAndValue(Schema.INT64_SCHEMA, number)


def _parsed_json(text: str) -> SchemaAndValue | None:
    try:
        return _value_of(json.loads(text, parse_float=Number))
    except (ValueError, RecursionError, InvalidOperation):
        return None


def _value_of(node: Any) -> SchemaAndValue | None:
    """The value of parsed JSON; None if its elements have no common type."""
    match node:
        case bool():
            return SchemaAndValue(Schema.BOOLEAN_SCHEMA, node)
        case int() | Number():
            return _number(str(node))
        case str():
            return _time(node) or SchemaAndValue(Schema.STRING_SCHEMA, node)
        case list():
            schema, values = _common(node)
            return None if schema is None else SchemaAndValue(SchemaBuilder.array(schema).build(), values)
        case dict():
            schema, values = _common(node.values())
            if schema is None:
                return None
            mapped = dict(zip(node, values, strict=True))
            return SchemaAndValue(SchemaBuilder.map(Schema.STRING_SCHEMA, schema).build(), mapped)
    return NULL


_NUMBERS: Final = (Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64)


def _common(nodes: Iterable[Any]) -> tuple[Schema | None, list[Any]]:
    """The values of the elements, and the widest of their schemas; optional if there are nulls."""
    found = [_value_of(node) for node in nodes]
    schemas = {element.schema for element in found if element is not None and element.schema is not None}
    values = [None if element is None else element.value for element in found]
    if None in found or not schemas:
        return None, values
    if len(schemas) > 1 and not all(schema.type in _NUMBERS and schema.name is None for schema in schemas):
        return None, values
    widest = max(schemas, key=lambda schema: _NUMBERS.index(schema.type) if schema.type in _NUMBERS else 0)
    if None in values:
        widest = replace(widest, optional=True)
    if widest.type in (Type.FLOAT32, Type.FLOAT64):
        values = [None if value is None else float(value) for value in values]
    return widest, values
