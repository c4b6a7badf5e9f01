import pytest

from kafka_lite.connect.api import DataError, Field, Schema, SchemaBuilder, Type


def test_a_schema_is_equal_to_another_with_the_same_properties() -> None:
    def person() -> SchemaBuilder:
        return SchemaBuilder.struct().name("person").version(2).field("id", Schema.INT64_SCHEMA)

    assert person().build() == person().build()
    assert hash(person().build()) == hash(person().build())
    assert person().build() != person().optional().build()
    assert person().build() != person().field("name", Schema.STRING_SCHEMA).build()
    assert person().parameter("a", "1").parameter("b", "2").build() == person().parameters({"b": "2", "a": "1"}).build()


def test_a_schema_with_an_unhashable_default_has_a_hash() -> None:
    assert isinstance(hash(SchemaBuilder.array(Schema.INT8_SCHEMA).default_value([1]).build()), int)


def test_a_struct_schema_finds_its_fields() -> None:
    schema = SchemaBuilder.struct().field("a", Schema.INT8_SCHEMA).field("b", Schema.STRING_SCHEMA).build()

    assert schema.fields == (Field("a", 0, Schema.INT8_SCHEMA), Field("b", 1, Schema.STRING_SCHEMA))
    assert schema.field("b") is schema.fields[1]
    assert schema.field("c") is None


def test_questions_that_the_type_does_not_answer() -> None:
    with pytest.raises(DataError, match=r"Cannot look up fields on non-struct type"):
        Schema.INT8_SCHEMA.field("a")
    with pytest.raises(DataError, match=r"Cannot look up key schema on non-map type"):
        _ = SchemaBuilder.array(Schema.INT8_SCHEMA).build().key_schema
    with pytest.raises(DataError, match=r"Cannot look up value schema on non-array and non-map type"):
        _ = Schema.STRING_SCHEMA.value_schema
    assert SchemaBuilder.array(Schema.INT8_SCHEMA).build().value_schema == Schema.INT8_SCHEMA


def test_the_text_of_a_schema() -> None:
    assert str(Schema.OPTIONAL_FLOAT32_SCHEMA) == "Schema{FLOAT32}"
    assert str(SchemaBuilder.int32().name("n").build()) == "Schema{n:INT32}"


def test_constants_are_required_or_optional() -> None:
    plain = [t for t in Type if t.is_primitive]

    assert len(plain) == 9
    for kind in plain:
        assert getattr(Schema, f"{kind}_SCHEMA") == Schema(kind)
        assert getattr(Schema, f"OPTIONAL_{kind}_SCHEMA") == Schema(kind, optional=True)
