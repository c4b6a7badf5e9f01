import datetime
import decimal
from typing import Any

import pytest
import sqlalchemy as sa

from kafka_lite.connect.api.data.logical_types import Date, Decimal, Time, Timestamp
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.errors import ConnectError, DataError
from kafka_lite.connect.sql.sql_types import column_of, column_schema, row_struct, table_schema, to_column

UTC = datetime.UTC


@pytest.mark.parametrize(
    ("kind", "dialect", "best_fit", "schema"),
    [
        (sa.SmallInteger(), "postgresql", False, Schema.INT16_SCHEMA),
        (sa.Integer(), "postgresql", False, Schema.INT32_SCHEMA),
        (sa.Integer(), "sqlite", False, Schema.INT64_SCHEMA),
        (sa.BigInteger(), "postgresql", False, Schema.INT64_SCHEMA),
        (sa.REAL(), "postgresql", False, Schema.FLOAT64_SCHEMA),
        (sa.Numeric(10, 2), "postgresql", False, Decimal.schema(2)),
        (sa.Numeric(10, 2), "postgresql", True, Schema.FLOAT64_SCHEMA),
        (sa.Numeric(18, 0), "postgresql", True, Schema.INT64_SCHEMA),
        (sa.Numeric(19, 0), "postgresql", True, Schema.FLOAT64_SCHEMA),
        (sa.Numeric(), "postgresql", False, Schema.FLOAT64_SCHEMA),
        (sa.Numeric(10, 2), "sqlite", False, Schema.FLOAT64_SCHEMA),
        (sa.Boolean(), "sqlite", False, Schema.BOOLEAN_SCHEMA),
        (sa.Text(), "sqlite", False, Schema.STRING_SCHEMA),
        (sa.Uuid(), "postgresql", False, Schema.STRING_SCHEMA),
        (sa.LargeBinary(), "sqlite", False, Schema.BYTES_SCHEMA),
        (sa.TIMESTAMP(), "sqlite", False, Timestamp.SCHEMA),
        (sa.Date(), "sqlite", False, Date.SCHEMA),
        (sa.Time(), "sqlite", False, Time.SCHEMA),
    ],
)
def test_columns_become_schemas(kind: Any, dialect: str, best_fit: bool, schema: Schema) -> None:
    assert column_schema(sa.Column("c", kind, nullable=False), dialect, best_fit=best_fit) == schema


def test_columns_that_may_be_null_are_optional() -> None:
    table = sa.Table("t", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("x", sa.Text))
    schema = table_schema(table, "sqlite")
    assert (schema.name, schema.field("id").schema.optional, schema.field("x").schema.optional) == ("t", False, True)  # type: ignore[union-attr]


def test_values_of_rows() -> None:
    builder = SchemaBuilder.struct().field("d", Decimal.schema(2)).field("f", Schema.FLOAT64_SCHEMA)
    builder.field("s", Schema.STRING_SCHEMA).field("b", Schema.BYTES_SCHEMA).field("i", Schema.INT64_SCHEMA)
    schema = builder.field("n", Schema.OPTIONAL_STRING_SCHEMA).build()
    row: Any = {"d": decimal.Decimal("1.5"), "f": decimal.Decimal(2), "s": {"a": 1}, "b": memoryview(b"x"),
                "i": decimal.Decimal(7), "n": None}  # fmt: skip
    assert dict(row_struct(schema, row).items()) == {
        "d": decimal.Decimal("1.50"), "f": 2.0, "s": "{'a': 1}", "b": b"x", "i": 7, "n": None
    }  # fmt: skip
    with pytest.raises(DataError, match='for field: "i"'):
        row_struct(schema, row | {"i": "seven"})


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        (Schema.INT8_SCHEMA, sa.SmallInteger), (Schema.INT16_SCHEMA, sa.SmallInteger),
        (Schema.INT32_SCHEMA, sa.Integer),
        (Schema.INT64_SCHEMA, sa.BigInteger), (Schema.FLOAT32_SCHEMA, sa.REAL), (Schema.FLOAT64_SCHEMA, sa.Double),
        (Schema.BOOLEAN_SCHEMA, sa.Boolean), (Schema.STRING_SCHEMA, sa.Text), (Schema.BYTES_SCHEMA, sa.LargeBinary),
        (Decimal.schema(3), sa.Numeric), (Date.SCHEMA, sa.Date), (Time.SCHEMA, sa.Time),
        (Timestamp.SCHEMA, sa.DateTime),
    ],
)  # fmt: skip
def test_schemas_become_columns(schema: Schema, kind: type) -> None:
    column = column_of("c", schema, in_primary_key=False)
    assert type(column.type) is kind
    assert not column.nullable
    assert getattr(column.type, "scale", None) == (3 if kind is sa.Numeric else getattr(kind(), "scale", None))


def test_a_text_in_a_primary_key_has_a_length() -> None:
    column = column_of("c", Schema.OPTIONAL_STRING_SCHEMA, in_primary_key=True)
    assert (column.type.length, column.nullable, column.primary_key) == (256, False, True)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (SchemaBuilder.int32().default_value(7).build(), "DEFAULT 7"),
        (SchemaBuilder.string().default_value("it's").build(), "DEFAULT 'it''s'"),
        (SchemaBuilder.bool().default_value(True).build(), "DEFAULT 1"),
    ],
)
def test_defaults(schema: Schema, text: str) -> None:
    from sqlalchemy.dialects import sqlite

    column = column_of("c", schema, in_primary_key=False)
    sa.Table("t", sa.MetaData(), column)
    assert text in str(sa.schema.CreateColumn(column).compile(dialect=sqlite.dialect()))  # type: ignore[no-untyped-call]


def test_what_no_column_has() -> None:
    with pytest.raises(ConnectError, match="No column can have the field c of type ARRAY: take it apart"):
        column_of("c", SchemaBuilder.array(Schema.STRING_SCHEMA).build(), in_primary_key=False)


def test_times_are_written_in_utc() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    assert to_column(datetime.datetime(2026, 1, 1, 2, tzinfo=zone)) == datetime.datetime(2026, 1, 1)
    assert to_column(7) == 7
