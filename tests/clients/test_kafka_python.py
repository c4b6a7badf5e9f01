"""kafka-python, unmodified: admin, every codec, reads by assignment."""

from __future__ import annotations

import itertools

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from tests.support.patience import patient_s
from tests.support.times import AN_HOUR_AGO_MS

_names = itertools.count()

# kafka-python leaves the sockets of its bootstrap connections to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")


@pytest.fixture
def topic(bootstrap: str) -> str:
    name = f"kafka-python-{next(_names)}"
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics([NewTopic(name, num_partitions=2, replication_factor=1)])
    admin.close()
    return name


@pytest.mark.parametrize("codec", [None, "gzip", "snappy", "lz4", "zstd"])
def test_produced_records_are_read_back(bootstrap: str, topic: str, codec: str | None) -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap, compression_type=codec, acks="all", linger_ms=20)
    values = [b"%d-" % i + b"x" * (i % 300) for i in range(300)]
    sent = [producer.send(topic, value, partition=i % 2) for i, value in enumerate(values)]
    producer.flush(patient_s(60))
    assert [future.get(patient_s(60)).offset for future in sent] == [i // 2 for i in range(300)]
    producer.close()
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, consumer_timeout_ms=60_000)
    partitions = [TopicPartition(topic, p) for p in range(2)]
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    found: dict[int, list[bytes]] = {0: [], 1: []}
    for message in itertools.islice(consumer, len(values)):
        assert message.offset == len(found[message.partition])
        found[message.partition].append(message.value)
    consumer.close()
    assert found == {0: values[0::2], 1: values[1::2]}


def test_offsets_by_timestamp_beginning_and_end(bootstrap: str, topic: str) -> None:
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    first_ms = AN_HOUR_AGO_MS
    for i in range(5):
        producer.send(topic, b"v", partition=0, timestamp_ms=first_ms + 1000 * i).get(patient_s(60))
    producer.close()
    partition = TopicPartition(topic, 0)
    consumer = KafkaConsumer(bootstrap_servers=bootstrap)
    assert consumer.beginning_offsets([partition]) == {partition: 0}
    assert consumer.end_offsets([partition]) == {partition: 5}
    found = consumer.offsets_for_times({partition: first_ms + 2500})[partition]
    assert found is not None
    assert (found.offset, found.timestamp) == (3, first_ms + 3000)
    assert consumer.offsets_for_times({partition: first_ms + 99_000}) == {partition: None}
    consumer.close()


def test_topics_and_configs_are_managed(bootstrap: str, topic: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    assert topic in admin.list_topics()
    (described,) = admin.describe_topics([topic])
    assert [p.get("partition_index", p.get("partition")) for p in described["partitions"]] == [0, 1]
    admin.delete_topics([topic])
    assert topic not in admin.list_topics()
    admin.close()
