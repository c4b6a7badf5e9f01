import datetime

import pytest

from kafka_lite.connect.api import DataError, Schema, SchemaBuilder, SinkRecord, Struct, Timestamp
from tests.support.transformed_records import made, of_value

SCHEMA = SchemaBuilder.struct().field("a", Schema.INT8_SCHEMA).build()


def test_the_time_of_a_struct_is_a_timestamp_and_that_of_a_map_a_number() -> None:
    insert = made("InsertField$Value", timestamp_field="when!")
    struct = of_value(insert, Struct(SCHEMA, {"a": 1}), SCHEMA)

    assert struct.value["when"] == datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    assert struct.value_schema is not None
    assert struct.value_schema.fields[1].schema == Timestamp.SCHEMA
    assert of_value(insert, {"a": 1}).value == {"a": 1, "when": 0}


def test_a_partition_that_is_not_known_is_left_out() -> None:
    insert = made("InsertField$Value", partition_field="p")
    record = of_value(insert, Struct(SCHEMA, {"a": 1}), SCHEMA)

    assert record.value["p"] is None
    assert of_value(insert, {"a": 1}).value == {"a": 1}


def test_offsets_are_those_of_a_sink() -> None:
    insert = made("InsertField$Key", offset_field="o")

    assert insert.apply(SinkRecord(topic="t", kafka_partition=0, key={}, kafka_offset=5)).key == {"o": 5}  # type: ignore[union-attr]
    with pytest.raises(DataError, match=r"^Only SinkRecord supported for \[field insertion\], found: SourceRecord$"):
        of_value(made("InsertField$Value", offset_field="o"), {})


def test_nothing_stays_nothing() -> None:
    assert of_value(made("InsertField$Value", topic_field="t"), None).value is None
