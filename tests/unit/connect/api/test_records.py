"""Source records and sink records."""

from kafka_lite.connect.api import Headers, Schema, SinkRecord, SourceRecord
from kafka_lite.record.record import TimestampType

SINK = SinkRecord(topic="t", kafka_partition=2, value=9, kafka_offset=42)


def test_a_changed_copy_keeps_the_rest() -> None:
    record = SourceRecord(topic="t", value_schema=Schema.STRING_SCHEMA, value="x", source_offset={"p": 1})
    changed = record.new_record(topic="u", headers=Headers().add("h", 1))

    assert (changed.topic, changed.value, changed.source_offset) == ("u", "x", {"p": 1})
    assert (record.topic, len(record.headers)) == ("t", 0)


def test_a_sink_record_remembers_where_it_was_read() -> None:
    moved = SINK.new_record(topic="u").new_record(kafka_partition=7)

    assert (moved.topic, moved.kafka_partition) == ("u", 7)
    assert (moved.original_topic, moved.original_kafka_partition, moved.original_kafka_offset) == ("t", 2, 42)


def test_records_as_text() -> None:
    assert str(SINK) == (
        "SinkRecord{kafkaOffset=42, timestampType=NoTimestampType} "
        "ConnectRecord{topic='t', kafkaPartition=2, key=null, value=9, timestamp=null}"
    )
    assert str(SINK.new_record(timestamp_type=TimestampType.CREATE_TIME)).startswith(
        "SinkRecord{kafkaOffset=42, timestampType=CreateTime}"
    )
    source = SourceRecord(topic="t", key="k", value=True, source_partition={"f": "a"}, source_offset={"p": 1})
    assert str(source) == (
        "SourceRecord{sourcePartition={f=a}, sourceOffset={p=1}} "
        "ConnectRecord{topic='t', kafkaPartition=null, key=k, value=true, timestamp=null}"
    )
