import datetime
import decimal
from typing import Any

import pytest

from kafka_lite.connect.api import Date, Decimal, Schema, SchemaAndValue, SchemaBuilder, Struct, Time, Timestamp
from kafka_lite.connect.api.data.values import parse_string, value_text
from kafka_lite.connect.converters.simple_header_converter import SimpleHeaderConverter

MOMENT = datetime.datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=datetime.UTC)
STRINGS = SchemaBuilder.array(Schema.STRING_SCHEMA).build()
STRUCT = SchemaBuilder.struct().field("x", Schema.INT8_SCHEMA).build()
BIG = decimal.Decimal(10) ** 30


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("", Schema.STRING_SCHEMA, ""),
        ("abc", Schema.STRING_SCHEMA, "abc"),
        ("null", None, None),
        ("true", Schema.BOOLEAN_SCHEMA, True),
        ("True", Schema.STRING_SCHEMA, "True"),
        ("127", Schema.INT8_SCHEMA, 127),
        ("-129", Schema.INT16_SCHEMA, -129),
        ("1.0", Schema.INT8_SCHEMA, 1),
        ("1e5", Schema.INT32_SCHEMA, 100_000),
        ("2147483648", Schema.INT64_SCHEMA, 1 << 31),
        ("1.5", Schema.FLOAT32_SCHEMA, 1.5),
        ("1.5e300", Schema.FLOAT64_SCHEMA, 1.5e300),
        (str(int(BIG)), Decimal.schema(0), BIG),
        ("1-2", Schema.STRING_SCHEMA, "1-2"),
        ("+x", Schema.STRING_SCHEMA, "+x"),
        ("2023-11-14", Date.SCHEMA, MOMENT.date()),
        ("22:13:20.123Z", Time.SCHEMA, MOMENT.time()),
        ("2023-11-14T22:13:20.123Z", Timestamp.SCHEMA, MOMENT),
        ('["a","b"]', STRINGS, ["a", "b"]),
        ("[1, 1000]", SchemaBuilder.array(Schema.INT16_SCHEMA).build(), [1, 1000]),
        ("[1, 1.5, null]", SchemaBuilder.array(Schema.OPTIONAL_FLOAT32_SCHEMA).build(), [1.0, 1.5, None]),
        ('{"a":["b"]}', SchemaBuilder.map(Schema.STRING_SCHEMA, STRINGS).build(), {"a": ["b"]}),
        ('[1,"a"]', Schema.STRING_SCHEMA, '[1,"a"]'),
        ("[]", Schema.STRING_SCHEMA, "[]"),
        ("[1", Schema.STRING_SCHEMA, "[1"),
    ],
)
def test_a_text_is_what_it_looks_like(text: str, schema: Schema | None, value: Any) -> None:
    assert parse_string(text) == SchemaAndValue(schema, value)


@pytest.mark.parametrize("text", ["[" * 100_000, "1e999999999", "1e" + "9" * 30, "[" + "9" * 5_000 + "]"])
def test_a_number_that_nobody_means_is_a_text(text: str) -> None:
    assert parse_string(text) == SchemaAndValue(Schema.STRING_SCHEMA, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        ("a", "a"),
        (1.0, "1.0"),
        (True, "true"),
        (b"\x00", "AA=="),
        (["a", 1, None], '["a",1,null]'),
        ({"a": "b"}, '{"a":"b"}'),
        (Struct(STRUCT, {"x": 1}), '{"x":1}'),
        (MOMENT, "2023-11-14T22:13:20.123Z"),
        (MOMENT.date(), "2023-11-14"),
        (MOMENT.time(), "22:13:20.123Z"),
    ],
)
def test_the_text_of_a_value(value: Any, text: str | None) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize("value", ["a", 7, True, ["a"], {"a": [1]}, MOMENT, None])
def test_a_header_reads_back(value: Any) -> None:
    headers = SimpleHeaderConverter()

    assert headers.to_connect_header("t", "h", headers.from_connect_header("t", "h", None, value)).value == value
