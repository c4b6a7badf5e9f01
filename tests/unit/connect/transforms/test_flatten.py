import decimal

import pytest

from kafka_lite.connect.api import DataError, Schema, SchemaBuilder, Struct
from tests.support.transformed_records import made, of_value

HOME = SchemaBuilder.struct().field("x", Schema.INT8_SCHEMA).field("y", SchemaBuilder.int8().default_value(3))
PERSON = (
    SchemaBuilder.struct()
    .name("person")
    .field("id", Schema.INT8_SCHEMA)
    .field("tags", SchemaBuilder.array(Schema.STRING_SCHEMA))
    .field("home", HOME.optional())
    .build()
)


def test_a_map() -> None:
    value = {"a": 1, "b": {"c": None, "d": {"e": [1], "f": {}}}}

    assert of_value(made("Flatten$Value"), value).value == {"a": 1, "b.c": None, "b.d.e": [1]}
    assert of_value(made("Flatten$Value", delimiter="_"), {"b": {"c": 1}}).value == {"b_c": 1}


def test_a_struct() -> None:
    person = Struct(PERSON, {"id": 1, "tags": ["t"], "home": Struct(PERSON.fields[2].schema, {"x": 5})})
    record = of_value(made("Flatten$Value"), person, PERSON)
    schema = (
        SchemaBuilder.struct()
        .name("person")
        .field("id", Schema.INT8_SCHEMA)
        .field("tags", SchemaBuilder.array(Schema.STRING_SCHEMA))
        .field("home.x", Schema.OPTIONAL_INT8_SCHEMA)  # since the home is optional
        .field("home.y", SchemaBuilder.int8().optional().default_value(3))
        .build()
    )

    assert record.value_schema == schema
    assert record.value == Struct(schema, {"id": 1, "tags": ["t"], "home.x": 5, "home.y": 3})


def test_an_optional_struct_that_is_missing() -> None:
    record = of_value(made("Flatten$Value"), Struct(PERSON, {"id": 1, "tags": []}), PERSON)

    assert record.value.get_without_default("home.x") is None


def test_fields_have_defaults_from_the_default_of_their_struct() -> None:
    inner = SchemaBuilder.struct().field("x", Schema.INT8_SCHEMA).build()
    builder = SchemaBuilder.struct().field("x", Schema.INT8_SCHEMA)
    outer = SchemaBuilder.struct().field("in", builder.default_value(Struct(inner, {"x": 9}))).build()
    record = of_value(made("Flatten$Value"), Struct(outer), outer)

    assert record.value["in.x"] == 9
    assert record.value_schema == SchemaBuilder.struct().field("in.x", SchemaBuilder.int8().default_value(9)).build()


def test_nothing_stays_nothing() -> None:
    assert of_value(made("Flatten$Value"), None).value is None


def test_what_cannot_be_flattened() -> None:
    mapped = SchemaBuilder.struct().field("m", SchemaBuilder.map(Schema.STRING_SCHEMA, Schema.INT8_SCHEMA)).build()
    with pytest.raises(DataError, match=r"does not support MAP for record with schemas \(for field m\)\.$"):
        of_value(made("Flatten$Value"), Struct(mapped, {"m": {}}), mapped)
    with pytest.raises(DataError, match=r"does not support Decimal for record without schemas \(for field a\.b\)\.$"):
        of_value(made("Flatten$Value"), {"a": {"b": decimal.Decimal(1)}})
    with pytest.raises(DataError, match=r"^Only Map objects supported in absence of schema for \[flattening\]"):
        of_value(made("Flatten$Key"), "value")
