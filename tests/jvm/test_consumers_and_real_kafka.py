"""Our consumer with real brokers, 0.10.2 and current: every format, groups with Java members, transactions."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from confluent_kafka import Consumer as Librdkafka
from confluent_kafka import Producer as LibrdkafkaProducer

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer, OffsetAndMetadata
from kafka_lite.producer import KafkaProducer, ProducerRecord
from tests.support.eventually import eventually
from tests.support.group_member import GroupMember, balanced
from tests.support.patience import patient_s
from tests.support.real_kafka import OLD

pytestmark = pytest.mark.jvm

PARTITIONS = 3
COUNT = 1500
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
_names = itertools.count()


class Kafka:
    def __init__(self, version: str, bootstrap_servers: str) -> None:
        self.version = version
        self.bootstrap_servers = bootstrap_servers

    def produce(self, topic: str, count: int = COUNT, first: int = 0, codec: str = "none") -> None:
        """Produce numbers, each to the next partition."""
        with KafkaProducer({
            "bootstrap.servers": self.bootstrap_servers, "compression.type": codec, "linger.ms": 5,
        }) as producer:  # fmt: skip
            sent = [
                producer.send(
                    ProducerRecord(
                        topic, b"%d" % n, b"k%d" % n, partition=n % PARTITIONS, timestamp=1_600_000_000_000 + n
                    )
                )
                for n in range(first, first + count)
            ]
        assert all(future.exception(0) is None for future in sent)

    def consumer(self, **configs: object) -> KafkaConsumer:
        settings = {"bootstrap.servers": self.bootstrap_servers, "auto.offset.reset": "earliest"}
        return KafkaConsumer(settings | {key.replace("_", "."): value for key, value in configs.items()})


@pytest.fixture(scope="module")
def kafka(version_and_broker: tuple[str, str]) -> Kafka:
    return Kafka(*version_and_broker)


@pytest.fixture
def topic() -> str:
    return f"topic-{next(_names)}"


def partitions_of(topic: str) -> list[TopicPartition]:
    return [TopicPartition(topic, number) for number in range(PARTITIONS)]


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_is_read(kafka: Kafka, topic: str, codec: str) -> None:
    if kafka.version == OLD and codec == "zstd":
        return
    kafka.produce(topic, codec=codec)
    with kafka.consumer() as consumer:
        consumer.assign(partitions_of(topic))
        records = []
        while len(records) < COUNT:
            records += consumer.poll(10_000)
    for number in range(PARTITIONS):
        own = [record for record in records if record.partition == number]
        expected = range(number, COUNT, PARTITIONS)
        assert [(each.offset, each.key, each.value) for each in own] == [
            (offset, b"k%d" % n, b"%d" % n) for offset, n in enumerate(expected)
        ]
        assert [each.timestamp for each in own] == [1_600_000_000_000 + n for n in expected]


def test_offsets_and_topics_are_looked_up(kafka: Kafka, topic: str) -> None:
    kafka.produce(topic, 300)
    first, second, third = partitions_of(topic)
    with kafka.consumer() as consumer:
        assert consumer.beginning_offsets([first, second]) == {first: 0, second: 0}
        assert consumer.end_offsets([first, second]) == {first: 100, second: 100}
        found = consumer.offsets_for_times({first: 1_600_000_000_100, second: 0, third: 1_700_000_000_000})
        assert (found[first], found[second], found[third]) == (
            (34, 1_600_000_000_102, found[first].leader_epoch if found[first] else None),
            (0, 1_600_000_000_001, found[second].leader_epoch if found[second] else None),
            None,
        )
        assert [each.partition for each in consumer.partitions_for(topic)] == [0, 1, 2]
        assert topic in consumer.list_topics()
        consumer.assign([first])
        consumer.seek_to_end()
        assert consumer.position(first) == 100
        consumer.seek(first, 98)
        assert [record.offset for record in eventually(lambda: consumer.poll(1000))] == [98, 99]
        consumer.seek(first, 12345)
        eventually(lambda: consumer.poll(1000).count > 0, "out of range: begins at the earliest")


def test_commits_are_visible_to_other_clients(kafka: Kafka, topic: str) -> None:
    kafka.produce(topic, 30)
    first, second, _ = partitions_of(topic)
    with kafka.consumer(group_id=topic) as consumer:
        consumer.assign([first, second])
        consumer.commit_sync({first: OffsetAndMetadata(7, "seven")})
        assert consumer.committed([first, second]) == {first: OffsetAndMetadata(7, "seven"), second: None}
        heard: list[Exception | None] = []
        consumer.commit_async({second: OffsetAndMetadata(3)}, lambda _offsets, error: heard.append(error))
        consumer.commit_sync({first: OffsetAndMetadata(8)})
        assert heard == [None]
    from confluent_kafka import TopicPartition as Place

    other = Librdkafka({"bootstrap.servers": kafka.bootstrap_servers, "group.id": topic})
    assert [place.offset for place in other.committed([Place(topic, 0), Place(topic, 1)], patient_s(30))] == [8, 3]
    other.close()


@pytest.mark.parametrize("strategy", ["range", "roundrobin", "sticky"])
def test_members_share_and_take_over_partitions(kafka: Kafka, topic: str, strategy: str) -> None:
    kafka.produce(topic, 300)
    members = [
        GroupMember(
            kafka.bootstrap_servers, [topic], f"member-{number}", group_id=topic, partition_assignment_strategy=strategy
        )
        for number in range(2)
    ]
    for member in members:
        member.start()
    try:
        eventually(lambda: balanced(members, PARTITIONS), "both members have partitions")
        kafka.produce(topic, 300, 300)
        eventually(lambda: sum(len(member.records) for member in members) >= 600, "600 records")
        members[0].stop()
        eventually(lambda: balanced(members[1:], PARTITIONS), "the other has all")
        kafka.produce(topic, 300, 600)
        eventually(lambda: sum(len(member.records) for member in members) >= 900, "900 records")
    finally:
        for member in members:
            if member.is_alive():
                member.stop()
    assert sorted(int(record.value) for member in members for record in member.records) == list(range(900))


def test_a_group_with_another_client(kafka: Kafka, topic: str) -> None:
    """librdkafka decodes our assignments, and we decode its."""
    kafka.produce(topic, 90)
    other = Librdkafka({
        "bootstrap.servers": kafka.bootstrap_servers, "group.id": topic, "auto.offset.reset": "earliest",
        "heartbeat.interval.ms": 100, "session.timeout.ms": 6000, "partition.assignment.strategy": "range",
    })  # fmt: skip
    other.subscribe([topic])
    read: list[int] = []

    def poll_other() -> bool:
        message = other.poll(0.1)
        if message is not None and message.error() is None:
            read.append(int(message.value() or b""))
        return len(other.assignment()) > 0

    ours = GroupMember(kafka.bootstrap_servers, [topic], group_id=topic)
    with contextlib.ExitStack() as stack:
        stack.callback(other.close)
        eventually(lambda: poll_other() and len(read) >= 90, "the other one reads alone")
        ours.start()
        stack.callback(ours.stop)
        eventually(lambda: poll_other() and len(ours.assignment) > 0, "both have partitions")
        kafka.produce(topic, 90, 90)
        eventually(lambda: poll_other() and len(set(read) | {int(r.value) for r in ours.records}) >= 180, "180 records")
        assert ours.records


def test_read_committed_skips_aborted_records(kafka: Kafka, topic: str) -> None:
    if kafka.version == OLD:
        return  # this version has no transactions
    producer = LibrdkafkaProducer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(patient_s(30))
    for number in range(6):
        producer.begin_transaction()
        for place in range(10):
            producer.produce(topic, b"%d-%d" % (number, place), partition=0)
        producer.flush()
        if number % 2:
            producer.abort_transaction(patient_s(30))
        else:
            producer.commit_transaction(patient_s(30))
    producer.begin_transaction()
    producer.produce(topic, b"open", partition=0)
    producer.flush()
    committed = [b"%d-%d" % (number, place) for number in (0, 2, 4) for place in range(10)]
    written = [b"%d-%d" % (number, place) for number in range(6) for place in range(10)] + [b"open"]
    for level, expected, end in (("read_committed", committed, 66), ("read_uncommitted", written, 67)):
        with kafka.consumer(isolation_level=level) as consumer:
            partition = TopicPartition(topic, 0)
            consumer.assign([partition])
            values: list[bytes] = []
            while len(values) < len(expected):
                values += [record.value for record in consumer.poll(10_000)]
            assert values == expected
            assert consumer.end_offsets([partition]) == {partition: end}
    producer.abort_transaction(patient_s(30))


def test_a_static_member_returns_to_its_partitions(kafka: Kafka, topic: str) -> None:
    if kafka.version == OLD:
        return  # this version has no static members
    kafka.produce(topic, 30)

    def member(name: str) -> GroupMember:
        settings = {"group_id": topic, "group_instance_id": name, "session_timeout_ms": 60_000}  # it is back in time
        started = GroupMember(kafka.bootstrap_servers, [topic], name, **settings)
        started.start()
        return started

    one, two = member("one"), member("two")
    eventually(lambda: balanced([one, two], PARTITIONS), "both have partitions")
    had, rebalances = one.assignment, two.assignments
    one.stop()
    again = member("one")
    eventually(lambda: again.assignment == had, "what it had")
    assert two.assignments == rebalances
    again.stop()
    two.stop()
