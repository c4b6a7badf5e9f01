"""Applications on Kafka Streams for the labs' tests: the learner's modules, against the lab's broker."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self

from kafka_learn.labs.broker import LabBroker
from kafka_learn.labs.clients import TIMEOUT_S, consumer_of
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.processor.topology_builder import TopologyBuilder

Pair = tuple[bytes | None, bytes | None]
"""A record's key and value."""
SETTINGS: dict[str, object] = {
    "commit.interval.ms": 100,
    "cache.max.bytes.buffering": 0,  # so that every change can be read
    "linger.ms": 5,
    "poll.ms": 20,
    "heartbeat.interval.ms": 100,
    "internal.leave.group.on.close": True,
}
_POLL_S = 0.05


class Application:
    """Runs a topology between ``__enter__`` and ``__exit__``, in one stream thread.

    ``folder`` gets the state directory. Instances of one ``application_id`` share its tasks.
    """

    def __init__(
        self, broker: LabBroker, builder: TopologyBuilder, folder: Path, application_id: str, **configs: object
    ) -> None:
        self._broker = broker
        self._errors: list[Exception] = []
        servers = {"bootstrap.servers": broker.bootstrap_servers, "state.dir": str(folder)}
        self.streams = KafkaStreams(builder, {**SETTINGS, **servers, "application.id": application_id, **configs})
        self.streams.set_uncaught_exception_handler(self._on_error)

    def _on_error(self, _thread: Thread, error: Exception) -> None:
        self._errors.append(error)

    def __enter__(self) -> Self:
        self.streams.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.streams.close()
        if kind is None:
            self.must_be_alive()

    def must_be_alive(self) -> None:
        """Raise AssertionError, with the reason, if the stream thread has died of an error."""
        for error in self._errors:
            message = f"the stream thread has died: {type(error).__name__}: {error}"
            if error.__cause__ is not None:
                message += f" (caused by {type(error.__cause__).__name__}: {error.__cause__})"
            raise AssertionError(message) from error

    def output(self, topic: str, count: int) -> list[Pair]:
        """Read ``count`` records of partition 0 of a topic from its beginning, and those that follow at once."""
        from confluent_kafka import TopicPartition

        found: list[Pair] = []
        deadline_s = time.monotonic() + TIMEOUT_S
        consumer = consumer_of(self._broker)
        try:
            consumer.assign([TopicPartition(topic, 0, 0)])
            more = True
            while len(found) < count or more:
                messages: list[Any] = consumer.consume(500, timeout=_POLL_S)
                more = bool(messages)
                found += [(message.key(), message.value()) for message in messages if not message.error()]
                self.must_be_alive()
                assert time.monotonic() < deadline_s, (
                    f"{topic} has {len(found)} records after {TIMEOUT_S} s, not {count}\n{self._broker.log_tail()}"
                )
        finally:
            consumer.close()
        return found
