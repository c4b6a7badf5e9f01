import math
from decimal import Decimal as Number
from typing import Any

import pytest

from kafka_lite.connect.api import DataError, Date, Decimal, Schema, SchemaBuilder, Time, Timestamp
from kafka_lite.connect.json.json_converter_config import JsonConverterConfig
from kafka_lite.connect.json.json_reader import value_of

CONFIG = JsonConverterConfig()
ARRAY = SchemaBuilder.array(Schema.INT8_SCHEMA).build()
STRING_MAP = SchemaBuilder.map(Schema.STRING_SCHEMA, Schema.INT8_SCHEMA).build()
INT_MAP = SchemaBuilder.map(Schema.INT32_SCHEMA, Schema.INT8_SCHEMA).build()
STRUCT = SchemaBuilder.struct().field("s", Schema.STRING_SCHEMA).build()


@pytest.mark.parametrize(
    ("schema", "node", "value"),
    [
        (Schema.INT8_SCHEMA, 300, 44),
        (Schema.INT8_SCHEMA, -129, 127),
        (Schema.INT16_SCHEMA, Number("1.9"), 1),
        (Schema.INT32_SCHEMA, Number("-1e30"), -1073741824),
        (Schema.INT8_SCHEMA, Number("1e30"), 0),
        (Schema.INT64_SCHEMA, Number("1e30"), 5076944270305263616),
        (Schema.INT64_SCHEMA, Number("1e999999999"), 0),
        (Schema.INT64_SCHEMA, True, 0),
        (Schema.FLOAT64_SCHEMA, -(10**400), -math.inf),
        (Schema.FLOAT32_SCHEMA, Number("0.1"), 0.10000000149011612),
        (Schema.FLOAT32_SCHEMA, "-Infinity", -math.inf),
        (Schema.FLOAT64_SCHEMA, "1.5", 0.0),
        (Schema.FLOAT64_SCHEMA, False, 0.0),
        (Schema.BOOLEAN_SCHEMA, 1, False),
        (Schema.STRING_SCHEMA, 1, None),
        (Schema.BYTES_SCHEMA, "AAE=", b"\x00\x01"),
        (Schema.BYTES_SCHEMA, 1, None),
        (ARRAY, {"a": 1, "b": 2}, [1, 2]),
        (ARRAY, "x", []),
        (INT_MAP, [[1, 2], [3, 4]], {1: 2, 3: 4}),
        (Decimal.schema(1), 5, Number(5)),
    ],
)
def test_values_of_any_json_type_are_read_as_by_java(schema: Schema, node: Any, value: Any) -> None:
    assert value_of(schema, node, CONFIG) == value


def test_nan_reads_back() -> None:
    assert math.isnan(value_of(Schema.FLOAT64_SCHEMA, "NaN", CONFIG))


@pytest.mark.parametrize(
    ("schema", "node", "says"),
    [
        (Schema.BYTES_SCHEMA, "*", "^Invalid bytes field$"),
        (Schema.BYTES_SCHEMA, "ä", "^Invalid bytes field$"),
        (ARRAY, [None], "^Invalid null value for required INT8 field$"),
        (STRING_MAP, [], "^Maps with string fields should be encoded as JSON objects, but found ARRAY$"),
        (INT_MAP, {}, "^Maps with non-string fields should be encoded as JSON array of tuples, but found OBJECT$"),
        (INT_MAP, [True], "^Found invalid map entry instead of array tuple: BOOLEAN$"),
        (INT_MAP, [[1]], "^Found invalid map entry, expected length 2 but found :1$"),
        (SchemaBuilder.map(ARRAY, ARRAY).build(), [[[], []]], "keys of type ARRAY cannot be read"),
        (STRUCT, Number(1), "^Structs should be encoded as JSON objects, but found NUMBER$"),
        (STRUCT, {"s": 1}, '^Invalid value: null used for required field: "s"'),
        (Decimal.schema(1), True, "^Invalid type for Decimal"),
        (Decimal.schema(1), "", "at least one byte"),
        (Date.SCHEMA, 2**31 - 1, "not in the years 1 to 9999"),
        (Time.SCHEMA, -1, "^Time values must use"),
        (Timestamp.SCHEMA, -(2**63), "not in the years 1 to 9999"),
    ],
)
def test_what_cannot_be_read(schema: Schema, node: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        value_of(schema, node, CONFIG)
