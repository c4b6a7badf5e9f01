"""Task 2: a record and its offset."""

import pytest

from kafka_lite.connect.api import Schema, SchemaBuilder, Struct


@pytest.fixture
def record(folder):
    """``record("towns.csv", 0)``: as the task makes it, without its start."""
    from examples.csv_source.csv_source_connector import CsvSourceTask

    schema = SchemaBuilder.struct().name("towns").field("name", Schema.STRING_SCHEMA).build()
    task = CsvSourceTask()
    task._topic, task._folder = "rows", folder
    return lambda name, row: task._record(name, row, Struct(schema, {"name": "Ulm"}))


@pytest.mark.points(8, task=2)
def test_where_to_continue(record):
    """The first row and the last"""
    for row in (0, 41):
        offset = record("towns.csv", row).source_offset
        assert offset == {"row": row + 1}, f"row {row}: continue after it, at row {row + 1}; yours: {offset}"


@pytest.mark.points(7, task=2)
def test_the_rest(record):
    """Partition, topic, value and schema"""
    made = record("towns.csv", 0)
    assert made.source_partition == {"file": "towns.csv"}, (
        f"each file has its own offset: the partition is its name; yours: {made.source_partition}"
    )
    assert made.topic == "rows", f"the topic of the configuration, rows; yours: {made.topic}"
    assert str(made.value) == "Struct{name=Ulm}", f"the value is the struct; yours: {made.value}"
    assert made.value_schema is made.value.schema, "the record has the schema of its value"
