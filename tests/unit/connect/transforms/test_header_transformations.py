import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api import DataError, Header, Headers, Schema, SchemaBuilder, SourceRecord, Struct
from tests.support.transformed_records import made, of_value

SCHEMA = SchemaBuilder.struct().field("a", Schema.INT8_SCHEMA).field("b", Schema.OPTIONAL_STRING_SCHEMA).build()
STRUCT = Struct(SCHEMA, {"a": 1, "b": "x"})


def test_a_header_is_inserted_with_the_type_of_its_text() -> None:
    insert = made("InsertHeader", header="h", value_literal="1000")

    assert list(of_value(insert, None).headers) == [Header("h", 1000, Schema.INT16_SCHEMA)]


def test_headers_are_dropped_by_name() -> None:
    record = SourceRecord(topic="t", headers=Headers([Header("a", 1), Header("b", 2), Header("a", 3)]))
    changed = made("DropHeaders", headers="a,c").apply(record)

    assert changed is not None
    assert list(changed.headers) == [Header("b", 2)]


def test_fields_are_copied_to_headers() -> None:
    copy = made("HeaderFrom$Value", fields="b,a", headers="x,y", operation="copy")
    record = of_value(copy, STRUCT, SCHEMA)

    assert list(record.headers) == [
        Header("x", "x", Schema.OPTIONAL_STRING_SCHEMA),
        Header("y", 1, Schema.INT8_SCHEMA),
    ]
    assert record.value is STRUCT
    assert list(of_value(copy, {"a": 1}).headers) == [Header("x", None), Header("y", 1)]


def test_fields_are_moved_to_headers() -> None:
    move = made("HeaderFrom$Value", fields="a", headers="x", operation="move")
    record = of_value(move, STRUCT, SCHEMA)

    assert (list(record.headers), dict(record.value.items())) == ([Header("x", 1, Schema.INT8_SCHEMA)], {"b": "x"})
    assert of_value(move, {"a": 1, "b": 2}).value == {"b": 2}


def test_the_key_has_its_form() -> None:
    record = made("HeaderFrom$Key", fields="a", headers="x", operation="move").apply(
        SourceRecord(topic="t", key={"a": 1}, value={"a": 2})
    )

    assert record is not None
    assert (record.key, record.value, record.headers.last_with_name("x")) == ({}, {"a": 2}, Header("x", 1))


def test_a_field_that_is_not_there() -> None:
    with pytest.raises(DataError, match=r"^Field does not exist: c$"):
        of_value(made("HeaderFrom$Value", fields="c", headers="x", operation="copy"), STRUCT, SCHEMA)


def test_each_field_needs_a_header() -> None:
    with pytest.raises(ConfigError, match="'fields' config must have the same number of elements as 'headers' config"):
        made("HeaderFrom$Value", fields="a,b", headers="x", operation="copy")
    with pytest.raises(ConfigError, match="one of: move, copy"):
        made("HeaderFrom$Value", fields="a", headers="x", operation="steal")
