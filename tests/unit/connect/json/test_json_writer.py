import datetime
import decimal
from typing import Any

import pytest

from kafka_lite.connect.api import DataError, Date, Decimal, Schema, SchemaBuilder, Struct, Time, Timestamp
from kafka_lite.connect.json.json_converter_config import JsonConverterConfig
from kafka_lite.connect.json.json_writer import json_of

CONFIG = JsonConverterConfig()
POINT = SchemaBuilder.struct().field("x", Schema.FLOAT32_SCHEMA).build()
OTHER = SchemaBuilder.struct().field("y", Schema.FLOAT32_SCHEMA).build()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"\x00", '"AA=="'),
        (memoryview(b"\x00"), '"AA=="'),
        ((1, 2.0), "[1,2.0]"),
        ({"a": Struct(POINT, {"x": 0.1})}, '{"a":{"x":0.1}}'),
        ({}, "{}"),
        ({None: 1}, "[[null,1]]"),
    ],
)
def test_values_without_a_schema(value: Any, text: str) -> None:
    assert json_of(None, value, CONFIG) == text


@pytest.mark.parametrize(
    ("schema", "value", "says"),
    [
        (None, decimal.Decimal(1), "^Python class Decimal does not have corresponding schema type.$"),
        (Schema.BOOLEAN_SCHEMA, 1, "^Invalid type for BOOLEAN: int$"),
        (Schema.INT64_SCHEMA, True, "^Invalid type for INT64: bool$"),
        (POINT, Struct(OTHER, {"y": 1}), "^Mismatching schema.$"),
        (POINT, {"x": 1}, "^Invalid type for STRUCT: dict$"),
        (Decimal.schema(0), 1, "^Invalid type for Decimal, expected Decimal but was int$"),
        (Date.SCHEMA, 1, "^Invalid type for Date, expected date but was int$"),
        (Time.SCHEMA, 1, "^Invalid type for Time, expected time but was int$"),
        (Timestamp.SCHEMA, datetime.date(1970, 1, 1), "^Invalid type for Timestamp, expected datetime but was date$"),
    ],
)
def test_what_cannot_be_written(schema: Schema | None, value: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        json_of(schema, value, CONFIG)
