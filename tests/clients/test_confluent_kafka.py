"""librdkafka through confluent-kafka, unmodified and with its defaults: admin, every codec, reads by assignment."""

from __future__ import annotations

import itertools

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from tests.support.patience import patient_s
from tests.support.times import AN_HOUR_AGO_MS

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
_names = itertools.count()


@pytest.fixture
def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap})


@pytest.fixture
def topic(admin: AdminClient) -> str:
    name = f"confluent-{next(_names)}"
    create(admin, NewTopic(name, 2, 1))
    return name


def create(admin: AdminClient, *topics: NewTopic) -> None:
    for future in admin.create_topics(list(topics), operation_timeout=30).values():
        future.result(patient_s(60))


def read_all(bootstrap: str, topic: str, partitions: int, count: int, **config: object) -> list[tuple[int, int, bytes]]:
    """Read ``count`` messages by assignment from the beginning: (partition, offset, value)."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False, **config})
    consumer.assign([TopicPartition(topic, p, 0) for p in range(partitions)])
    found = []
    try:
        while len(found) < count:
            message = consumer.poll(patient_s(60))
            assert message is not None, f"only {len(found)} of {count} messages came"
            assert message.error() is None, message.error()
            found.append((message.partition(), message.offset(), message.value()))
    finally:
        consumer.close()
    return found


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_produced_records_are_read_back(bootstrap: str, topic: str, codec: str, acks: str) -> None:
    reports: list[tuple[object, object]] = []
    producer = Producer({"bootstrap.servers": bootstrap, "compression.type": codec, "acks": acks, "linger.ms": 20})
    values = [b"%d-" % i + b"x" * (i % 300) for i in range(500)]
    for i, value in enumerate(values):
        producer.produce(
            topic, value, partition=i % 2, on_delivery=lambda error, message: reports.append((error, message))
        )
    assert producer.flush(patient_s(60)) == 0
    assert len(reports) == len(values)
    assert [error for error, _ in reports if error is not None] == []
    found = read_all(bootstrap, topic, 2, len(values))
    for partition in range(2):
        mine = [(offset, value) for p, offset, value in found if p == partition]
        assert [offset for offset, _ in mine] == list(range(250))
        assert [value for _, value in mine] == values[partition::2]


@pytest.mark.parametrize("codec", CODECS)
def test_idempotent_producers_get_different_ids(bootstrap: str, topic: str, codec: str) -> None:
    config = {"bootstrap.servers": bootstrap, "enable.idempotence": True, "compression.type": codec}
    errors: list[object] = []
    for _ in range(2):  # two producers, one after the other
        producer = Producer({**config, "batch.num.messages": 7, "linger.ms": 1})
        for i in range(200):
            producer.produce(topic, b"%d" % i, partition=0, on_delivery=lambda error, _: errors.append(error))
        assert producer.flush(patient_s(60)) == 0
    assert errors == [None] * 400
    assert [value for _, _, value in read_all(bootstrap, topic, 1, 400)] == [b"%d" % i for i in range(200)] * 2


def test_keys_headers_timestamps_and_tombstones(bootstrap: str, topic: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, None, key=b"gone", partition=0, timestamp=AN_HOUR_AGO_MS)
    producer.produce(topic, b"", key="schlüssel", partition=0, headers=[("a", b"1"), ("a", None), ("ü", b"")])
    producer.flush(patient_s(60))
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    first, second = (consumer.poll(patient_s(60)) for _ in range(2))
    assert first.value() is None
    assert first.key() == b"gone"
    assert first.timestamp() == (1, AN_HOUR_AGO_MS)
    assert second.value() == b""
    assert second.headers() == [("a", b"1"), ("a", None), ("ü", b"")]
    consumer.close()


def test_offsets_by_timestamp_and_watermarks(bootstrap: str, admin: AdminClient, topic: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
    for i in range(10):
        producer.produce(topic, b"v", partition=0, timestamp=AN_HOUR_AGO_MS + 1000 * i)
        producer.flush(patient_s(60))
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused"})
    assert consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=patient_s(60)) == (0, 10)
    asked = [TopicPartition(topic, 0, AN_HOUR_AGO_MS + 4500), TopicPartition(topic, 1, 0)]
    by_time = consumer.offsets_for_times(asked, timeout=patient_s(60))
    assert [partition.offset for partition in by_time] == [5, -1]
    consumer.close()
    spec = {TopicPartition(topic, 0): OffsetSpec.max_timestamp()}
    latest = admin.list_offsets(spec)[TopicPartition(topic, 0)].result(patient_s(60))
    assert (latest.offset, latest.timestamp) == (9, AN_HOUR_AGO_MS + 9000)


def test_a_poll_waits_for_new_messages(bootstrap: str, topic: str) -> None:
    patient = {"fetch.wait.max.ms": 90_000, "socket.timeout.ms": 100_000}  # longer than the last poll
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", **patient})
    consumer.assign([TopicPartition(topic, 0, 0)])
    assert consumer.poll(0.5) is None
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, b"late", partition=0)
    producer.flush(patient_s(60))
    message = consumer.poll(patient_s(60))
    assert message is not None
    assert message.value() == b"late"
    consumer.close()


def test_an_offset_out_of_range_is_an_error(bootstrap: str, topic: str) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "auto.offset.reset": "error"})
    consumer.assign([TopicPartition(topic, 0, 99)])
    message = consumer.poll(patient_s(60))
    assert message is not None
    assert message.error().code() == KafkaError._AUTO_OFFSET_RESET
    consumer.close()


def test_topics_are_created_on_first_use(bootstrap: str) -> None:
    name = f"confluent-auto-{next(_names)}"
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(name, b"hello")
    assert producer.flush(patient_s(60)) == 0
    assert [value for _, _, value in read_all(bootstrap, name, 1, 1)] == [b"hello"]


def test_a_message_that_is_too_large_is_rejected(bootstrap: str, topic: str) -> None:
    errors: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": bootstrap, "message.max.bytes": 3_000_000})
    producer.produce(topic, b"x" * 2_000_000, on_delivery=lambda error, _: errors.append(error))
    producer.flush(patient_s(60))
    assert [error.code() for error in errors if error is not None] == [KafkaError.MSG_SIZE_TOO_LARGE]


class TestAdmin:
    def test_cluster_is_described(self, admin: AdminClient) -> None:
        description = admin.describe_cluster().result(patient_s(60))
        assert [node.id for node in description.nodes] == [0]
        assert description.controller.id == 0
        assert len(description.cluster_id) == 22

    def test_a_topic_is_created_enlarged_and_deleted(self, admin: AdminClient) -> None:
        name = f"confluent-life-{next(_names)}"
        create(admin, NewTopic(name, 3, 1, config={"cleanup.policy": "compact"}))
        metadata = admin.list_topics(name, timeout=patient_s(60)).topics[name]
        assert {p: part.leader for p, part in metadata.partitions.items()} == {0: 0, 1: 0, 2: 0}
        with pytest.raises(KafkaException) as exists:
            create(admin, NewTopic(name, 1, 1))
        assert exists.value.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS
        admin.create_partitions([NewPartitions(name, 5)])[name].result(patient_s(60))
        assert len(admin.list_topics(name, timeout=patient_s(60)).topics[name].partitions) == 5
        admin.delete_topics([name], operation_timeout=30)[name].result(patient_s(60))
        assert name not in admin.list_topics(timeout=patient_s(60)).topics
        create(admin, NewTopic(name, 1, 1))
        assert len(admin.list_topics(name, timeout=patient_s(60)).topics[name].partitions) == 1

    @pytest.mark.parametrize(
        ("new", "code"),
        [
            (NewTopic("bad/name", 1, 1), KafkaError.TOPIC_EXCEPTION),
            (NewTopic("x" * 250, 1, 1), KafkaError.TOPIC_EXCEPTION),
            (NewTopic("zero-partitions", 0, 1), KafkaError.INVALID_PARTITIONS),
            (NewTopic("too-replicated", 1, 2), KafkaError.INVALID_REPLICATION_FACTOR),
            (NewTopic("bad-config", 1, 1, config={"retention.ms": "soon"}), KafkaError.INVALID_CONFIG),
            (NewTopic("unknown-config", 1, 1, config={"no.such.key": "1"}), KafkaError.INVALID_CONFIG),
        ],
        ids=lambda value: getattr(value, "topic", None) or str(value),
    )
    def test_invalid_requests_are_rejected(self, admin: AdminClient, new: NewTopic, code: int) -> None:
        with pytest.raises(KafkaException) as refused:
            create(admin, new)
        assert refused.value.args[0].code() == code

    def test_configs_are_described_and_altered(self, admin: AdminClient, topic: str) -> None:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        described = admin.describe_configs([resource])[resource].result(patient_s(60))
        assert described["retention.ms"].value == "604800000"
        assert described["retention.ms"].is_default
        change = ConfigEntry("retention.ms", "1000", incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[change])
        admin.incremental_alter_configs([resource])[resource].result(patient_s(60))
        described = admin.describe_configs([resource])[resource].result(patient_s(60))
        assert described["retention.ms"].value == "1000"
        assert not described["retention.ms"].is_default

    def test_records_are_deleted(self, bootstrap: str, admin: AdminClient, topic: str) -> None:
        producer = Producer({"bootstrap.servers": bootstrap})
        for i in range(10):
            producer.produce(topic, b"%d" % i, partition=0)
        producer.flush(patient_s(60))
        asked = TopicPartition(topic, 0, 4)
        deleted = admin.delete_records([asked])[asked].result(patient_s(60))
        assert deleted.low_watermark == 4
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused"})
        assert consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=patient_s(60)) == (4, 10)
        consumer.close()
