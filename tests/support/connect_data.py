"""Hypothesis strategies: any schema of Connect, with values that fit it."""

from __future__ import annotations

import datetime
from decimal import Decimal as Number
from typing import Any

from hypothesis import strategies as st

from kafka_lite.connect.api import Date, Decimal, Schema, SchemaBuilder, Struct, Time, Timestamp, Type

_BITS = {Type.INT8: 8, Type.INT16: 16, Type.INT32: 32, Type.INT64: 64}
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
_LOGICAL = (Date.SCHEMA, Time.SCHEMA, Timestamp.SCHEMA, Decimal.schema(2))
_PLAIN = [Schema(kind) for kind in Type if kind.is_primitive]


def _optional(schema: Schema) -> Schema:
    builder = SchemaBuilder(schema.type, schema.keys, schema.values).optional()
    if schema.name is not None:
        builder.name(schema.name).version(1).parameters(schema.parameters or {})
    for field in schema.fields:
        builder.field(field.name, field.schema)
    return builder.build()


@st.composite
def _structs(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    builder = SchemaBuilder.struct()
    for name in draw(st.lists(_TEXTS.filter(bool), max_size=3, unique=True)):
        builder.field(name, draw(inner))
    return builder.build()


def _larger(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    keys = st.sampled_from([Schema.STRING_SCHEMA, Schema.INT32_SCHEMA])
    arrays = inner.map(lambda schema: SchemaBuilder.array(schema).build())
    maps = st.builds(lambda key, value: SchemaBuilder.map(key, value).build(), keys, inner)
    return arrays | maps | _structs(inner) | inner.map(_optional)


SCHEMAS: st.SearchStrategy[Schema] = st.recursive(st.sampled_from([*_PLAIN, *_LOGICAL]), _larger, max_leaves=5)


def values_of(schema: Schema) -> st.SearchStrategy[Any]:
    """Values that fit a schema."""
    fitting = _logical_values(schema) if schema.name is not None else _values(schema)
    return st.none() | fitting if schema.optional else fitting


def _logical_values(schema: Schema) -> st.SearchStrategy[Any]:
    if schema.name == Date.LOGICAL_NAME:
        return st.dates()
    if schema.name == Time.LOGICAL_NAME:
        return st.times().map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000))
    if schema.name == Timestamp.LOGICAL_NAME:
        moments = st.datetimes(timezones=st.just(datetime.UTC))
        return moments.map(lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000))
    return st.integers(-(10**20), 10**20).map(lambda unscaled: Number(unscaled).scaleb(-2))


def _values(schema: Schema) -> st.SearchStrategy[Any]:
    match schema.type:
        case Type.INT8 | Type.INT16 | Type.INT32 | Type.INT64:
            limit = 1 << (_BITS[schema.type] - 1)
            return st.integers(-limit, limit - 1)
        case Type.FLOAT32:
            return st.floats(width=32, allow_nan=False)
        case Type.FLOAT64:
            return st.floats(allow_nan=False)
        case Type.BOOLEAN:
            return st.booleans()
        case Type.STRING:
            return _TEXTS
        case Type.BYTES:
            return st.binary(max_size=5)
        case Type.ARRAY:
            return st.lists(values_of(schema.value_schema), max_size=3)
        case Type.MAP:
            return st.dictionaries(values_of(schema.key_schema), values_of(schema.value_schema), max_size=3)
    fields = {field.name: values_of(field.schema) for field in schema.fields}
    return st.fixed_dictionaries(fields).map(lambda values: Struct(schema, values))


DATA: st.SearchStrategy[tuple[Schema, Any]] = SCHEMAS.flatmap(
    lambda schema: st.tuples(st.just(schema), values_of(schema))
)
"""A schema with a value that fits it."""
