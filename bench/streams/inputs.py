"""Input topics of the applications, of one partition and records of 100 B, and what their output must be."""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from bench.brokers import Broker
from bench.measure import LOG_LEVEL, TIMEOUT_S, create_topic, expect_end, payload_of

SIZE = 100
WORDS_IN_A_LINE = 10
VOCABULARY = 5000
BEGAN_MS = int(time.time() * 1000) - 3_600_000
"""The time of the first records: lately, or else the broker's retention deletes them before they are read."""
INTERVAL_MS = 10
"""Between one order and the next."""
LATE_MS = 60_000
NEAR_MS = 1_000

Records = Iterator[tuple[bytes | None, bytes, int]]
"""Keys, values and timestamps."""


@dataclass(frozen=True)
class Input(ABC):
    """The input of an application, and the number of records that it must send."""

    records: int
    """Of each topic."""
    _topics: dict[str, list[str]] = field(default_factory=dict)

    def topics(self, broker: Broker) -> list[str]:
        """The names of the topics; they are filled on first use."""
        if broker.name not in self._topics:
            self._topics[broker.name] = [filled_topic(broker, records) for records in self.contents()]
        return self._topics[broker.name]

    @abstractmethod
    def contents(self) -> Sequence[Records]:
        """The records of each topic."""

    @property
    @abstractmethod
    def outputs_each(self) -> float:
        """How many records are sent for one that is read."""

    @abstractmethod
    def expected(self) -> Mapping[str, Any]:
        """The last value of each key of the output."""

    def value_of(self, value: bytes) -> Any:
        """A value of the output; counts by default."""
        return int.from_bytes(value, "big")


class Lines(Input):
    """Lines of ten words out of five thousand."""

    @cached_property
    def _lines(self) -> list[str]:
        chosen = random.Random(7)
        words = [f"word{number:05d}" for number in range(VOCABULARY)]
        return [f"{' '.join(chosen.choices(words, k=WORDS_IN_A_LINE))} " for _ in range(self.records)]

    def contents(self) -> Sequence[Records]:
        return [((None, line.encode(), BEGAN_MS + number) for number, line in enumerate(self._lines))]

    @property
    def outputs_each(self) -> float:
        return WORDS_IN_A_LINE

    def expected(self) -> Mapping[str, int]:
        return Counter(word for line in self._lines for word in line.split())


class DistinctKeys(Input):
    """Records that have a key of their own each."""

    def contents(self) -> Sequence[Records]:
        payload = payload_of(SIZE)
        return [((key_of(number).encode(), payload, BEGAN_MS + number) for number in range(self.records))]

    @property
    def outputs_each(self) -> float:
        return 1

    def expected(self) -> Mapping[str, int]:
        return {key_of(number): 1 for number in range(self.records)}


class OrdersAndPayments(Input):
    """Orders, and a payment of each a second later or earlier; of every tenth one a minute later, which is too late.

    Both topics are in the order of their times. quix-streams looks only for records whose time has passed: a late
    payment amid earlier ones would hold them up, and their orders would no longer find them.
    """

    def contents(self) -> Sequence[Records]:
        payload = payload_of(SIZE)
        numbers = range(self.records)
        orders = ((key_of(number).encode(), payload, self._ordered_ms(number)) for number in numbers)
        in_time = sorted(numbers, key=self._paid_ms)
        payments = ((key_of(number).encode(), payload, self._paid_ms(number)) for number in in_time)
        return [orders, payments]

    @staticmethod
    def _ordered_ms(number: int) -> int:
        return BEGAN_MS + number * INTERVAL_MS

    def _paid_ms(self, number: int) -> int:
        late_ms = LATE_MS if number % 10 == 9 else NEAR_MS if number % 2 else -NEAR_MS
        return self._ordered_ms(number) + late_ms

    @property
    def outputs_each(self) -> float:
        return 0.9

    def expected(self) -> Mapping[str, str]:
        payload = payload_of(SIZE).decode()
        return {key_of(number): f"{payload}+{payload}" for number in range(self.records) if number % 10 != 9}

    def value_of(self, value: bytes) -> str:
        return value.decode()


def key_of(number: int) -> str:
    """A key of ten characters."""
    return f"key{number:07d}"


def filled_topic(broker: Broker, records: Records) -> str:
    """A new topic with these records."""
    name = create_topic(broker)
    expect_end(broker, name, fill(broker, name, records))
    return name


def fill(broker: Broker, name: str, records: Records) -> int:
    """Send records to partition 0 of a topic; returns their number."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": LOG_LEVEL, "linger.ms": 20})
    sent = 0
    for sent, (key, value, timestamp) in enumerate(records, 1):  # noqa: B007
        while True:
            try:
                producer.produce(name, value, key, partition=0, timestamp=timestamp)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush(TIMEOUT_S)
    return sent


class LastCounts:
    """Reads the last count of each key in a topic, as far as it has come."""

    def __init__(self, broker: Broker, name: str) -> None:
        self._consumer = Consumer(
            {"bootstrap.servers": broker.bootstrap_servers, "log_level": LOG_LEVEL, "group.id": name}
        )
        self._consumer.assign([TopicPartition(name, 0, OFFSET_BEGINNING)])
        self._counts: dict[bytes, int] = {}

    def __enter__(self) -> LastCounts:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def sum(self) -> int:
        """Of all keys that are there by now."""
        while messages := [each for each in self._consumer.consume(10_000, 0) if each.error() is None]:
            self._counts |= {each.key(): int.from_bytes(each.value(), "big") for each in messages}
        return sum(self._counts.values())


def last_values(broker: Broker, name: str, records: int) -> dict[str, bytes]:
    """The last value of each key among the first records of partition 0. Raises RuntimeError if they do not come."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "log_level": LOG_LEVEL, "group.id": name})
    consumer.assign([TopicPartition(name, 0, OFFSET_BEGINNING)])
    found: dict[str, bytes] = {}
    try:
        read = 0
        while read < records:
            # Do not ask for more than there is: consume() waits until it has the number it was asked for.
            wanted = min(records - read, 10_000)
            messages = [each for each in consumer.consume(wanted, TIMEOUT_S / 10) if each.error() is None]
            if not messages:
                raise RuntimeError(f"only {read:,} of {records:,} records of {name} can be read")
            read += len(messages)
            found |= {each.key().decode(): each.value() for each in messages}
    finally:
        consumer.close()
    return found
