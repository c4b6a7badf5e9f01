"""Records that a mirror copies: what is published to the source, and what the target must have."""

from __future__ import annotations

from typing import Any

from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.testing.any_cluster import AnyCluster
from kafka_lite.testing.cluster_client import StoredRecord

KEYS = 7
SOME_DAY_MS = 4_000_000_000_000
"""In the future, so that no retention deletes what the tests publish."""


def new_consumer(source: AnyCluster[Any], group: str) -> dict[str, str]:
    return {
        "bootstrap.servers": source.bootstrap_servers,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "heartbeat.interval.ms": "300",
        "metadata.max.age.ms": "500",
        "default.api.timeout.ms": "2000",
    }


def old_consumer(source: AnyCluster[Any], group: str) -> dict[str, str]:
    return {
        "zookeeper.connect": source.zookeeper_connect,
        "zookeeper.session.timeout.ms": "30000",
        "group.id": group,
        "auto.offset.reset": "smallest",
        "consumer.timeout.ms": "100",
        "rebalance.backoff.ms": "300",
        "rebalance.max.retries": "30",
    }


def publish(source: AnyCluster[Any], topic: str, numbers: range) -> None:
    """Records whose values are numbers; each key has its own in ascending order."""
    with KafkaProducer({"bootstrap.servers": source.bootstrap_servers}) as producer:
        for number in numbers:
            producer.send(
                ProducerRecord(topic, b"%d" % number, b"key %d" % (number % KEYS), timestamp=SOME_DAY_MS + number)
            )


def check_complete(records: list[StoredRecord], count: int) -> int:
    """All numbers are there, each key's in order if repetitions are left out; returns how many were repeated."""
    first_of_each: dict[bytes | None, StoredRecord] = {}
    for record in records:
        first_of_each.setdefault(record.value, record)
    assert sorted(int(value) for value in first_of_each if value) == list(range(count))
    by_key: dict[bytes | None, list[StoredRecord]] = {}
    for record in first_of_each.values():
        by_key.setdefault(record.key, []).append(record)
        assert record.value is not None
        assert record.timestamp_ms == SOME_DAY_MS + int(record.value)
    for of_key in by_key.values():
        assert len({record.partition for record in of_key}) == 1, "a key is spread over partitions"
        assert [int(record.value or b"") for record in of_key] == sorted(int(record.value or b"") for record in of_key)
    return len(records) - len(first_of_each)
