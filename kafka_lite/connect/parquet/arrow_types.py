"""Arrow's types for schemas of Connect, and values for them · book 8.3.2"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from kafka_lite.connect.api.data import logical_names
from kafka_lite.connect.api.data.logical_types import Decimal
from kafka_lite.connect.api.data.schema import Schema, Type
from kafka_lite.connect.api.data.struct import Struct

MAX_PRECISION = 38
_LOGICAL = {
    logical_names.DATE: pa.date32(),
    logical_names.TIME: pa.time32("ms"),
    logical_names.TIMESTAMP: pa.timestamp("ms", tz="UTC"),
}
_PLAIN = {
    Type.INT8: pa.int8(),
    Type.INT16: pa.int16(),
    Type.INT32: pa.int32(),
    Type.INT64: pa.int64(),
    Type.FLOAT32: pa.float32(),
    Type.FLOAT64: pa.float64(),
    Type.BOOLEAN: pa.bool_(),
    Type.STRING: pa.string(),
    Type.BYTES: pa.binary(),
}


def arrow_type(schema: Schema) -> pa.DataType:
    """The type of values of a schema."""
    if schema.name == logical_names.DECIMAL:
        return pa.decimal128(MAX_PRECISION, int((schema.parameters or {})[Decimal.SCALE_FIELD]))
    if schema.name in _LOGICAL:
        return _LOGICAL[schema.name]
    match schema.type:
        case Type.ARRAY:
            return pa.list_(arrow_type(schema.value_schema))
        case Type.MAP:
            return pa.map_(arrow_type(schema.key_schema), arrow_type(schema.value_schema))
        case Type.STRUCT:
            return pa.struct(_fields(schema))
    return _PLAIN[schema.type]


def _fields(schema: Schema) -> list[pa.Field]:
    return [pa.field(each.name, arrow_type(each.schema), nullable=each.schema.optional) for each in schema.fields]


def arrow_value(value: Any) -> Any:
    """A value as Arrow takes it: structs become dicts, maps with any keys become pairs, naive times are in UTC."""
    if isinstance(value, Struct):
        return {name: _map_or_value(value.schema, name, each) for name, each in value.items()}
    if isinstance(value, list):
        return [arrow_value(each) for each in value]
    if isinstance(value, datetime.datetime) and value.tzinfo is None:
        return value.replace(tzinfo=datetime.UTC)
    return value


def _map_or_value(schema: Schema, name: str, value: Any) -> Any:
    field = schema.field(name)
    if isinstance(value, Mapping) and field is not None and field.schema.type is Type.MAP:
        return [(arrow_value(key), arrow_value(each)) for key, each in value.items()]
    return arrow_value(value)


def table_of(schema: Schema | None, values: Sequence[Any]) -> pa.Table:
    """A table of structs of a schema. Without a schema, values are dicts, whose types are those of the first of them.

    Raises pyarrow.ArrowException for values that do not fit, such as a number with too many digits.
    """
    if schema is None:
        return pa.Table.from_pylist([dict(value) for value in values])
    return pa.Table.from_pylist([arrow_value(value) for value in values], schema=pa.schema(_fields(schema)))
