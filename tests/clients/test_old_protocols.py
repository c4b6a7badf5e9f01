"""Today's clients, configured for brokers of Kafka 0.8 to 2.x, use the protocols of those versions."""

from __future__ import annotations

import itertools
from typing import Any

import kafka
import pytest
from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support.patience import patient_s

# kafka-python leaves the sockets of its bootstrap connections to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

_names = itertools.count()
COUNT = 30


@pytest.fixture
def topic(bootstrap: str) -> str:
    name = f"old-protocols-{next(_names)}"
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics([NewTopic(name, 1, 1)]).values():
        future.result(patient_s(60))
    return name


def values() -> list[bytes]:
    return [b"value-%d" % i * 10 for i in range(COUNT)]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy"])  # lz4 needs a broker that announces its API versions
@pytest.mark.parametrize("version", ["0.8.0", "0.8.2", "0.9.0", "0.10.0"])
def test_librdkafka_configured_for_an_old_broker(bootstrap: str, topic: str, version: str, codec: str) -> None:
    config: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "api.version.request": False,
        "broker.version.fallback": version,
    }
    producer = Producer({**config, "compression.type": codec, "linger.ms": 50})
    offsets: list[int] = []
    errors: list[object] = []

    def on_delivery(error: object, message: Any) -> None:
        offsets.append(message.offset()) if error is None else errors.append(error)

    for value in values():
        producer.produce(topic, value, partition=0, on_delivery=on_delivery)
    assert producer.flush(patient_s(60)) == 0
    assert errors == []
    assert sorted(offsets) == list(range(COUNT))
    consumer = Consumer({**config, "group.id": "unused", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 7)])
    messages = consumer.consume(COUNT - 7, patient_s(20))
    consumer.close()
    if version < "0.10":
        assert {message.timestamp()[0] for message in messages} == {TIMESTAMP_NOT_AVAILABLE}
    found = [(message.offset(), message.value()) for message in messages]
    assert found == list(enumerate(values()))[7:]


@pytest.mark.parametrize(
    "version", [(0, 8, 2), (0, 9), (0, 10, 0), (0, 10, 1), (0, 10, 2), (0, 11), (1, 0), (1, 1), (2, 0), (2, 3), (2, 6)]
)
@pytest.mark.parametrize("codec", [None, "gzip", "snappy"])
def test_kafka_python_configured_for_brokers_of_every_age(
    bootstrap: str, topic: str, version: tuple[int, ...], codec: str | None
) -> None:
    config: dict[str, Any] = {"bootstrap_servers": bootstrap, "api_version": version}
    more: dict[str, Any] = {"enable_idempotence": False} if version >= (0, 11) else {}
    producer = kafka.KafkaProducer(**config, **more, compression_type=codec, linger_ms=20)
    sent = [producer.send(topic, value=value, partition=0) for value in values()]
    assert [future.get(patient_s(20)).offset for future in sent] == list(range(COUNT))
    producer.close()
    consumer = kafka.KafkaConsumer(**config, group_id=None, consumer_timeout_ms=10_000)
    partition = kafka.TopicPartition(topic, 0)
    consumer.assign([partition])
    consumer.seek(partition, 7)
    records = list(itertools.islice(consumer, COUNT - 7))
    assert consumer.beginning_offsets([partition]) == {partition: 0}
    assert consumer.end_offsets([partition]) == {partition: COUNT}
    consumer.close()
    if version < (0, 10):
        assert {record.timestamp for record in records} <= {None, -1}
    assert [(record.offset, record.value) for record in records] == list(enumerate(values()))[7:]
