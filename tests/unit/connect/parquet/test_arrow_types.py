import datetime
import decimal

import pyarrow as pa
import pytest

from kafka_lite.connect.api.data.logical_types import Date, Decimal, Time, Timestamp
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.parquet.arrow_types import arrow_type, table_of

INNER = SchemaBuilder.struct().field("x", Schema.INT8_SCHEMA).build()
SCHEMA = (
    SchemaBuilder.struct()
    .field("i", Schema.INT64_SCHEMA)
    .field("d", Decimal.builder(2).optional().build())
    .field("on", Date.SCHEMA)
    .field("time", Time.SCHEMA)
    .field("at", Timestamp.SCHEMA)
    .field("list", SchemaBuilder.array(Schema.STRING_SCHEMA).build())
    .field("map", SchemaBuilder.map(Schema.STRING_SCHEMA, Schema.INT32_SCHEMA).build())
    .field("inner", INNER)
    .build()
)


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        (Schema.INT8_SCHEMA, pa.int8()), (Schema.INT16_SCHEMA, pa.int16()), (Schema.INT32_SCHEMA, pa.int32()),
        (Schema.FLOAT32_SCHEMA, pa.float32()), (Schema.FLOAT64_SCHEMA, pa.float64()),
        (Schema.BOOLEAN_SCHEMA, pa.bool_()), (Schema.STRING_SCHEMA, pa.string()), (Schema.BYTES_SCHEMA, pa.binary()),
        (Decimal.schema(3), pa.decimal128(38, 3)), (Timestamp.SCHEMA, pa.timestamp("ms", tz="UTC")),
    ],
)  # fmt: skip
def test_types(schema: Schema, kind: pa.DataType) -> None:
    assert arrow_type(schema) == kind


def test_structs_become_rows() -> None:
    at = datetime.datetime(2026, 1, 1, 12, 0, 0, 5000, tzinfo=datetime.UTC)
    values = {
        "i": 1, "d": decimal.Decimal("2.50"), "on": datetime.date(2026, 1, 1), "time": datetime.time(1, 2, 3),
        "at": at.replace(tzinfo=None), "list": ["a"], "map": {"k": 1}, "inner": Struct(INNER, {"x": 7}),
    }  # fmt: skip
    table = table_of(SCHEMA, [Struct(SCHEMA, values), Struct(SCHEMA, values | {"d": None})])
    first, second = table.to_pylist()
    assert first == values | {"at": at, "map": [("k", 1)], "inner": {"x": 7}}
    assert second["d"] is None
    assert [field.nullable for field in table.schema][:3] == [False, True, False]


def test_without_a_schema_the_values_say_it() -> None:
    assert table_of(None, [{"a": 1, "b": "x"}, {"a": 2}]).to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    with pytest.raises(pa.ArrowException):
        table_of(None, [{"a": 1}, {"a": "x"}])
