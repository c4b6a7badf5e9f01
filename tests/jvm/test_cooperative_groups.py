"""Cooperative consumers of ours, of Java and of librdkafka in one group: each leads it once."""

from __future__ import annotations

import itertools
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import confluent_kafka
import pytest

from kafka_lite.consumer import KafkaConsumer
from kafka_lite.testing.cluster import Cluster
from tests.support.jvm import classpath, compile_java, java_command

pytestmark = pytest.mark.jvm

PARTITIONS = 8
TIMEOUT_S = 120
HEARTBEAT_INTERVAL_MS = 500
JARS = ("org.apache.kafka:kafka-clients:3.9.1", "org.slf4j:slf4j-nop:1.7.36")
_names = itertools.count()


class Member(ABC):
    """A consumer in a thread of its own. ``history`` is what it owned, one after the other; the last is what it owns."""

    def __init__(self, cluster: Cluster, topic: str) -> None:
        self.bootstrap, self.topic = cluster.bootstrap_servers, topic
        self.history: list[frozenset[int]] = [frozenset()]
        self.values: list[int] = []
        self.failure: Exception | None = None
        self.stopping = threading.Event()
        self.on_close: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=self._run_noting_failure, name=type(self).__name__, daemon=True)
        self._thread.start()

    def _run_noting_failure(self) -> None:
        try:
            self.run()
        except Exception as error:  # noqa: BLE001 - ``close`` raises it
            self.failure = error

    @abstractmethod
    def run(self) -> None:
        """Consume until ``stopping``, commit, leave."""

    def owns(self, partitions: Iterable[int]) -> None:
        if (now := frozenset(partitions)) != self.history[-1]:
            self.history.append(now)

    def close(self) -> None:
        self.stopping.set()
        self.on_close()
        self._thread.join(TIMEOUT_S)
        assert not self._thread.is_alive()
        if self.failure is not None:
            raise self.failure

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Ours(Member):
    def run(self) -> None:
        with KafkaConsumer({
            "bootstrap.servers": self.bootstrap, "group.id": self.topic, "client.id": "ours",
            "partition.assignment.strategy": "cooperative-sticky", "auto.offset.reset": "earliest",
            "session.timeout.ms": 10_000, "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
        }) as consumer:  # fmt: skip
            consumer.subscribe([self.topic])
            while not self.stopping.is_set():
                records = consumer.poll(100)
                self.owns(each.partition for each in consumer.assignment)
                self.values += [int(record.value or b"") for record in records]


class Librdkafka(Member):
    def run(self) -> None:
        consumer = confluent_kafka.Consumer({
            "bootstrap.servers": self.bootstrap, "group.id": self.topic, "client.id": "librdkafka",
            "partition.assignment.strategy": "cooperative-sticky", "auto.offset.reset": "earliest",
            "session.timeout.ms": 10_000, "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
        })  # fmt: skip
        consumer.subscribe([self.topic])
        try:
            while not self.stopping.is_set():
                message = consumer.poll(0.05)
                self.owns(each.partition for each in consumer.assignment())
                if message is not None and message.error() is None:
                    self.values.append(int(message.value()))
        finally:
            consumer.close()


class Java(Member):
    def run(self) -> None:
        jars = classpath(*JARS)
        classes = compile_java(Path(__file__).with_name("GroupMember.java"), jars)
        assignor = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
        command = java_command(
            "GroupMember", self.bootstrap, self.topic, self.topic, "java", assignor, classpath=[classes, *jars]
        )
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            self.on_close = process.stdin.close
            for line in process.stdout:
                kind, *numbers = line.split()
                if kind == "partitions":
                    self.owns(map(int, numbers))
                else:
                    self.values.append(int(numbers[0]))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


def wait_until(condition: Callable[[], bool], what: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.05)


class Group:
    """Members that come and go, a topic that is written to in between, and what must hold of each rebalance."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.topic = f"cooperative-{next(_names)}"
        cluster.create_topic(self.topic, partitions=PARTITIONS)
        self.members: list[Member] = []
        self._gone: list[Member] = []
        self._written = 0

    def rebalance(self, change: Callable[[], object]) -> None:
        """Let ``change`` happen; nobody must have lost meanwhile what it has before and afterwards."""
        before = {member: (len(member.history), member.history[-1]) for member in self.members}
        change()
        wait_until(self._is_shared, self._seen)
        for member in self.members:
            length, had = before.get(member, (0, frozenset()))
            kept = had & member.history[-1]
            assert all(kept <= owned for owned in member.history[length:]), (type(member).__name__, member.history)
        self._write_and_read()

    def leave(self, member: Member) -> None:
        self.members.remove(member)
        self._gone.append(member)
        member.close()

    def _is_shared(self) -> bool:
        owned = [member.history[-1] for member in self.members]
        sizes = [len(each) for each in owned]
        return sorted(p for each in owned for p in each) == list(range(PARTITIONS)) and max(sizes) - min(sizes) <= 1

    def _write_and_read(self) -> None:
        first, self._written = self._written, self._written + 3 * PARTITIONS
        for value in range(first, self._written):
            self._cluster.produce(self.topic, str(value).encode(), partition=value % PARTITIONS)
        wait_until(lambda: len(self.values()) >= self._written, self._seen)
        assert self.values() == list(range(self._written)), "everything is read, and nothing twice"

    def values(self) -> list[int]:
        return sorted(value for member in self.members + self._gone for value in member.values)

    def _seen(self) -> object:
        return [(type(each).__name__, each.history, len(each.values), each.failure) for each in self.members]


@pytest.mark.parametrize(
    "libraries",
    [(Ours, Java, Librdkafka), (Java, Librdkafka, Ours), (Librdkafka, Ours, Java)],
    ids=lambda libraries: libraries[0].__name__,
)
def test_what_does_not_move_is_never_taken_away(cluster: Cluster, libraries: list[type[Member]]) -> None:
    with ExitStack() as stack:
        group = Group(cluster)
        for library in libraries:
            group.rebalance(
                lambda: group.members.append(stack.enter_context(library(cluster, group.topic)))  # noqa: B023
            )
        group.rebalance(lambda: group.leave(group.members[0]))
