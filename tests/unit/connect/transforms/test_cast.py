import datetime
import decimal
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api import DataError, Date, Decimal, Schema, SchemaBuilder, Struct, Timestamp
from tests.support.transformed_records import made, of_value

MOMENT = datetime.datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("int8", 300, 44),
        ("int8", -1.9, -1),
        ("int16", 1e30, -1),
        ("int64", 1e30, 2**63 - 1),
        ("int32", float("nan"), 0),
        ("int32", True, 1),
        ("int32", "-7", -7),
        ("int64", decimal.Decimal("1.9"), 1),
        ("float32", 0.1, 0.10000000149011612),
        ("float64", "1e3", 1000.0),
        ("float64", False, 0.0),
        ("boolean", 0.5, False),
        ("boolean", "TRUE", True),
        ("boolean", "yes", False),
        ("string", 1e30, "1.0E30"),
        ("string", True, "true"),
        ("string", b"\x00\x01", "AAE="),
    ],
)
def test_whole_values(kind: str, value: Any, expected: Any) -> None:
    schemas = {decimal.Decimal: Decimal.schema(1)}
    assert of_value(made("Cast$Value", spec=kind), value, schemas.get(type(value))).value == expected


def test_a_whole_value_gets_another_schema() -> None:
    schema = SchemaBuilder.int32().name("n").optional().default_value(7).build()
    record = of_value(made("Cast$Value", spec="string"), 5, schema)

    assert (record.value, record.value_schema) == (
        "5",
        SchemaBuilder.string().name("n").optional().default_value("7").build(),
    )


STRUCT = (
    SchemaBuilder.struct()
    .name("s")
    .optional()
    .field("a", SchemaBuilder.int64().default_value(5))
    .field("when", Timestamp.builder().optional())
    .field("rest", Schema.STRING_SCHEMA)
    .build()
)


def test_fields_of_a_struct() -> None:
    record = of_value(
        made("Cast$Value", spec="a:string, when:int64"), Struct(STRUCT, {"rest": "r", "when": MOMENT}), STRUCT
    )
    schema = (
        SchemaBuilder.struct()
        .name("s")
        .optional()
        .field("a", SchemaBuilder.string().default_value("5"))
        .field("when", Schema.OPTIONAL_INT64_SCHEMA)
        .field("rest", Schema.STRING_SCHEMA)
        .build()
    )

    assert record.value_schema == schema
    assert record.value == Struct(schema, {"a": "5", "when": 1700000000123, "rest": "r"})


def test_times_as_texts() -> None:
    cast = made("Cast$Value", spec="string")

    assert of_value(cast, MOMENT, Timestamp.SCHEMA).value == "2023-11-14T22:13:20.123Z"
    assert of_value(cast, MOMENT.date(), Date.SCHEMA).value == "2023-11-14"


def test_fields_of_a_map() -> None:
    assert of_value(made("Cast$Value", spec="a:int8,b:string"), {"a": "1", "c": 2}).value == {
        "a": 1,
        "b": None,
        "c": 2,
    }


def test_the_key_can_be_cast() -> None:
    record = of_value(made("Cast$Key", spec="boolean"), "value")

    assert (record.key, record.value) == (False, "value")


def test_nothing_stays_nothing() -> None:
    assert of_value(made("Cast$Value", spec="int8"), None, Schema.OPTIONAL_STRING_SCHEMA).value is None


@pytest.mark.parametrize(
    ("spec", "value", "says"),
    [
        ("int8", "x", r"^Value \(x\) was out of range for requested data type$"),
        ("int8", "128", r"^Value \(128\) was out of range"),
        ("float64", "x", r"^Value \(x\) was out of range"),
        ("int8", [1], r"^Cast transformation does not support casting from ARRAY; supported types are \[INT8, INT16,"),
        ("int8", b"1", r"^Unexpected type in Cast transformation: bytes$"),
        ("int8", MOMENT, r"which is not supported by Connect's data API$"),
        ("a:int8", 1, r"^Only Map objects supported in absence of schema for \[cast types\], found: int$"),
    ],
)
def test_what_cannot_be_cast(spec: str, value: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        of_value(made("Cast$Value", spec=spec), value)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("", r"Must specify at least one field to cast\.$"),
        ("a:b:c", r"Invalid rename mapping: a:b:c$"),
        ("a:text", r"Invalid type found in casting spec: text$"),
        ("bytes", r"Cast transformation does not support casting to BYTES; supported types are"),
        ("int8,a:int8", r"may only specify a single cast in their spec$"),
    ],
)
def test_a_spec_that_is_not_one(spec: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        made("Cast$Value", spec=spec)
