"""The old producer's configuration: codecs by name or number, and values that are refused."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError, MissingConfigError
from kafka_lite.old_producer.producer_config import ProducerConfig
from kafka_lite.record.compression import CompressionType

SERVERS = {"metadata.broker.list": "127.0.0.1:9092,127.0.0.1:9093"}


def test_defaults_match_kafka() -> None:
    config = ProducerConfig(SERVERS)
    expected = {
        "producer.type": "sync", "request.required.acks": 0, "request.timeout.ms": 10_000,
        "message.send.max.retries": 3, "retry.backoff.ms": 100, "topic.metadata.refresh.interval.ms": 600_000,
        "queue.buffering.max.ms": 5_000, "queue.buffering.max.messages": 10_000, "queue.enqueue.timeout.ms": -1,
        "batch.num.messages": 200, "send.buffer.bytes": 102_400, "client.id": "",
    }  # fmt: skip
    assert {key: config[key] for key in expected} == expected
    assert config.brokers == [("127.0.0.1", 9092), ("127.0.0.1", 9093)]
    assert config.compression is CompressionType.NONE


@pytest.mark.parametrize(
    ("codec", "compression"),
    [
        ("2", CompressionType.SNAPPY),
        ("gzip", CompressionType.GZIP),
        ("3", CompressionType.LZ4),
        ("0", CompressionType.NONE),
    ],
)
def test_a_codec_has_a_name_and_a_number(codec: str, compression: CompressionType) -> None:
    assert ProducerConfig(SERVERS | {"compression.codec": codec}).compression is compression


def test_only_some_topics_may_be_compressed() -> None:
    config = ProducerConfig(SERVERS | {"compression.codec": "gzip", "compressed.topics": "t,u"})
    assert [config.compression_of(topic) for topic in "tuv"] == [
        CompressionType.GZIP, CompressionType.GZIP, CompressionType.NONE
    ]  # fmt: skip
    assert ProducerConfig(SERVERS | {"compression.codec": "gzip"}).compression_of("v") is CompressionType.GZIP


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("queue.buffering.max.messages", 10), ("producer.type", "fast"), ("compression.codec", "zstd"),
        ("request.required.acks", 2), ("request.timeout.ms", 0), ("metadata.broker.list", "a"), ("client.id", None),
        ("queue.enqueue.timeout.ms", -2),
    ],
)  # fmt: skip
def test_invalid_values_are_refused(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        ProducerConfig(SERVERS | {key: value})


def test_missing_and_unknown_keys(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(MissingConfigError, match=r"metadata\.broker\.list"):
        ProducerConfig({})
    ProducerConfig(SERVERS | {"bootstrap.servers": "x", "serializer.encoding": "latin-1"})
    assert [record.message for record in caplog.records] == ["Property bootstrap.servers is not valid"]


def test_a_protected_connection_is_refused_with_the_client_that_has_it() -> None:
    ProducerConfig(SERVERS | {"security.protocol": "PLAINTEXT"})
    with pytest.raises(ConfigError, match=r"plain text only, in Kafka, too\. Use .*KafkaProducer"):
        ProducerConfig(SERVERS | {"security.protocol": "SASL_SSL"})
