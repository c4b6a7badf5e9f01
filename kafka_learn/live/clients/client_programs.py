"""The reader's clients: programs that run inside the world, with the project's own producer and consumer.

Not in Kafka. The producer takes its work from ``orders``, the queue of its process. Both tell a witness what happens to
them.
"""

from __future__ import annotations

import queue
import signal
import threading
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

PRODUCER_CONFIGS: Final[dict[str, object]] = {
    "linger.ms": 5, "retry.backoff.ms": 100, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500,
    "request.timeout.ms": 5_000, "delivery.timeout.ms": 120_000, "metadata.max.age.ms": 3_000,
}  # fmt: skip
CONSUMER_CONFIGS: Final[dict[str, object]] = {
    "auto.offset.reset": "earliest", "enable.auto.commit": True, "auto.commit.interval.ms": 1_000,
    "session.timeout.ms": 6_000, "heartbeat.interval.ms": 1_000, "fetch.max.wait.ms": 500, "request.timeout.ms": 12_000,
    "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500, "retry.backoff.ms": 50,
    "metadata.max.age.ms": 3_000,
}  # fmt: skip
"""Differences from the defaults: what is lost is noticed within seconds, as are new partitions."""
BACKOFF_S: Final = 0.2


class Order(NamedTuple):
    """Records for the producer to send."""

    records: int
    acks: str


class Witness(Protocol):
    """Hears what happens to the clients."""

    def sent(self, value: str) -> None:
        """A record was given to the producer."""
        ...

    def acknowledged(self, value: str, partition: int, offset: int) -> None:
        """It has its place."""
        ...

    def failed(self, value: str, error: str) -> None:
        """The producer has given up."""
        ...

    def read(self, consumer: str, value: str, partition: int, offset: int) -> None:
        """A consumer has got a record."""
        ...

    def assigned(self, consumer: str, partitions: Sequence[int]) -> None:
        """A consumer has these partitions now."""
        ...


orders: queue.Queue[Order] = queue.Queue()
"""Orders for the producer of this process."""


def producer(bootstrap: str, topic: str, witness: Witness) -> None:
    """Send what is ordered, with one producer for each ``acks``."""
    senders: dict[str, Any] = {}
    number = 0
    while True:
        order = orders.get()
        if order.acks not in senders:
            senders[order.acks] = _new_producer(bootstrap, order.acks)
        for _ in range(order.records):
            number += 1
            _send(senders[order.acks], topic, f"record-{number}", witness)


def _new_producer(bootstrap: str, acks: str) -> Any:
    from kafka_lite.producer import KafkaProducer

    own = {"bootstrap.servers": bootstrap, "client.id": f"producer-acks-{acks}", "acks": acks}
    return KafkaProducer({**PRODUCER_CONFIGS, **own, "enable.idempotence": False})


def _send(sender: Any, topic: str, value: str, witness: Witness) -> None:
    from kafka_lite.common.errors import KafkaError
    from kafka_lite.producer import ProducerRecord

    def on_completion(metadata: Any, error: Exception | None) -> None:
        if error is None:
            witness.acknowledged(value, metadata.partition, metadata.offset)
        else:
            witness.failed(value, repr(error))

    witness.sent(value)
    try:
        sender.send(ProducerRecord(topic, value.encode(), value.encode()), on_completion)
    except KafkaError as error:
        witness.failed(value, repr(error))


def consumer(bootstrap: str, topic: str, group: str, name: str, isolation: str, witness: Witness) -> None:
    """Read as a member of a group until SIGTERM, and leave it."""
    from kafka_lite.common.errors import KafkaError
    from kafka_lite.consumer import KafkaConsumer

    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    own = {"bootstrap.servers": bootstrap, "client.id": name, "group.id": group, "isolation.level": isolation}
    reader = KafkaConsumer({**CONSUMER_CONFIGS, **own})
    reader.subscribe([topic], _listener(name, witness))
    while not is_over.is_set():
        try:
            for record in reader.poll(500):
                witness.read(name, _text(record.value), record.partition, record.offset)
        except KafkaError as error:
            witness.failed(name, repr(error))
            time.sleep(BACKOFF_S)
    reader.close()
    witness.assigned(name, [])


def _listener(name: str, witness: Witness) -> Any:
    from kafka_lite.consumer import ConsumerRebalanceListener

    class Listener(ConsumerRebalanceListener):
        """Tells what the consumer has after each change."""

        def on_partitions_revoked(self, partitions: Any) -> None:  # noqa: ARG002  Kafka's signature
            witness.assigned(name, [])

        def on_partitions_assigned(self, partitions: Any) -> None:
            witness.assigned(name, sorted(at.partition for at in partitions))

    return Listener()


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode(errors="replace")
