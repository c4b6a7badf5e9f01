"""A producer for tests that kill brokers."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from confluent_kafka import KafkaError, Message, Producer

from tests.support.patient_clients import flush

A_FEW_PER_S = 400
"""Messages. As many as four brokers take are work for two processors, beside which nothing else runs in time."""


class Load:
    """A producer that keeps sending through every restart, and the acknowledgements it got."""

    def __init__(
        self, bootstrap: str, topic: str, partitions: int, *, idempotent: bool, per_s: float | None = None
    ) -> None:
        """``per_s``: how many messages to send in a second; as many as the brokers take if it is None."""
        self.idempotent = idempotent
        self._topic, self._partitions, self._per_s = topic, partitions, per_s
        self.acknowledged: dict[tuple[int, int], bytes] = {}
        self.sent = 0
        self._producer = Producer({
            "bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": idempotent,
            "linger.ms": 1 if per_s is None else 20,  # otherwise each of few messages would be a request
            "compression.type": "lz4", "batch.num.messages": 20, "reconnect.backoff.max.ms": 200,
            "message.timeout.ms": 300_000, "log_level": 0,  # brokers start slowly on a busy machine
            # A broker that has just started knows no topic until the controller tells it, in Kafka as here. librdkafka
            # believes it unless the topic is newer than this.
            "topic.metadata.propagation.max.ms": 300_000,
        })  # fmt: skip

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        place = message.partition(), message.offset()
        assert place not in self.acknowledged, f"{place} was assigned to two messages"
        self.acknowledged[place] = message.value()

    def run(self, seconds: float) -> None:
        """Send for so long, and note what is acknowledged meanwhile."""
        deadline = time.monotonic() + seconds
        self._run_while(lambda: time.monotonic() < deadline)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Send in another thread, until the end of the ``with`` statement."""
        stop = Event()
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(self._run_while, lambda: not stop.is_set())
            try:
                yield
            finally:
                stop.set()
            sending.result()

    def _run_while(self, condition: Callable[[], bool]) -> None:
        due = time.monotonic()
        while condition():
            value = b"%08d" % self.sent + b"." * random.randrange(200)
            self._producer.produce(
                self._topic,
                value,
                partition=self.sent % self._partitions,
                timestamp=1000 + self.sent,
                on_delivery=self._on_delivery,
            )
            self.sent += 1
            self._producer.poll(0.001 if self._per_s is None else 0)
            if self._per_s is not None:
                now = time.monotonic()
                due = max(due + 1 / self._per_s, now)
                time.sleep(due - now)

    def finish(self) -> None:
        """Wait until all that was sent is acknowledged."""
        flush(self._producer)
