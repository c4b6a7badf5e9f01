from typing import Any

import pytest

from kafka_lite.connect.api import Decimal, Schema, SchemaBuilder, SchemaProjector, Struct
from kafka_lite.connect.api.errors import SchemaProjectorError

project = SchemaProjector.project
OLD = (
    SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).field("gone", Schema.STRING_SCHEMA).build()
)  # fmt: skip
NEW = (
    SchemaBuilder.struct()
    .field("id", Schema.INT64_SCHEMA)
    .field("added", SchemaBuilder.string().default_value("x"))
    .field("maybe", Schema.OPTIONAL_STRING_SCHEMA)
    .build()
)


def test_numbers_can_become_wider() -> None:
    numbers = ["INT8", "INT16", "INT32", "INT64", "FLOAT32", "FLOAT64"]
    for i, source in enumerate(numbers):
        for j, target in enumerate(numbers):
            schemas = getattr(Schema, f"{source}_SCHEMA"), getattr(Schema, f"{target}_SCHEMA")
            if i <= j:
                assert project(schemas[0], 5, schemas[1]) == 5
            else:
                with pytest.raises(SchemaProjectorError, match=r"^Schema type mismatch. source type: "):
                    project(schemas[0], 5, schemas[1])
    assert isinstance(project(Schema.INT8_SCHEMA, 5, Schema.FLOAT64_SCHEMA), float)


def test_a_struct_loses_fields_and_gets_defaults() -> None:
    assert project(OLD, Struct(OLD, {"id": 1, "gone": "g"}), NEW) == Struct(NEW, {"id": 1, "added": "x"})


def test_a_required_field_that_is_missing() -> None:
    target = SchemaBuilder.struct().name("t").field("new", Schema.INT8_SCHEMA).build()
    source = SchemaBuilder.struct().name("t").build()
    with pytest.raises(SchemaProjectorError, match=r"^Required field `new` is missing from source schema: Schema{t:ST"):
        project(source, Struct(source), target)


def test_an_error_in_a_field_names_it() -> None:
    target = SchemaBuilder.struct().field("id", Schema.STRING_SCHEMA).build()
    with pytest.raises(SchemaProjectorError, match=r"^Error projecting id: Schema type mismatch"):
        project(OLD, Struct(OLD, {"id": 1, "gone": "g"}), target)


def test_arrays_and_maps() -> None:
    ints, longs = SchemaBuilder.array(Schema.INT8_SCHEMA).build(), SchemaBuilder.array(Schema.INT64_SCHEMA).build()
    source = SchemaBuilder.map(Schema.STRING_SCHEMA, ints).build()
    target = SchemaBuilder.map(Schema.STRING_SCHEMA, longs).build()

    assert project(source, {"a": [1, 2]}, target) == {"a": [1, 2]}


OPTIONAL = Schema.OPTIONAL_INT8_SCHEMA
DEFAULTED = SchemaBuilder.int8().default_value(9).build()


@pytest.mark.parametrize(
    ("source", "value", "target", "expected"),
    [
        (OPTIONAL, None, OPTIONAL, None),
        (OPTIONAL, None, DEFAULTED, 9),
        (OPTIONAL, 1, DEFAULTED, 1),
        (Schema.INT8_SCHEMA, 1, OPTIONAL, 1),
    ],
)
def test_optional_values(source: Schema, value: Any, target: Schema, expected: Any) -> None:
    assert project(source, value, target) == expected


def test_an_optional_value_needs_a_target_that_may_miss_it() -> None:
    with pytest.raises(SchemaProjectorError, match=r"^Writer schema is optional, however, target schema does not"):
        project(OPTIONAL, 1, Schema.INT8_SCHEMA)


def test_names_and_parameters_must_be_equal() -> None:
    with pytest.raises(SchemaProjectorError, match=r"^Schema name mismatch. source name: a and target name: b$"):
        project(SchemaBuilder.int8().name("a").build(), 1, SchemaBuilder.int8().name("b").build())
    with pytest.raises(SchemaProjectorError, match=r"^Schema parameters not equal"):
        project(Decimal.schema(1), 1, Decimal.schema(2))
