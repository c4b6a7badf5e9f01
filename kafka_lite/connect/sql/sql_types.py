"""Columns of tables and schemas of Connect: which becomes which, and their values · book 8.3.2

=================== ======================= ========================================
column              schema                  column that is made of the schema
=================== ======================= ========================================
SMALLINT            INT16                   INT8 and INT16: SMALLINT
INTEGER             INT32; SQLite's: INT64  INTEGER
BIGINT              INT64                   BIGINT
REAL, FLOAT, DOUBLE FLOAT64                 FLOAT32: REAL, FLOAT64: DOUBLE
NUMERIC(p, s)       Decimal(s); FLOAT64 if  NUMERIC(38, s)
                    s is unknown, in SQLite
                    and with best_fit
BOOLEAN             BOOLEAN                 BOOLEAN
BLOB, BYTEA         BYTES                   BLOB, BYTEA
DATE                Date                    DATE
TIME                Time                    TIME
TIMESTAMP           Timestamp               TIMESTAMP, in UTC and without a zone
any other           STRING                  TEXT; VARCHAR(256) in a primary key
=================== ======================= ========================================
"""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import sqlalchemy as sa

from kafka_lite.connect.api.data import logical_names
from kafka_lite.connect.api.data.logical_types import Date, Decimal, Time, Timestamp
from kafka_lite.connect.api.data.schema import Schema, Type
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import ConnectError

MAX_PRECISION = 38
KEY_LENGTH = 256
_INT64_DIGITS = 18


def column_schema(column: sa.Column[Any], dialect: str, *, best_fit: bool) -> Schema:
    """The schema of a column's values; ``best_fit`` makes decimals integers or floats."""
    builder = _builder(column.type, dialect, best_fit)
    return (builder.optional() if column.nullable and not column.primary_key else builder).build()


def _builder(kind: sa.types.TypeEngine[Any], dialect: str, best_fit: bool) -> SchemaBuilder:
    match kind:
        case sa.Boolean():
            return SchemaBuilder.bool()
        case sa.SmallInteger():
            return SchemaBuilder.int16()
        case sa.BigInteger():
            return SchemaBuilder.int64()
        case sa.Integer():
            return SchemaBuilder.int64() if dialect == "sqlite" else SchemaBuilder.int32()
        case sa.Float():
            return SchemaBuilder.float64()
        case sa.Numeric():
            return _of_decimal(kind, dialect, best_fit)
        case sa.LargeBinary():
            return SchemaBuilder.bytes()
        case sa.DateTime():
            return Timestamp.builder()
        case sa.Date():
            return Date.builder()
        case sa.Time():
            return Time.builder()
    return SchemaBuilder.string()


def _of_decimal(kind: sa.Numeric[Any], dialect: str, best_fit: bool) -> SchemaBuilder:
    if kind.scale is None or dialect == "sqlite":  # SQLite has no decimals: it keeps floats
        return SchemaBuilder.float64()
    if not best_fit:
        return Decimal.builder(kind.scale)
    is_integer = kind.scale == 0 and kind.precision is not None and kind.precision <= _INT64_DIGITS
    return SchemaBuilder.int64() if is_integer else SchemaBuilder.float64()


def table_schema(table: sa.Table, dialect: str, *, best_fit: bool = False) -> Schema:
    """The schema of a table's rows; its name is that of the table."""
    builder = SchemaBuilder.struct().name(table.name)
    for column in table.columns:
        builder.field(column.name, column_schema(column, dialect, best_fit=best_fit))
    return builder.build()


def row_struct(schema: Schema, row: sa.RowMapping) -> Struct:
    """A row as a struct. Raises DataError if a value is not of its column's type, as SQLite allows."""
    struct = Struct(schema)
    for field in schema.fields:
        struct.put(field, _from_column(field.schema, row[field.name]))
    return struct


def _from_column(schema: Schema, value: Any) -> Any:
    if value is None:
        return None
    if schema.name == logical_names.DECIMAL:
        scale = int((schema.parameters or {})[Decimal.SCALE_FIELD])
        return decimal.Decimal(value).quantize(decimal.Decimal(1).scaleb(-scale))
    if schema.type is Type.FLOAT64:
        return float(value)
    if schema.type is Type.INT64 and isinstance(value, decimal.Decimal):
        return int(value)
    if schema.type is Type.STRING and not isinstance(value, str):
        return str(value)
    return bytes(value) if isinstance(value, memoryview) else value


# ── from a schema to a column ─────────────────────────────────────────────────────────────────────────────────────

_LOGICAL: dict[str, sa.types.TypeEngine[Any]] = {
    logical_names.DATE: sa.Date(),
    logical_names.TIME: sa.Time(),
    logical_names.TIMESTAMP: sa.DateTime(),
}
_PLAIN: dict[Type, sa.types.TypeEngine[Any]] = {
    Type.INT8: sa.SmallInteger(),
    Type.INT16: sa.SmallInteger(),
    Type.INT32: sa.Integer(),
    Type.INT64: sa.BigInteger(),
    Type.FLOAT32: sa.REAL(),
    Type.FLOAT64: sa.Double(),
    Type.BOOLEAN: sa.Boolean(),
    Type.STRING: sa.Text(),
    Type.BYTES: sa.LargeBinary(),
}


def column_of(name: str, schema: Schema, *, in_primary_key: bool) -> sa.Column[Any]:
    """A column for the values of a field. Raises ConnectError for a type that no column has."""
    kind = _column_type(name, schema)
    if in_primary_key and isinstance(kind, sa.Text):
        kind = sa.String(KEY_LENGTH)
    return sa.Column(
        name,
        kind,
        primary_key=in_primary_key,
        autoincrement=False,
        nullable=schema.optional and not in_primary_key,
        server_default=_server_default(schema),
    )


def _column_type(name: str, schema: Schema) -> sa.types.TypeEngine[Any]:
    if schema.name == logical_names.DECIMAL:
        return sa.Numeric(MAX_PRECISION, int((schema.parameters or {})[Decimal.SCALE_FIELD]))
    kind = _LOGICAL.get(schema.name or "") or _PLAIN.get(schema.type)
    if kind is None:
        raise ConnectError(
            f"No column can have the field {name} of type {schema.type.name}: take it apart with the transformation "
            "Flatten, or drop it with ReplaceField"
        )
    return kind


def _server_default(schema: Schema) -> Any:
    """None if there is none, or if a column cannot have it."""
    default = schema.default
    if isinstance(default, bool):
        return sa.true() if default else sa.false()
    if isinstance(default, int | float):
        return sa.text(str(default))
    return default if isinstance(default, str) else None


def to_column(value: Any) -> Any:
    """The value of a field for its column: times are in UTC and have no zone."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value
