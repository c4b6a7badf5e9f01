from collections.abc import Callable

import pytest

from kafka_lite.connect.api import Schema, SchemaBuilder, Type
from kafka_lite.connect.api.errors import SchemaBuilderError


@pytest.mark.parametrize(
    ("build", "kind"),
    [
        (SchemaBuilder.int8, Type.INT8),
        (SchemaBuilder.int16, Type.INT16),
        (SchemaBuilder.int32, Type.INT32),
        (SchemaBuilder.int64, Type.INT64),
        (SchemaBuilder.float32, Type.FLOAT32),
        (SchemaBuilder.float64, Type.FLOAT64),
        (SchemaBuilder.bool, Type.BOOLEAN),
        (SchemaBuilder.string, Type.STRING),
        (SchemaBuilder.bytes, Type.BYTES),
        (SchemaBuilder.struct, Type.STRUCT),
    ],
)
def test_each_type_has_a_beginning(build: Callable[[], SchemaBuilder], kind: Type) -> None:
    assert build().build() == Schema(kind)


def test_a_map_and_an_array() -> None:
    schema = SchemaBuilder.map(Schema.STRING_SCHEMA, SchemaBuilder.array(Schema.INT8_SCHEMA).build()).build()

    assert (schema.key_schema, schema.value_schema.value_schema) == (Schema.STRING_SCHEMA, Schema.INT8_SCHEMA)


def test_all_properties() -> None:
    built = SchemaBuilder.int32().optional().default_value(4).name("n").version(1).doc("d").parameter("p", "v").build()

    assert built == Schema(Type.INT32, True, 4, "n", 1, "d", {"p": "v"})


@pytest.mark.parametrize(
    ("name", "twice"),
    [
        ("optional", lambda: SchemaBuilder.int8().optional().required()),
        ("default", lambda: SchemaBuilder.int8().default_value(1).default_value(1)),
        ("name", lambda: SchemaBuilder.int8().name("a").name("a")),
        ("version", lambda: SchemaBuilder.int8().version(1).version(1)),
        ("doc", lambda: SchemaBuilder.int8().doc("a").doc("a")),
    ],
)
def test_a_property_is_set_once(name: str, twice: Callable[[], SchemaBuilder]) -> None:
    with pytest.raises(SchemaBuilderError, match=f"^Invalid SchemaBuilder call: {name} has already been set.$"):
        twice()


@pytest.mark.parametrize("value", ["x", 128, True, None])
def test_a_default_must_fit(value: object) -> None:
    with pytest.raises(SchemaBuilderError, match=r"^Invalid default value: "):
        SchemaBuilder.int8().default_value(value)


def test_fields_belong_to_structs_and_have_different_names() -> None:
    with pytest.raises(SchemaBuilderError, match=r"^Cannot create fields on type INT8$"):
        SchemaBuilder.int8().field("a", Schema.INT8_SCHEMA)
    with pytest.raises(SchemaBuilderError, match=r"^fieldName cannot be null\.$"):
        SchemaBuilder.struct().field("", Schema.INT8_SCHEMA)
    with pytest.raises(SchemaBuilderError, match=r"field name duplication a"):
        SchemaBuilder.struct().field("a", Schema.INT8_SCHEMA).field("a", Schema.INT8_SCHEMA)


def test_a_field_may_be_given_by_its_builder() -> None:
    schema = SchemaBuilder.struct().field("a", SchemaBuilder.int8().optional()).build()

    assert schema.fields[0].schema == Schema.OPTIONAL_INT8_SCHEMA


def test_a_schema_does_not_change_with_its_builder() -> None:
    builder = SchemaBuilder.struct().parameter("a", "1")
    schema = builder.build()
    builder.field("x", Schema.INT8_SCHEMA).parameter("a", "2")

    assert (schema.fields, schema.parameters) == ((), {"a": "1"})
