from typing import Any

from kafka_lite.connect.api import Decimal, Schema, SchemaBuilder, SinkRecord, SourceRecord
from kafka_lite.connect.api.transformation import R
from kafka_lite.connect.transforms.key_or_value import KeyOrValueTransformation, OnKey, OnValue, copy_schema_basics

RECORD = SourceRecord(
    topic="t",
    kafka_partition=3,
    key_schema=Schema.STRING_SCHEMA,
    key="k",
    value_schema=Schema.INT8_SCHEMA,
    value=5,
    timestamp=7,
    source_partition={"file": "f"},
    source_offset={"position": 1},
)


class AsText(KeyOrValueTransformation):
    """Makes a text of its operating value."""

    def apply(self, record: R) -> R:
        assert self.operating_schema(record) in (Schema.STRING_SCHEMA, Schema.INT8_SCHEMA)
        return self.new_record(record, Schema.STRING_SCHEMA, f"<{self.operating_value(record)}>")


class AsTextKey(OnKey, AsText):
    pass


class AsTextValue(OnValue, AsText):
    pass


def test_one_form_changes_the_key_and_the_other_the_value() -> None:
    on_key, on_value = AsTextKey().apply(RECORD), AsTextValue().apply(RECORD)

    assert on_key == RECORD.new_record(key="<k>")
    assert on_value == RECORD.new_record(value_schema=Schema.STRING_SCHEMA, value="<5>")


def test_a_sinks_record_stays_one_and_remembers_where_it_was_read() -> None:
    record = SinkRecord(topic="t", kafka_partition=0, kafka_offset=9, value_schema=Schema.INT8_SCHEMA, value=1)
    changed: Any = AsTextValue().apply(record)

    assert isinstance(changed, SinkRecord)
    assert (changed.value, changed.kafka_offset, changed.original_kafka_offset) == ("<1>", 9, 9)


def test_the_basics_of_a_schema_are_copied_but_not_its_type() -> None:
    copied = copy_schema_basics(Decimal.builder(2).optional().doc("d").build(), SchemaBuilder.string()).build()

    assert (copied.name, copied.version, copied.doc) == (Decimal.LOGICAL_NAME, 1, "d")
    assert (copied.parameters, copied.optional) == ({"scale": "2"}, False)
    assert copy_schema_basics(Schema.INT8_SCHEMA, SchemaBuilder.string()).build() == Schema.STRING_SCHEMA
