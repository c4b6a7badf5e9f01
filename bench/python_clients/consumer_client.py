"""One consumer in its own process, so that its processor time and memory can be measured.

``python -m bench.python_clients.consumer_client CLIENT BOOTSTRAP_SERVERS TOPIC MESSAGES SECONDS`` reads the partition
at least twice. The first pass computes a digest of all records, which also warms up the client; then whole passes are
measured for at least SECONDS. Prints a JSON object: seconds, processor time, peak memory, messages measured, and the
digest.

Each poll returns up to 500 records, and checksums are verified, as in Kafka's defaults. Socket buffer sizes are left to
the system, as in kafka-python, aiokafka and librdkafka.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter, methodcaller
from typing import Any

from bench.python_clients.python_client import AIOKAFKA, CONFLUENT, KAFKA_LITE, KAFKA_PYTHON, Measured, Stopwatch, tell

MAX_POLL_RECORDS = 500
POLL_MS = 1000
MAX_WAIT_MS = 5
"""Short, because each pass ends with a fetch at the log end, whose response the next pass must not wait for."""

Entry = tuple[int, bytes | None, bytes | None]
"""Offset, key, value."""


@dataclass(frozen=True)
class Work:
    """The topic to read, its broker, and the minimum duration."""

    bootstrap_servers: str
    topic: str
    messages: int
    seconds: float


class Digest:
    """A digest of records in order, including their offsets."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256()

    def update(self, entries: Iterable[Entry]) -> None:
        """Add records: offset, key and value, with their sizes."""
        for offset, key, value in entries:
            sizes = b"%d %d %d " % (offset, -1 if key is None else len(key), -1 if value is None else len(value))
            self._sha.update(sizes + (key or b"") + (value or b""))

    def hexdigest(self) -> str:
        """The digest so far, in hexadecimal."""
        return self._sha.hexdigest()


class Reading:
    """The progress of a consumer. ``entry`` and ``value`` extract the parts of this client's records."""

    def __init__(
        self,
        work: Work,
        entry: Callable[[Any], Entry] = attrgetter("offset", "key", "value"),
        value: Callable[[Any], bytes] = attrgetter("value"),
    ) -> None:
        self.digest = Digest()
        self.measured = Measured(0.0, 0.0)
        self.messages = 0
        """Number of messages measured."""
        self._work = work
        self._entry = entry
        self._value = value
        self.left = work.messages
        """Number of messages left in this pass."""
        self._bytes = self._bytes_of_first_pass = 0
        self._watch: Stopwatch | None = None

    def take(self, records: Sequence[Any]) -> None:
        """Count the records of a poll. Every value is accessed, as any user would."""
        self.left -= len(records)
        if self._watch is None:
            self.digest.update(map(self._entry, records))
        self._bytes += sum(map(len, map(self._value, records)))

    def is_at_end(self) -> bool:
        """Whether this pass is complete. Raises RuntimeError if more records arrived than exist."""
        if self.left < 0:
            raise RuntimeError(f"{-self.left} records too many")
        return not self.left

    def next_pass(self) -> bool:
        """Whether to read again from the beginning; measuring starts with the second pass."""
        if self._watch is None:
            self._bytes_of_first_pass = self._bytes
            self._watch = Stopwatch()
        else:
            self.measured = self._watch.read()
            self.messages += self._work.messages
            if self._bytes != self._bytes_of_first_pass:
                raise RuntimeError(f"{self._bytes} bytes came, and {self._bytes_of_first_pass} at first")
            if self.measured.seconds >= self._work.seconds:
                return False
        self._bytes, self.left = 0, self._work.messages
        return True

    def run(self, poll: Callable[[], Sequence[Any]], rewind: Callable[[], object]) -> Reading:
        """Run all passes of a blocking client."""
        while True:
            while not self.is_at_end():
                self.take(poll())
            if not self.next_pass():
                return self
            rewind()

    async def run_async(self, poll: Callable[[], Awaitable[Sequence[Any]]], rewind: Callable[[], object]) -> Reading:
        """Run all passes of an async client."""
        while True:
            while not self.is_at_end():
                self.take(await poll())
            if not self.next_pass():
                return self
            rewind()


def by_kafka_lite(work: Work) -> Reading:
    """Read with kafka_lite's consumer."""
    from kafka_lite.common.topic_partition import TopicPartition
    from kafka_lite.consumer import KafkaConsumer

    partition = TopicPartition(work.topic, 0)
    with KafkaConsumer({
        "bootstrap.servers": work.bootstrap_servers, "auto.offset.reset": "earliest",
        "max.poll.records": MAX_POLL_RECORDS, "fetch.max.wait.ms": MAX_WAIT_MS, "receive.buffer.bytes": -1,
    }) as consumer:  # fmt: skip
        consumer.assign([partition])
        return Reading(work).run(lambda: consumer.poll(POLL_MS).records(partition), lambda: consumer.seek(partition, 0))


def by_kafka_python(work: Work) -> Reading:
    """Read with kafka-python's consumer."""
    from kafka import KafkaConsumer, TopicPartition  # type: ignore[import-untyped]

    partition = TopicPartition(work.topic, 0)
    consumer = KafkaConsumer(
        bootstrap_servers=work.bootstrap_servers,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_poll_records=MAX_POLL_RECORDS,
        fetch_max_wait_ms=MAX_WAIT_MS,
    )
    consumer.assign([partition])
    reading = Reading(work).run(lambda: consumer.poll(POLL_MS).get(partition, ()), lambda: consumer.seek(partition, 0))
    consumer.close()
    return reading


def by_aiokafka(work: Work) -> Reading:
    """Read with aiokafka's consumer, in an event loop."""
    from aiokafka import AIOKafkaConsumer, TopicPartition  # type: ignore[import-untyped]

    partition = TopicPartition(work.topic, 0)

    async def main() -> Reading:
        async with AIOKafkaConsumer(
            bootstrap_servers=work.bootstrap_servers,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_poll_records=MAX_POLL_RECORDS,
            fetch_max_wait_ms=MAX_WAIT_MS,
        ) as consumer:
            consumer.assign([partition])

            async def poll() -> Sequence[Any]:
                found: Sequence[Any] = (await consumer.getmany(timeout_ms=POLL_MS)).get(partition, ())
                return found

            return await Reading(work).run_async(poll, lambda: consumer.seek(partition, 0))

    return asyncio.run(main())


def by_confluent_kafka(work: Work) -> Reading:
    """Read with librdkafka's consumer."""
    from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

    consumer = Consumer({
        "bootstrap.servers": work.bootstrap_servers, "group.id": "bench", "enable.auto.commit": False,
        "check.crcs": True, "fetch.wait.max.ms": MAX_WAIT_MS,
        "queued.min.messages": 1_000_000,  # by default, it pauses for a second whenever it has 100,000
    })  # fmt: skip
    consumer.assign([TopicPartition(work.topic, 0, 0)])

    def poll() -> list[Message]:
        # consume() blocks until it has as many messages as requested.
        messages = consumer.consume(min(MAX_POLL_RECORDS, reading.left), POLL_MS / 1000)
        for error in filter(None, map(Message.error, messages)):
            raise KafkaException(error)
        return messages

    def entry(message: Message) -> Entry:
        return message.offset(), message.key(), message.value()  # type: ignore[return-value]

    reading = Reading(work, entry, methodcaller("value"))
    reading.run(poll, lambda: consumer.seek(TopicPartition(work.topic, 0, 0)))
    consumer.close()
    return reading


CLIENTS: dict[str, Callable[[Work], Reading]] = {
    KAFKA_LITE: by_kafka_lite,
    KAFKA_PYTHON: by_kafka_python,
    AIOKAFKA: by_aiokafka,
    CONFLUENT: by_confluent_kafka,
}


def main() -> None:
    """Run the client named on the command line and print what was measured as JSON."""
    client, bootstrap_servers, topic, messages, seconds = sys.argv[1:]
    reading = CLIENTS[client](Work(bootstrap_servers, topic, int(messages), float(seconds)))
    tell(reading.measured, messages=reading.messages, digest=reading.digest.hexdigest())


if __name__ == "__main__":
    main()
