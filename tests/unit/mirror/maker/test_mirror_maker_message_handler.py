"""The default handler sends each record as it is, without a partition."""

from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.mirror.maker.mirror_maker_message_handler import DefaultMirrorMakerMessageHandler
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.record.record import Header, TimestampType


def test_topic_key_value_timestamp_and_headers_stay_and_the_partition_is_the_partitioners() -> None:
    headers = (Header("trace", b"1"),)
    record = ConsumerRecord("t", 3, 7, 1234, TimestampType.CREATE_TIME, b"k", None, headers)
    assert DefaultMirrorMakerMessageHandler().handle(record) == (
        ProducerRecord("t", None, b"k", partition=None, timestamp=1234, headers=headers),
    )


def test_a_record_of_format_v0_gets_the_current_time() -> None:
    record = ConsumerRecord("t", 3, 7, -1, TimestampType.NO_TIMESTAMP_TYPE, None, b"v")
    (sent,) = DefaultMirrorMakerMessageHandler().handle(record)
    assert sent.timestamp is None
