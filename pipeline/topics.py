"""Creates the pipeline's topics and sends events to them, with an unmodified client.

Kafka 0.10.2: core/.../admin/TopicCommand.scala · book 1.4.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from kafka_lite.common.errors import KafkaError
from pipeline.events import PARTITIONS, TOPIC_CONFIG, Event

_REQUEST_TIMEOUT_S = 30
_QUEUE_PAUSE_S = 0.05
_FLUSH_TURN_S = 0.5
_CONFIG = {
    "partitioner": "murmur2_random",  # Java's: equal keys go to the same partition from any client
    "compression.type": "lz4",
    "linger.ms": 50,
    "delivery.report.only.error": True,
    # Fatal errors are raised. Lines that the client's threads print in between would garble the live view.
    "log_level": 2,
}


class TopicError(KafkaError):
    """A topic cannot be created, or the broker rejected an event."""


def create_topics(bootstrap_servers: str, partitions: Mapping[str, int] = PARTITIONS) -> None:
    """Create topics (name to number of partitions) that keep their records for ever. Raises ``TopicError``."""
    topics = [NewTopic(name, count, replication_factor=1, config=TOPIC_CONFIG) for name, count in partitions.items()]
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    for name, future in admin.create_topics(topics, request_timeout=_REQUEST_TIMEOUT_S).items():
        try:
            future.result()
        except KafkaException as error:
            raise TopicError(f"the broker did not create the topic {name}: {error.args[0].str()}") from error


class EventProducer:
    """Sends events; a context manager that waits for the last acknowledgement.

    It is idempotent with ``settings={"enable.idempotence": True}``: then the client's own retries make no doubles.
    """

    def __init__(self, bootstrap_servers: str, settings: Mapping[str, Any] | None = None) -> None:
        self._failures: list[str] = []
        self._producer = Producer({"bootstrap.servers": bootstrap_servers, **_CONFIG, **(settings or {})})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.flush()

    def send(self, event: Event) -> None:
        """Send one event; blocks while the client's buffer is full. Its delivery is checked by ``flush``."""
        topic, key, value, timestamp_ms, headers = event
        while True:
            try:
                self._producer.produce(
                    topic, value, key, timestamp=timestamp_ms, headers=[*headers], on_delivery=self._on_failure
                )
                self._producer.poll(0)
                return
            except BufferError:
                self._producer.poll(_QUEUE_PAUSE_S)

    def flush(self) -> None:
        """Wait until all events are acknowledged. Raises ``TopicError`` if the broker rejected one."""
        while self._producer.flush(_FLUSH_TURN_S):  # in short calls, since signals do not interrupt C code
            pass
        if self._failures:
            raise TopicError(f"{len(self._failures)} messages were not written, the first one: {self._failures[0]}")

    def _on_failure(self, error: Any, _message: Any) -> None:
        self._failures.append(str(error))
