import datetime
import decimal
from typing import Any

import pytest

from kafka_lite.connect.api import DataError, Date, Decimal, Schema, SchemaBuilder, Struct, Time, Timestamp
from kafka_lite.connect.api.data.struct import validate_value

POINT = SchemaBuilder.struct().field("x", Schema.INT32_SCHEMA).field("y", Schema.INT32_SCHEMA).build()
PERSON = (
    SchemaBuilder.struct()
    .name("person")
    .field("id", Schema.INT64_SCHEMA)
    .field("name", Schema.OPTIONAL_STRING_SCHEMA)
    .field("age", SchemaBuilder.int8().default_value(7))
    .field("home", SchemaBuilder.struct().field("x", Schema.INT32_SCHEMA).field("y", Schema.INT32_SCHEMA).optional())
    .build()
)
HOME = PERSON.fields[3].schema


def test_fields_are_set_and_read_by_name() -> None:
    person = Struct(PERSON, {"id": 1}).put("name", "Ann")
    person["age"] = 30

    assert (person["id"], person.get("name"), person.get(PERSON.fields[2])) == (1, "Ann", 30)
    assert dict(person.items()) == {"id": 1, "name": "Ann", "age": 30, "home": None}


def test_a_field_that_is_not_set_has_its_default() -> None:
    person = Struct(PERSON)

    assert (person["age"], person.get_without_default("age"), person["name"]) == (7, None, None)


def test_structs_with_equal_schemas_and_values_are_equal() -> None:
    assert Struct(POINT, {"x": 1, "y": 2}) == Struct(POINT, {"x": 1, "y": 2})
    assert hash(Struct(POINT, {"x": 1, "y": 2})) == hash(Struct(POINT, {"x": 1, "y": 2}))
    assert Struct(POINT, {"x": 1, "y": 2}) != Struct(POINT, {"x": 1, "y": 3})
    assert Struct(POINT, {"x": 1, "y": 2}) != Struct(HOME, {"x": 1, "y": 2})


def test_the_text_has_what_is_set() -> None:
    person = Struct(PERSON, {"id": 1, "home": Struct(HOME, {"x": 1, "y": 2})})

    assert str(person) == "Struct{id=1,home=Struct{x=1,y=2}}"


def test_a_struct_is_valid_once_its_required_fields_are_set() -> None:
    person = Struct(PERSON)
    with pytest.raises(DataError, match=r'^Invalid value: null used for required field: "id", schema type: INT64$'):
        person.validate()
    person.put("id", 1).validate()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("nobody", 1, "^nobody is not a valid field name$"),
        ("id", "1", '^Invalid Python object for schema type INT64: str for field: "id"$'),
        ("id", True, '^Invalid Python object for schema type INT64: bool for field: "id"$'),
        ("id", None, '^Invalid value: null used for required field: "id", schema type: INT64$'),
        ("id", 1 << 63, "9223372036854775808 is not from -9223372036854775808 to 9223372036854775807"),
        ("age", -129, "-129 is not from -128 to 127"),
        ("name", b"Ann", "schema type STRING: bytes"),
        ("home", Struct(POINT, {"x": 1, "y": 2}), "^Struct schemas do not match.$"),
        ("home", Struct(HOME, {"x": 1}), 'null used for required field: "y"'),
    ],
)
def test_a_field_takes_only_what_fits(name: str, value: object, says: str) -> None:
    with pytest.raises(DataError, match=says):
        Struct(PERSON, {name: value})


def test_a_struct_needs_the_schema_of_one() -> None:
    with pytest.raises(DataError, match=r"^Not a struct schema: Schema{INT8}$"):
        Struct(Schema.INT8_SCHEMA)


MAP = SchemaBuilder.map(Schema.STRING_SCHEMA, Schema.INT32_SCHEMA).build()
ARRAY = SchemaBuilder.array(Schema.OPTIONAL_INT16_SCHEMA).build()


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (Schema.OPTIONAL_BYTES_SCHEMA, None),
        (Schema.BYTES_SCHEMA, bytearray(b"x")),
        (Schema.BYTES_SCHEMA, memoryview(b"x")),
        (Schema.FLOAT64_SCHEMA, 1),
        (Schema.FLOAT32_SCHEMA, 1.5),
        (Schema.BOOLEAN_SCHEMA, False),
        (Schema.INT16_SCHEMA, -32768),
        (MAP, {"a": 1}),
        (ARRAY, (1, None)),
        (Decimal.schema(2), decimal.Decimal("1.00")),
        (Date.SCHEMA, datetime.date(2023, 11, 14)),
        (Time.SCHEMA, datetime.time(22, 13)),
        (Timestamp.SCHEMA, datetime.datetime(2023, 11, 14, 22, 13)),
    ],
)
def test_what_fits(schema: Schema, value: Any) -> None:
    validate_value(schema, value)


@pytest.mark.parametrize(
    ("schema", "value", "says"),
    [
        (Schema.FLOAT64_SCHEMA, True, "FLOAT64: bool"),
        (Schema.BOOLEAN_SCHEMA, 1, "BOOLEAN: int"),
        (Schema.STRING_SCHEMA, None, "^Invalid value: null used for required field$"),
        (MAP, {1: 1}, "STRING: int"),
        (MAP, {"a": "b"}, "INT32: str"),
        (MAP, [("a", 1)], "MAP: list"),
        (ARRAY, [1, "x"], "INT16: str"),
        (ARRAY, "text", "ARRAY: str"),
        (Decimal.schema(2), 1.0, "BYTES: float"),
        (Date.SCHEMA, 19675, "INT32: int"),
        (Time.SCHEMA, datetime.datetime(2023, 11, 14), "INT32: datetime"),
        (Timestamp.SCHEMA, datetime.date(2023, 11, 14), "INT64: date"),
    ],
)
def test_what_does_not_fit(schema: Schema, value: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        validate_value(schema, value)
