"""A comparison of Spark's sources of Kafka topics: ours, in Python, and Spark's own connector, in Java."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from confluent_kafka import Producer

from bench.brokers import Broker, Candidate
from bench.contest import CLIENT_CPU, Contest
from bench.filled_log import FilledLog
from bench.measure import (
    LOG_LEVEL,
    MESSAGES,
    TIMEOUT_S,
    Goal,
    Sample,
    create_topic,
    delete_topic,
    expect_end,
    payload_of,
    percentiles,
    ratio_at_least,
    topic,
)
from kafka_learn.site.bench_results import PLAIN
from kafka_lite.testing import maven
from scripts.compile_hot_modules import PROJECT

CONNECTOR = "Spark's connector"
FORMATS = {PLAIN: "kafka_lite", CONNECTOR: "kafka"}
CONNECTOR_JARS = (
    # The connector of the pinned PySpark. Its token provider is not on Maven Central; this one is only asked for
    # delegation tokens, which nobody has here.
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.0-preview1",
)
BESIDE_PYSPARK = ("spark-sql-kafka", "spark-token-provider-kafka", "kafka-clients", "commons-pool2")
"""The jars among them that PySpark has not itself, in its own versions."""
SIZE = 100
PARTITIONS = (1, 16)
WARM_UP = 500
"""Messages that are written and read, or streamed, before the measurement."""


class SparkProcess:
    """A session in its own process: see ``bench.spark.spark_client``."""

    def __init__(self, source: str, jars: Sequence[Path]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="kafka-lite-bench-")
        self._errors = Path(self._folder.name, "stderr")
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bench.spark.spark_client", source, *map(str, jars)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=PROJECT,
            )  # fmt: skip
        self.receive()

    def send(self, task: str, **arguments: object) -> None:
        """Give it a task."""
        assert self._process.stdin is not None
        print(json.dumps({"task": task, **arguments}), file=self._process.stdin, flush=True)

    def receive(self) -> dict[str, Any]:
        """The process's next line. Raises RuntimeError if the process ends instead."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            said = self._errors.read_text(encoding="utf-8", errors="replace").strip()
            raise RuntimeError(f"the Spark session ended: {said.rpartition(chr(10))[2]}")
        said_json: dict[str, Any] = json.loads(line)
        return said_json

    def close(self) -> None:
        """End the session."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(TIMEOUT_S)
        finally:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()
            self._folder.cleanup()


@dataclass
class SparkSessions:
    """A session for each source; each is started when it is needed first, and again if it has died."""

    jars: Sequence[Path]
    _running: dict[str, SparkProcess] = field(default_factory=dict)

    def task(self, broker: Broker, client: str, name: str, **arguments: object) -> dict[str, Any]:
        """Run a task to its end. Raises RuntimeError."""
        self.start(broker, client, name, **arguments)
        return self.result(client)

    def start(self, broker: Broker, client: str, name: str, **arguments: object) -> None:
        """Begin a task."""
        if client not in self._running:
            self._running[client] = SparkProcess(FORMATS[client], self.jars if client == CONNECTOR else ())
            self._warm_up(broker, client)
        self._running[client].send(name, bootstrap=broker.bootstrap_servers, **arguments)

    def _warm_up(self, broker: Broker, client: str) -> None:
        """Write and read a little, so that what a session's first queries cost is not measured."""
        with topic(broker) as name:
            self.task(broker, client, "write", topic=name, messages=WARM_UP, payload="warm")
            for task in ("count", "all columns", "aggregation"):
                self.task(broker, client, task, topic=name)

    def result(self, client: str) -> dict[str, Any]:
        """The next thing that the task says. Raises RuntimeError."""
        try:
            return self._running[client].receive()
        except RuntimeError:
            self._running.pop(client).close()
            raise

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """End all sessions at the end of the block."""
        try:
            yield
        finally:
            while self._running:
                self._running.popitem()[1].close()


@dataclass(frozen=True)
class ReadTopic:
    """One batch query over a whole topic."""

    task: str
    log: FilledLog
    sessions: SparkSessions
    goals: ClassVar[Mapping[str, Goal]] = {MESSAGES: ratio_at_least(1.0)}

    @property
    def name(self) -> str:
        messages, partitions = f"{self.log.messages:,} messages", _number_of_partitions(self.log.partitions)
        return f"read, {self.task}, {messages}, {partitions}"

    def run(self, broker: Broker, client: str) -> Sample:
        """Run the query. Raises RuntimeError if it has not read what is there."""
        name = self.log.topic(broker)
        found = self.sessions.task(broker, client, self.task, topic=name)
        expected = {"messages": self.log.messages, "bytes": self.log.messages * SIZE}
        for what, number in expected.items():
            if found.get(what, number) != number:
                raise RuntimeError(f"{client} has read {found[what]:,} {what} of {number:,}")
        return _figures(found, self.log.messages)


@dataclass(frozen=True)
class WriteTopic:
    """Write a range of rows."""

    partitions: int
    messages: int
    sessions: SparkSessions
    goals: ClassVar[Mapping[str, Goal]] = {}

    @property
    def name(self) -> str:
        return f"write, {self.messages:,} messages, {_number_of_partitions(self.partitions)}"

    def run(self, broker: Broker, client: str) -> Sample:
        """Run the query. Raises RuntimeError if not everything has arrived."""
        with topic(broker, self.partitions) as name:
            found = self.sessions.task(
                broker,
                client,
                "write",
                topic=name,
                messages=self.messages,
                payload=payload_of(SIZE).decode(),
            )
            if self.partitions == 1:
                expect_end(broker, name, self.messages)
        return _figures(found, self.messages)


@dataclass(frozen=True)
class StreamLatency:
    """A stream whose micro-batches follow each other: the time from a record's timestamp until its batch is there."""

    partitions: int
    messages: int
    sessions: SparkSessions
    rate: int = 100
    goals: ClassVar[Mapping[str, Goal]] = {}

    @property
    def name(self) -> str:
        return f"stream, {self.rate} messages/s, {_number_of_partitions(self.partitions)}"

    def run(self, broker: Broker, client: str) -> Sample:
        """Run the stream. Raises RuntimeError if not everything has come."""
        name = create_topic(broker, self.partitions)
        try:
            self.sessions.start(broker, client, "latency", topic=name, messages=WARM_UP + self.messages)
            if not self.sessions.result(client)["ready"]:
                raise RuntimeError(f"{client}'s stream does not start")
            sender = threading.Thread(target=self._send, args=(broker, name), name="sender")
            sender.start()
            found = self.sessions.result(client)
            sender.join()
        finally:
            delete_topic(broker, name)
        times_ms = found["times_ms"]
        if len(times_ms) != WARM_UP + self.messages:
            raise RuntimeError(f"{len(times_ms)} of {WARM_UP + self.messages} messages have come to {client}")
        return percentiles(times_ms[WARM_UP:]) | {CLIENT_CPU: found["cpu_s"] / len(times_ms) * 1e6}

    def _send(self, broker: Broker, name: str) -> None:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": LOG_LEVEL, "linger.ms": 0})
        began = time.perf_counter()
        for number in range(WARM_UP + self.messages):
            time.sleep(max(0.0, began + number / self.rate - time.perf_counter()))
            producer.produce(name, payload_of(SIZE), partition=number % self.partitions)
            producer.poll(0)
        producer.flush(TIMEOUT_S)


def spark_contests(
    candidates: Sequence[Candidate], scale: float, rounds: int, *, with_connector: bool = True
) -> list[Contest]:
    """One contest per broker. If Maven cannot get the connector, ours runs alone."""
    try:
        jars = beside_pyspark(maven.classpath(*CONNECTOR_JARS)) if with_connector else []
    except maven.JvmUnavailableError:
        jars = []
    return [_contest(candidate, scale, rounds, jars) for candidate in candidates]


def beside_pyspark(jars: Sequence[Path]) -> list[Path]:
    """The jars that a session needs for the connector."""
    return [jar for jar in jars if jar.name.startswith(BESIDE_PYSPARK)]


def _contest(candidate: Candidate, scale: float, rounds: int, jars: Sequence[Path]) -> Contest:
    sessions = SparkSessions(jars)
    small, medium, large = (int(messages * scale) for messages in (100_000, 1_000_000, 10_000_000))
    logs = [
        [FilledLog(SIZE, "none", messages, partitions=partitions) for messages in (small, medium, large)]
        for partitions in PARTITIONS
    ]
    return Contest(
        f"Spark's sources, from {candidate.name}",
        candidate,
        [PLAIN, CONNECTOR] if jars else [PLAIN],
        [
            *(ReadTopic("count", log, sessions) for by_size in logs for log in by_size),
            *(ReadTopic(task, by_size[-1], sessions) for by_size in logs for task in ("all columns", "aggregation")),
            *(WriteTopic(partitions, medium, sessions) for partitions in PARTITIONS),
            *(StreamLatency(partitions, max(300, int(1000 * scale)), sessions) for partitions in PARTITIONS),
        ],
        rounds,
        reference=CONNECTOR,
        running=sessions.running,
    )


def _number_of_partitions(partitions: int) -> str:
    return f"{partitions} partition{'s' * (partitions > 1)}"


def _figures(found: Mapping[str, Any], messages: int) -> Sample:
    return {MESSAGES: messages / found["s"], CLIENT_CPU: found["cpu_s"] / messages * 1e6}
