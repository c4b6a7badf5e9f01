"""Transactions of our producer, and what readers of every isolation level see of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from confluent_kafka import Consumer as Librdkafka
from confluent_kafka import TopicPartition as LibrdkafkaPartition

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer, OffsetAndMetadata
from kafka_lite.producer import KafkaProducer, ProducerRecord
from tests.support.eventually import eventually
from tests.support.patient_clients import next_message

PARTITIONS = 3
_names = itertools.count()


def new_name(what: str) -> str:
    """A name that no other test uses."""
    return f"{what}-{next(_names)}"


def transactional(bootstrap_servers: str, transactional_id: str, **configs: object) -> KafkaProducer:
    """A producer that has initialized its transactions."""
    settings = {
        "bootstrap.servers": bootstrap_servers, "transactional.id": transactional_id, "retry.backoff.ms": 20,
    }  # fmt: skip
    producer = KafkaProducer(settings | {key.replace("_", "."): value for key, value in configs.items()})
    producer.init_transactions()
    return producer


def send(producer: KafkaProducer, topic: str, values: Iterable[bytes], partition: int | None = None) -> None:
    """Send without waiting; value n goes to partition n modulo the count unless ``partition`` is given."""
    for number, value in enumerate(values):
        producer.send(ProducerRecord(topic, value, partition=number % PARTITIONS if partition is None else partition))


def read(bootstrap_servers: str, topic: str, isolation: str, partitions: int = PARTITIONS) -> list[bytes]:
    """All values up to the end of the topic, sorted: our consumer and librdkafka must agree."""
    ours = _read_with_ours(bootstrap_servers, topic, isolation, partitions)
    assert read_with_librdkafka(bootstrap_servers, topic, isolation, partitions) == ours
    return ours


def read_committed(bootstrap_servers: str, topic: str, partitions: int = PARTITIONS) -> list[bytes]:
    """What ``read`` sees of committed records, once every transaction of the topic has its markers.

    They follow after commit_transaction has returned: its response says only that the coordinator will write them.
    """
    wanted = [TopicPartition(topic, number) for number in range(partitions)]

    def ends(isolation: str) -> dict[TopicPartition, int]:
        with KafkaConsumer({"bootstrap.servers": bootstrap_servers, "isolation.level": isolation}) as consumer:
            return consumer.end_offsets(wanted)

    eventually(lambda: ends("read_committed") == ends("read_uncommitted"), "all markers are written")
    return read(bootstrap_servers, topic, "read_committed", partitions)


def _read_with_ours(bootstrap_servers: str, topic: str, isolation: str, partitions: int) -> list[bytes]:
    wanted = [TopicPartition(topic, number) for number in range(partitions)]
    values: list[bytes] = []
    with KafkaConsumer({
        "bootstrap.servers": bootstrap_servers, "isolation.level": isolation, "auto.offset.reset": "earliest",
    }) as consumer:  # fmt: skip
        consumer.assign(wanted)
        ends = consumer.end_offsets(wanted)
        while any(consumer.position(each) < ends[each] for each in wanted):
            values += [record.value for record in consumer.poll(500)]
    return sorted(values)


def read_with_librdkafka(bootstrap_servers: str, topic: str, isolation: str, partitions: int) -> list[bytes]:
    """The same as librdkafka alone reads it, for tests that wait until markers are written."""
    consumer = Librdkafka({
        "bootstrap.servers": bootstrap_servers, "group.id": "unused", "isolation.level": isolation,
        "enable.partition.eof": True, "enable.auto.commit": False,
    })  # fmt: skip
    consumer.assign([LibrdkafkaPartition(topic, number, 0) for number in range(partitions)])
    values, at_end = [], set()
    while len(at_end) < partitions:
        message = next_message(consumer, f"the ends of {at_end}")
        if message.error() is None:
            values.append(message.value())
        else:
            at_end.add(message.partition())
    consumer.close()
    return sorted(values)


def transform(
    bootstrap_servers: str, source: str, target: str, group: str, producer: KafkaProducer, *, until: int, aborts: int
) -> None:
    """Copy ``until`` records of partition 0 from ``source`` to ``target``, one poll and transaction after the other.

    The first ``aborts`` transactions are aborted, and their records read again.
    """
    partition = TopicPartition(source, 0)
    with KafkaConsumer({
        "bootstrap.servers": bootstrap_servers, "group.id": group, "enable.auto.commit": False,
        "auto.offset.reset": "earliest", "isolation.level": "read_committed", "max.poll.records": 7,
    }) as consumer:  # fmt: skip
        consumer.subscribe([source])
        done = 0
        while done < until:
            records = consumer.poll(1000)
            if not records:
                continue
            producer.begin_transaction()
            for record in records:
                producer.send(ProducerRecord(target, b"copy of " + record.value, partition=0))
            offsets = {partition: OffsetAndMetadata(consumer.position(partition))}
            producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
            if aborts > 0:
                aborts -= 1
                producer.abort_transaction()
                consumer.seek(partition, next(iter(records)).offset)
            else:
                producer.commit_transaction()
                done += len(records)
