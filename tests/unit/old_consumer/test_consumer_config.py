"""Defaults, keys that depend on others, and values that are refused."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError, MissingConfigError
from kafka_lite.old_consumer.consumer_config import ConsumerConfig

NEEDED = {"group.id": "g", "zookeeper.connect": "localhost:2181"}


def test_defaults_match_kafka() -> None:
    config = ConsumerConfig(NEEDED)
    expected = {
        "client.id": "g", "auto.offset.reset": "largest", "auto.commit.interval.ms": 60_000,
        "offsets.storage": "zookeeper", "dual.commit.enabled": False, "rebalance.backoff.ms": 2000,
        "rebalance.max.retries": 4, "consumer.id": None,
        "zookeeper.connection.timeout.ms": 6000, "fetch.message.max.bytes": 1 << 20, "fetch.wait.max.ms": 100,
        "consumer.timeout.ms": -1, "queued.max.message.chunks": 2, "refresh.leader.backoff.ms": 200,
    }  # fmt: skip
    assert {key: config[key] for key in expected} == expected


def test_defaults_that_depend_on_other_keys() -> None:
    config = ConsumerConfig(NEEDED | {
        "offsets.storage": "KAFKA", "zookeeper.sync.time.ms": "7", "zookeeper.session.timeout.ms": "9",
    })  # fmt: skip
    assert config["offsets.storage"] == "kafka"
    assert config["dual.commit.enabled"] is True
    assert (config["rebalance.backoff.ms"], config["zookeeper.connection.timeout.ms"]) == (7, 9)
    assert (
        ConsumerConfig(NEEDED | {"offsets.storage": "kafka", "dual.commit.enabled": "false"})["dual.commit.enabled"]
        is False
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("group.id", "a group"), ("client.id", "a/b"), ("auto.offset.reset", "earliest"), ("offsets.storage", "paper"),
        ("partition.assignment.strategy", "sticky"), ("rebalance.max.retries", "0"), ("fetch.wait.max.ms", "30001"),
    ],
)  # fmt: skip
def test_invalid_values_are_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key.replace(".", r"\.")):
        ConsumerConfig(NEEDED | {key: value})


def test_missing_and_unknown_keys(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(MissingConfigError, match=r"zookeeper\.connect"):
        ConsumerConfig({"group.id": "g"})
    ConsumerConfig(NEEDED | {"bootstrap.servers": "x", "serializer.encoding": "latin-1"})
    assert [record.message for record in caplog.records] == ["Property bootstrap.servers is not valid"]


def test_a_protected_connection_is_refused_with_the_client_that_has_it() -> None:
    ConsumerConfig(NEEDED | {"security.protocol": "PLAINTEXT"})
    with pytest.raises(ConfigError, match=r"plain text only, in Kafka, too\. Use .*KafkaConsumer"):
        ConsumerConfig(NEEDED | {"security.protocol": "SASL_SSL"})
