import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api import Schema, SchemaBuilder, Struct
from tests.support.transformed_records import made, of_value

SCHEMA = SchemaBuilder.struct().field("a", Schema.INT8_SCHEMA).field("b", Schema.INT8_SCHEMA).build()


def test_the_names_of_newer_versions() -> None:
    newer = made("ReplaceField$Value", include="a,b", exclude="b", renames="a:c")

    assert of_value(newer, {"a": 1, "b": 2, "d": 3}).value == {"c": 1}
    record = of_value(newer, Struct(SCHEMA, {"a": 1, "b": 2}), SCHEMA)
    assert record.value == Struct(SchemaBuilder.struct().field("c", Schema.INT8_SCHEMA).build(), {"c": 1})


def test_two_fields_can_swap_names() -> None:
    swapped = of_value(made("ReplaceField$Value", renames="a:b,b:a"), Struct(SCHEMA, {"a": 1, "b": 2}), SCHEMA)

    assert dict(swapped.value.items()) == {"b": 1, "a": 2}


def test_nothing_stays_nothing() -> None:
    assert of_value(made("ReplaceField$Value", exclude="a"), None).value is None


@pytest.mark.parametrize("renames", ["a", "a:", ":a", "a:b:c"])
def test_renames_are_pairs(renames: str) -> None:
    with pytest.raises(ConfigError, match=f"Invalid rename mapping: {renames}$"):
        made("ReplaceField$Value", renames=renames)
