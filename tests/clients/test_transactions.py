"""Transactional producers and read_committed consumers of librdkafka, kafka-python and aiokafka, unmodified."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import Any

import aiokafka
import kafka
import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually

TIMEOUT_S = 60


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def topic(cluster: Cluster) -> str:
    name = f"t-{uuid.uuid4().hex[:8]}"
    cluster.create_topic(name, partitions=3)
    return name


def producer(cluster: Cluster, transactional_id: str, **config: Any) -> Producer:
    servers = cluster.bootstrap_servers
    return Producer(
        {"bootstrap.servers": servers, "transactional.id": transactional_id, "linger.ms": 0, "log_level": 0} | config
    )


def ready(cluster: Cluster, transactional_id: str | None = None, **config: Any) -> Producer:
    started = producer(cluster, transactional_id or uuid.uuid4().hex, **config)
    started.init_transactions(TIMEOUT_S)
    return started


def consumer(cluster: Cluster, isolation: str = "read_committed", group: str | None = None) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": group or uuid.uuid4().hex,
            "isolation.level": isolation,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )


def read_all(cluster: Cluster, topic: str, isolation: str = "read_committed", partitions: int = 3) -> list[bytes]:
    """What a consumer sees until the ends of all partitions."""
    reader = consumer(cluster, isolation)
    reader.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
    values, ended = [], set()
    while len(ended) < partitions:
        message = reader.poll(TIMEOUT_S)
        assert message is not None, f"no end of partition after {values}"
        if message.error() is None:
            values.append(message.value())
        else:
            assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
            ended.add(message.partition())
    reader.close()
    return sorted(values)


def write(started: Producer, topic: str, *values: str) -> None:
    """Write one value to each partition in turn, and wait until they are in the logs."""
    for number, value in enumerate(values):
        started.produce(topic, value, partition=number % 3)
    assert started.flush(TIMEOUT_S) == 0


def test_committed_records_are_seen_and_aborted_ones_are_not(cluster: Cluster, topic: str) -> None:
    started = ready(cluster)
    for number in range(6):
        started.begin_transaction()
        write(started, topic, *(f"{number}{letter}" for letter in "abc"))
        if number % 2:
            started.abort_transaction(TIMEOUT_S)
        else:
            started.commit_transaction(TIMEOUT_S)
    committed = sorted(f"{number}{letter}".encode() for number in (0, 2, 4) for letter in "abc")
    eventually(lambda: read_all(cluster, topic) == committed)
    assert len(read_all(cluster, topic, "read_uncommitted")) == 18


def test_an_open_transaction_is_not_seen(cluster: Cluster, topic: str) -> None:
    first, second = ready(cluster), ready(cluster)
    first.begin_transaction()
    write(first, topic, "open")
    second.begin_transaction()
    write(second, topic, "later")
    second.commit_transaction(TIMEOUT_S)
    assert read_all(cluster, topic) == []
    first.commit_transaction(TIMEOUT_S)
    eventually(lambda: read_all(cluster, topic) == [b"later", b"open"])


def test_a_new_producer_fences_the_one_before_and_aborts_its_transaction(cluster: Cluster, topic: str) -> None:
    zombie = ready(cluster, "fenced")
    zombie.begin_transaction()
    write(zombie, topic, "zombie")
    started = ready(cluster, "fenced")
    with pytest.raises(KafkaException) as failure:
        zombie.commit_transaction(TIMEOUT_S)
    assert failure.value.args[0].code() == KafkaError._FENCED
    started.begin_transaction()
    write(started, topic, "new")
    started.commit_transaction(TIMEOUT_S)
    eventually(lambda: read_all(cluster, topic) == [b"new"])


def test_results_and_consumed_offsets_are_committed_together(cluster: Cluster, topic: str) -> None:
    source = f"{topic}-in"
    cluster.create_topic(source, partitions=1)
    feeder = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(10):
        feeder.produce(source, str(number))
    assert feeder.flush(TIMEOUT_S) == 0
    group = uuid.uuid4().hex
    started = ready(cluster)

    def transform(count: int, *, commit: bool) -> None:
        reader = consumer(cluster, group=group)
        reader.subscribe([source])
        started.begin_transaction()
        taken = 0
        while taken < count:
            message = reader.poll(TIMEOUT_S)
            assert message is not None
            if message.error() is None:
                started.produce(topic, b"out-" + message.value(), partition=0)
                taken += 1
        offsets = [TopicPartition(source, 0, message.offset() + 1)]
        started.send_offsets_to_transaction(offsets, reader.consumer_group_metadata(), TIMEOUT_S)
        (started.commit_transaction if commit else started.abort_transaction)(TIMEOUT_S)
        reader.close()

    transform(4, commit=True)
    transform(3, commit=False)
    transform(6, commit=True)
    eventually(lambda: read_all(cluster, topic) == [b"out-%d" % number for number in range(10)])
    (committed,) = consumer(cluster, group=group).committed([TopicPartition(source, 0)], TIMEOUT_S)
    assert committed.offset == 10


def test_a_transaction_that_times_out_is_aborted() -> None:
    settings = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 200}
    with Cluster(settings) as cluster:
        cluster.create_topic("t", partitions=3)
        started = ready(cluster, **{"transaction.timeout.ms": 1000})
        started.begin_transaction()
        write(started, "t", "late")
        other = ready(cluster)
        other.begin_transaction()
        write(other, "t", "other")
        other.commit_transaction(TIMEOUT_S)
        eventually(lambda: read_all(cluster, "t") == [b"other"])
        with pytest.raises(KafkaException):
            started.commit_transaction(TIMEOUT_S)


def test_transactions_go_on_after_a_restart_of_the_broker(cluster: Cluster, topic: str) -> None:
    started = ready(cluster)
    started.begin_transaction()
    write(started, topic, "before")
    started.commit_transaction(TIMEOUT_S)
    started.begin_transaction()
    write(started, topic, "open")
    cluster.restart()
    started.commit_transaction(TIMEOUT_S)
    eventually(lambda: read_all(cluster, topic) == [b"before", b"open"])


def committed_offset(cluster: Cluster, group: str, topic: str) -> int:
    (found,) = consumer(cluster, group=group).committed([TopicPartition(topic, 0)], TIMEOUT_S)
    offset: int = found.offset
    return offset


# kafka-python leaves sockets to the garbage collector.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_kafka_pythons_transactions(cluster: Cluster, topic: str) -> None:
    group = uuid.uuid4().hex
    started = kafka.KafkaProducer(bootstrap_servers=cluster.bootstrap_servers, transactional_id=topic)
    started.init_transactions()
    for number in range(4):
        started.begin_transaction()
        started.send(topic, b"%d" % number, partition=number % 3).get(TIMEOUT_S)
        offsets = {kafka.TopicPartition(topic, 0): kafka.OffsetAndMetadata(number, "", -1)}
        started.send_offsets_to_transaction(offsets, group)
        (started.abort_transaction if number % 2 else started.commit_transaction)()
    started.close()
    eventually(lambda: read_all(cluster, topic) == [b"0", b"2"])
    assert committed_offset(cluster, group, topic) == 2


def test_aiokafkas_transactions(cluster: Cluster, topic: str) -> None:
    group = uuid.uuid4().hex

    async def write_transactions() -> None:
        servers = cluster.bootstrap_servers
        started = aiokafka.AIOKafkaProducer(bootstrap_servers=servers, transactional_id=topic)
        await started.start()
        try:
            async with started.transaction():
                await started.send_and_wait(topic, b"committed", partition=0)
                await started.send_offsets_to_transaction({aiokafka.TopicPartition(topic, 0): 5}, group)
            await started.begin_transaction()
            await started.send_and_wait(topic, b"aborted", partition=1)
            await started.abort_transaction()
        finally:
            await started.stop()

    asyncio.run(write_transactions())
    eventually(lambda: read_all(cluster, topic) == [b"committed"])
    assert len(read_all(cluster, topic, "read_uncommitted")) == 2
    assert committed_offset(cluster, group, topic) == 5
