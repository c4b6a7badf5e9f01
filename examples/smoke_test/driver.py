"""The driver: writes numbers, and compares what the application makes of them with what it must be.

The numbers of a key ``3-102`` are 3, 4, … 102, each once, a little out of order. So the key says all answers.

Kafka 0.10.2: streams/src/test/.../tests/SmokeTestDriver.java · book 9.2.2
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

from examples.running import partitions_of
from examples.smoke_test.topology import (
    AVG,
    CNT,
    DATA,
    DAY_MS,
    DIF,
    DOUBLE,
    ECHO,
    INTEGER,
    LONG,
    MAX,
    MIN,
    OUTPUTS,
    STRING,
    SUM,
    TAGG,
)
from kafka_lite.common.serdes import Serde
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.producer import KafkaProducer, ProducerRecord

SERDES: dict[str, Serde[Any]] = {
    ECHO: INTEGER, MIN: INTEGER, MAX: INTEGER, DIF: INTEGER, SUM: LONG, CNT: LONG, AVG: DOUBLE, TAGG: LONG,
}  # fmt: skip
SHUFFLED_TOGETHER = 10
"""A number is at most so many places too early. Times still grow with the numbers, more or less."""


@dataclass(frozen=True)
class Numbers:
    """The numbers of one key: ``least`` to ``greatest``."""

    least: int
    greatest: int

    @property
    def key(self) -> str:
        """How Kafka's driver writes it."""
        return f"{self.least}-{self.greatest}"

    @property
    def count(self) -> int:
        """How many there are."""
        return self.greatest - self.least + 1

    def answers(self) -> dict[str, float]:
        """By topic, what the application says in the end."""
        total = (self.least + self.greatest) * self.count // 2
        return {
            MIN: self.least,
            MAX: self.greatest,
            DIF: self.greatest - self.least,
            SUM: total,
            CNT: self.count,
            AVG: total / self.count,
        }

    def shuffled(self, chance: random.Random) -> list[int]:
        """The numbers in the order in which they are written."""
        values = list(range(self.least, self.greatest + 1))
        for place in range(len(values)):
            other = place + chance.randrange(min(len(values) - place, SHUFFLED_TOGETHER))
            values[place], values[other] = values[other], values[place]
        return values


def numbers_of(keys: int, records_per_key: int) -> list[Numbers]:
    """The input of Kafka's driver: key ``i`` has the numbers from ``i`` on."""
    return [Numbers(least, least + records_per_key - 1) for least in range(keys)]


class Writer:
    """Writes the numbers of all keys, mixed by a seed: all, or some now and the rest later."""

    def __init__(
        self, bootstrap_servers: str, numbers: Iterable[Numbers], seed: int = 1, time: Time = SYSTEM_TIME
    ) -> None:
        """Connects when it first writes. Raises ConfigError."""
        self._servers = bootstrap_servers
        self._left = _mixed(numbers, random.Random(seed))
        now_ms = int(time.milliseconds())
        self._next_ms = now_ms - now_ms % DAY_MS  # one day, and so one window, even if midnight passes meanwhile

    def write(self, records: int | None = None) -> int:
        """Write so many records, or all that are left, and wait until all replicas have them; returns how many."""
        configs = {"bootstrap.servers": self._servers, "acks": "all"}
        written = []
        with KafkaProducer(configs) as producer:
            for key, number in islice(self._left, records):
                record = ProducerRecord(
                    DATA,
                    INTEGER.serializer.serialize(DATA, number),
                    STRING.serializer.serialize(DATA, key),
                    timestamp=self._next_ms,
                )
                self._next_ms += 1
                written.append(producer.send(record))
        for each in written:
            each.get()
        return len(written)


def _mixed(numbers: Iterable[Numbers], chance: random.Random) -> Iterator[tuple[str, int]]:
    left = [(each.key, iter(each.shuffled(chance))) for each in numbers]
    while left:
        place = chance.randrange(len(left))
        key, values = left[place]
        number = next(values, None)
        if number is None:
            left[place] = left[-1]
            left.pop()
        else:
            yield key, number


class Answers:
    """The application's output so far: the newest value of each key. It changes until it is right."""

    def __init__(self, numbers: Iterable[Numbers]) -> None:
        self._numbers = list(numbers)
        self.echoes: dict[str, Counter[int]] = defaultdict(Counter)
        """By key, how often each number was copied."""
        self._newest: dict[str, dict[str, float]] = {topic: {} for topic in OUTPUTS if topic != ECHO}

    def add(self, topic: str, key: str, value: Any) -> None:
        """Add a record of an output topic, in the order of its partition."""
        if topic == ECHO:
            self.echoes[key][value] += 1
        else:
            self._newest[topic][key] = value

    def problems(self) -> list[str]:
        """The differences from the expected final output, a line each. Empty if there are none."""
        found = []
        for each in self._numbers:
            if missing := set(range(each.least, each.greatest + 1)) - set(self.echoes[each.key]):
                found.append(f"{ECHO} {each.key}: {len(missing)} numbers are missing, the first of them {min(missing)}")
            for topic, expected in each.answers().items():
                answer = self._newest[topic].get(each.key)
                if answer != expected:
                    found.append(f"{topic} {each.key}: {answer}, not {expected}")
        keys_by_count = Counter(str(each.count) for each in self._numbers)
        grouped = {count: keys for count, keys in self._newest[TAGG].items() if keys}
        if grouped != keys_by_count:
            found.append(f"{TAGG}: {grouped}, not {dict(keys_by_count)}")
        return found

    def repeated(self) -> int:
        """How many numbers were copied more than once, which ``exactly_once`` rules out."""
        return sum(count - 1 for copies in self.echoes.values() for count in copies.values())


class Verifier:
    """Reads the answers, from the beginning of the output topics."""

    def __init__(self, bootstrap_servers: str, numbers: Iterable[Numbers], isolation: str = "read_uncommitted") -> None:
        """Connects. Raises ConfigError, and KafkaError if a topic does not exist."""
        self.answers = Answers(numbers)
        configs = {"bootstrap.servers": bootstrap_servers, "isolation.level": isolation, "client.id": "verifier"}
        self._consumer = consumer = KafkaConsumer({**configs, "auto.offset.reset": "earliest"})
        try:
            consumer.assign([partition for topic in OUTPUTS for partition in partitions_of(consumer, topic)])
        except BaseException:
            consumer.close()
            raise

    def poll(self, timeout_ms: int = 500) -> bool:
        """Read what is there, or wait for it; True if there was something."""
        records = self._consumer.poll(timeout_ms)
        for record in records:
            topic = record.topic
            key = STRING.deserializer.deserialize(topic, record.key) or ""
            self.answers.add(topic, key, SERDES[topic].deserializer.deserialize(topic, record.value))
        return bool(records)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()
