"""The converter as a whole. ``tests/data/connect-json-0.10.2.tsv`` has what that of 0.10.2.2 writes and reads."""

import datetime
import decimal
import math
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.connect.api import (
    DataError,
    Date,
    Decimal,
    Schema,
    SchemaAndValue,
    SchemaBuilder,
    Struct,
    Time,
    Timestamp,
)
from kafka_lite.connect.api.data.java_text import java_text
from kafka_lite.connect.json.json_converter import JsonConverter

REPOSITORY = Path(__file__).parents[4]
ROWS = [
    line.split("\t")
    for line in (REPOSITORY / "tests/data/connect-json-0.10.2.tsv").read_text("utf-8").split("\n")
    if line
]
RECORD = (
    SchemaBuilder.struct()
    .name("rec")
    .version(2)
    .doc("a doc")
    .field("id", Schema.INT32_SCHEMA)
    .field("name", Schema.OPTIONAL_STRING_SCHEMA)
    .field("n", SchemaBuilder.int64().default_value(9))
    .field("when", Timestamp.SCHEMA)
    .field("day", Date.SCHEMA)
    .field("time", Time.SCHEMA)
    .field("price", Decimal.schema(2))
    .field("inner", SchemaBuilder.struct().optional().field("x", Schema.FLOAT64_SCHEMA))
    .build()
)
WHEN = datetime.datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=datetime.UTC)
STRUCT = Struct(
    RECORD,
    {
        "id": 1,
        "when": WHEN,
        "day": WHEN.date(),
        "time": datetime.time(1),
        "price": decimal.Decimal("-12.34"),
    },
)
STRING_MAP = SchemaBuilder.map(Schema.STRING_SCHEMA, Schema.INT32_SCHEMA).build()
INT_MAP = SchemaBuilder.map(Schema.INT32_SCHEMA, Schema.STRING_SCHEMA).optional().build()
WRITTEN: dict[str, tuple[Schema | None, Any]] = {
    "null": (None, None),
    "bool": (Schema.BOOLEAN_SCHEMA, True),
    "int8": (Schema.INT8_SCHEMA, -7),
    "int16": (Schema.INT16_SCHEMA, 300),
    "int32": (Schema.INT32_SCHEMA, 1 << 20),
    "int64": (Schema.INT64_SCHEMA, 1 << 60),
    "float32": (Schema.FLOAT32_SCHEMA, 1.5),
    "float32 0.1": (Schema.FLOAT32_SCHEMA, 0.1),
    "float64": (Schema.FLOAT64_SCHEMA, 0.1),
    "float64 1e30": (Schema.FLOAT64_SCHEMA, 1e30),
    "float64 100": (Schema.FLOAT64_SCHEMA, 100),
    "float64 nan": (Schema.FLOAT64_SCHEMA, math.nan),
    "string": (Schema.STRING_SCHEMA, 'fünf "x" \n 中 / \u2028'),
    "bytes": (Schema.BYTES_SCHEMA, b"\x00\x01\xff"),
    "optional string null": (Schema.OPTIONAL_STRING_SCHEMA, None),
    "string null": (Schema.STRING_SCHEMA, None),
    "default null": (SchemaBuilder.int32().default_value(5).build(), None),
    "array": (SchemaBuilder.array(Schema.INT32_SCHEMA).build(), [1, 2, 3]),
    "map string": (STRING_MAP, {"a": 1, "b": 2}),
    "map int": (INT_MAP, {1: "x", 2: "y"}),
    "map int, no schema": (None, {1: "x", 2: "y"}),
    "map string, no schema": (None, {"a": 1, "b": 2}),
    "list, no schema": (None, ["ns", {"a": 1, "b": 2}, None, 1.5, 7, True]),
    "struct": (RECORD, STRUCT),
    "parameters": (SchemaBuilder.string().parameter("k", "v").parameter("j", "w").doc("d").build(), "p"),
    "decimal 0": (Decimal.schema(0), decimal.Decimal(128)),
    "day with a time": (Date.SCHEMA, datetime.datetime(1970, 1, 2, 0, 0, 0, 1000)),
    "wrong class": (Schema.INT32_SCHEMA, "x"),
}


def converter(schemas: str = "true", **more: object) -> JsonConverter:
    made = JsonConverter()
    made.configure({"schemas.enable": schemas, **{key.replace("_", "."): value for key, value in more.items()}}, False)
    return made


def assert_refused_as_by_java(expected: str, error: DataError) -> None:
    text = expected.removeprefix("! DataException: ").replace("class java.lang.String", "str")
    assert str(error).startswith(text)


@pytest.mark.parametrize(("name", "schemas", "expected"), [row[1:] for row in ROWS if row[0] == "write"])
def test_writes_what_java_writes(name: str, schemas: str, expected: str) -> None:
    schema, value = WRITTEN[name]
    if expected.startswith("!"):
        with pytest.raises(DataError) as caught:
            converter(schemas).from_connect_data("t", schema, value)
        assert_refused_as_by_java(expected, caught.value)
        return
    written = converter(schemas).from_connect_data("t", schema, value)
    assert written == (None if expected == "(null record)" else expected.encode())


def test_the_sample_and_the_values_have_the_same_names() -> None:
    assert {row[1] for row in ROWS if row[0] == "write"} == WRITTEN.keys()


READ = [row[1:] for row in ROWS if row[0] == "read" and not row[3].startswith("! NullPointerException")]


@pytest.mark.parametrize(("text", "schemas", "expected"), READ)
def test_reads_what_java_reads(text: str, schemas: str, expected: str) -> None:
    if expected.startswith("!"):
        with pytest.raises(DataError) as caught:
            converter(schemas).to_connect_data("t", text.encode())
        assert_refused_as_by_java(expected, caught.value)
        return
    schema, value = converter(schemas).to_connect_data("t", text.encode())
    java_schema, _, java_value = expected.partition(" ")
    assert java_text(schema) == java_schema
    # Java names the class of a value, and its maps have another order.
    assert sorted(java_text(value)) == sorted(java_value.partition(" ")[2] or java_value)


def test_a_null_record_is_read_as_nothing() -> None:
    assert converter("true").to_connect_data("t", None) == SchemaAndValue(None, None)
    assert converter("false").to_connect_data("t", None) == SchemaAndValue(None, None)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        WRITTEN[name]
        for name in WRITTEN
        if name not in ("string null", "day with a time", "wrong class", "default null")
    ],
)
def test_what_is_written_reads_back(schema: Schema | None, value: Any) -> None:
    written = converter().from_connect_data("t", schema, value)
    again = converter().from_connect_data("t", *converter().to_connect_data("t", written))

    assert again == written


def test_a_struct_field_that_is_not_there_is_like_a_null() -> None:
    text = (
        b'{"schema":{"type":"struct","fields":[{"type":"int32","field":"a","default":4},'
        b'{"type":"string","optional":true,"field":"b"}]},"payload":{}}'
    )
    struct = converter().to_connect_data("t", text).value

    assert (struct["a"], struct["b"]) == (4, None)
    with pytest.raises(DataError, match=r"^Invalid null value for required INT32 field$"):
        converter().to_connect_data("t", text.replace(b',"default":4', b""))


def test_schemas_are_cached_by_what_they_are() -> None:
    same = converter()
    texts = [b'{"schema":{"type":"int8","version":%d},"payload":1}' % version for version in (1, 2, 1)]
    schemas = [same.to_connect_data("t", text).schema for text in texts]

    assert schemas[0] is schemas[2]
    assert [schema.version for schema in schemas if schema is not None] == [1, 2, 1]


def test_decimals_as_numbers() -> None:
    numeric, price = converter(decimal_format="numeric"), decimal.Decimal("1234567890123456789.01")
    written = numeric.from_connect_data("t", Decimal.schema(2), price)

    assert written is not None
    assert written.endswith(b'"payload":1234567890123456789.01}')
    assert converter().to_connect_data("t", written).value == price


def test_a_null_can_stay_one_beside_a_default() -> None:
    schema = SchemaBuilder.int32().optional().default_value(5).build()
    keeping = converter(replace_null_with_default=False)

    assert (keeping.from_connect_data("t", schema, None) or b"").endswith(b'"payload":null}')
    assert keeping.to_connect_data("t", keeping.from_connect_data("t", schema, None)).value is None


def test_a_text_that_has_no_utf_8() -> None:
    with pytest.raises(DataError, match=r"serialization error"):
        converter().from_connect_data("t", Schema.STRING_SCHEMA, "\ud800")


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("depth", [1_500, 100_000])
def test_data_that_is_nested_too_deeply_is_an_error_of_data(depth: int) -> None:
    """Such a record must end as any other that cannot be read: with ``errors.tolerance``, say."""
    deep: list[Any] = []
    for _ in range(depth):
        deep = [deep]
    with pytest.raises(DataError, match="serialization error"):
        converter("false").to_connect_data("t", nested(depth).encode())
    with pytest.raises(DataError, match="serialization error"):
        converter("false").from_connect_data("t", None, deep)
    assert converter("false").to_connect_data("t", nested(50).encode()).value


def test_a_schema_that_is_nested_too_deeply() -> None:
    schema = '{"type":"array","items":' * 400 + '{"type":"int8"}' + "}" * 400
    with pytest.raises(DataError, match="serialization error"):
        converter().to_connect_data("t", f'{{"schema":{schema},"payload":[]}}'.encode())
