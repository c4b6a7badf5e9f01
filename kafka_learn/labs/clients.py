"""Clients for the labs' tests with a broker: they publish numbered messages and read them back.

A message's value begins with its number, so a test can name a lost, moved or duplicated message. Reading uses
confluent-kafka, an independent client; so does publishing, unless the learner works on the producer. Clients are
imported lazily, because most checks of a lab never reach its broker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka_learn.labs.broker import LabBroker

if TYPE_CHECKING:
    from confluent_kafka import Consumer

    from kafka_lite.old_producer import KeyedMessage
    from kafka_lite.producer import ProducerRecord, RecordMetadata

TOPIC = "lab"
TIMEOUT_S = 60
FIRST_TIMESTAMP = 1_000_000


def numbered(number: int) -> dict[str, Any]:
    """The fields of message ``number``: the value repeats the number, and the timestamp follows from it."""
    return {"value": f"{number:06d}".encode() * 20, "timestamp": FIRST_TIMESTAMP + number}


def create_topic(broker: LabBroker, topic: str = TOPIC, partitions: int = 1, **config: str) -> None:
    """Create a topic and wait until it exists."""
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(topic, partitions, 1, config=config)])[topic].result(TIMEOUT_S)


# ── Publishing ────────────────────────────────────────────────────────────────────────────────────────────────────────


def publish(
    broker: LabBroker,
    first: int,
    count: int,
    fields: Callable[[int], Mapping[str, Any]] = numbered,
    topic: str = TOPIC,
    **settings: Any,
) -> None:
    """Publish ``count`` messages, numbered from ``first``, with confluent-kafka in small batches; wait for the acks."""
    from confluent_kafka import Producer

    failed: list[object] = []
    defaults = {"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0, "batch.num.messages": 10}
    producer = Producer({**defaults, **settings})
    for number in range(first, first + count):
        producer.produce(
            topic, **fields(number), on_delivery=lambda error, _message: failed.append(error) if error else None
        )
        producer.poll(0)
    waiting = producer.flush(TIMEOUT_S)
    assert not failed, f"the broker refused messages: {failed[0]}\n{broker.log_tail()}"
    assert waiting == 0, f"the broker has not acknowledged {waiting} messages\n{broker.log_tail()}"


def send(broker: LabBroker, records: Iterable[ProducerRecord], **configs: Any) -> list[RecordMetadata]:
    """Send records with our KafkaProducer, which uses the learner's modules; returns each record's metadata."""
    from kafka_lite.producer import KafkaProducer

    producer = KafkaProducer({"bootstrap.servers": broker.bootstrap_servers, **configs})
    try:
        futures = [producer.send(record) for record in records]
        assert producer.flush(TIMEOUT_S * 1000), (
            f"flush did not finish within {TIMEOUT_S} s: some messages were never sent"
        )
        return [future.get(0) for future in futures]
    finally:
        producer.close(1000)


def send_as_of_old(broker: LabBroker, messages: Sequence[KeyedMessage], **configs: Any) -> None:
    """Send messages with the old producer in one call; blocks until they are acknowledged."""
    from kafka_lite.old_producer import Producer

    defaults = {"metadata.broker.list": broker.bootstrap_servers, "request.required.acks": "1"}
    with Producer({**defaults, **configs}) as producer:
        producer.send(*messages)


# ── Reading ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def consumer_of(broker: LabBroker, **settings: Any) -> Consumer:
    """A consumer without a group, for partitions that the test assigns. The caller must close it."""
    from confluent_kafka import Consumer

    defaults = {"group.id": "lab", "enable.auto.commit": False, "auto.offset.reset": "error"}
    return Consumer({"bootstrap.servers": broker.bootstrap_servers, **defaults, **settings})


def read(broker: LabBroker, offset: int, count: int, topic: str = TOPIC) -> list[tuple[int, int]]:
    """Read ``count`` messages of partition 0 from ``offset`` on; returns (offset, number) pairs."""
    from confluent_kafka import TopicPartition

    consumer = consumer_of(broker)
    try:
        consumer.assign([TopicPartition(topic, 0, offset)])
        messages: list[Any] = consumer.consume(count, timeout=TIMEOUT_S)
        errors = [message.error() for message in messages if message.error()]
        assert not errors, f"reading from offset {offset}: {errors[0]}\n{broker.log_tail()}"
        return [(message.offset(), int(message.value()[:6])) for message in messages]
    finally:
        consumer.close()


def must_read(broker: LabBroker, offset: int, count: int, topic: str = TOPIC) -> None:
    """Check that reading from an offset returns ``count`` messages whose numbers equal their offsets."""
    got, want = read(broker, offset, count, topic), [(number, number) for number in range(offset, offset + count)]
    wrong = next((pair for pair in zip(got, want, strict=False) if pair[0] != pair[1]), None)
    assert wrong is None, f"reading from {offset}: got (offset, number) {wrong[0]}, not {wrong[1]}"
    assert len(got) == count, f"reading from {offset}: {len(got)} of {count} messages arrived\n{broker.log_tail()}"


def read_all(broker: LabBroker, partitions: int = 1, topic: str = TOPIC) -> dict[int, list[Any]]:
    """Read every message of every partition with confluent-kafka."""
    from confluent_kafka import KafkaError, TopicPartition

    found: dict[int, list[Any]] = {partition: [] for partition in range(partitions)}
    consumer = consumer_of(broker, **{"enable.partition.eof": True})
    try:
        consumer.assign([TopicPartition(topic, partition, 0) for partition in found])
        ends = 0
        while ends < partitions:
            message: Any = consumer.poll(TIMEOUT_S)
            assert message is not None, f"no message arrived within {TIMEOUT_S} s\n{broker.log_tail()}"
            if message.error():
                assert message.error().code() == KafkaError._PARTITION_EOF, f"{message.error()}\n{broker.log_tail()}"
                ends += 1
            else:
                found[message.partition()].append(message)
        return found
    finally:
        consumer.close()


def log_end_offset(broker: LabBroker, topic: str = TOPIC) -> int:
    """The log end offset of partition 0, as a client sees it."""
    from confluent_kafka import TopicPartition

    consumer = consumer_of(broker)
    try:
        return int(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=TIMEOUT_S)[1])
    finally:
        consumer.close()
