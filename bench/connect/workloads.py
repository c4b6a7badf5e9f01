"""The workloads: a file source, a file sink, a worker's start, and a rebalance of 200 connectors."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.brokers import Broker, Candidate
from bench.connect.workers import KAFKA_CONNECT, POLL_S, WorkerProcess
from bench.contest import PEAK, Contest, ContestWorkload, own_clients
from bench.measure import (
    LOG_LEVEL,
    MESSAGES,
    SECONDS,
    TIMEOUT_S,
    Goal,
    Sample,
    payload_of,
    ratio_at_least,
    ratio_at_most,
    topic,
    value_at_most,
)
from bench.streams.workloads import PER_CORE, WARM_UP_SHARE, output_end
from kafka_lite.testing import maven

LINE = payload_of(100) + b"\n"
FILE = "org.apache.kafka.connect.file.FileStream"
CONNECTORS = 200
INTERNAL = {"config": 1, "offset": 5, "status": 1}
"""Kinds of internal topics, and how many partitions they have."""
_HALF = {PER_CORE: ratio_at_least(0.5)}


@dataclass(frozen=True)
class FileSource:
    """Lines of 100 B of a file, by one task, into a topic of one partition."""

    lines: int
    goals: Mapping[str, Goal] = field(default_factory=lambda: _HALF)
    name: str = "file source, lines of 100 B"

    def run(self, broker: Broker, system: str) -> Sample:
        """Run one system. Raises RuntimeError."""
        with tempfile.TemporaryDirectory() as folder, topic(broker) as output, internal_topics(broker) as topics:
            file = Path(folder, "lines.txt")
            file.write_bytes(LINE * self.lines)
            with WorkerProcess(system, broker, topics) as worker, output_end(broker, output) as end:
                worker.create("in", {"connector.class": f"{FILE}SourceConnector", "file": str(file), "topic": output})
                return measured(worker, end, self.lines)


@dataclass(frozen=True)
class FileSink:
    """The same records out of the topic into a file."""

    lines: int
    goals: Mapping[str, Goal] = field(default_factory=lambda: _HALF)
    name: str = "file sink, lines of 100 B"

    def run(self, broker: Broker, system: str) -> Sample:
        """Run one system. Raises RuntimeError."""
        with tempfile.TemporaryDirectory() as folder, topic(broker) as source, internal_topics(broker) as topics:
            send(broker, source, ((None, LINE[:-1]) for _ in range(self.lines)))
            file = Path(folder, "lines.txt")
            with WorkerProcess(system, broker, topics) as worker:
                config = {"connector.class": f"{FILE}SinkConnector", "file": str(file), "topics": source}
                worker.create("out", config)
                return measured(worker, lambda: _size_of(file) // len(LINE), self.lines)


def _size_of(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def measured(worker: WorkerProcess, progress: Callable[[], int], lines: int) -> Sample:
    """From the time when a fifth of the lines is there, which is the warm-up, until all of them are."""
    marks: list[tuple[int, float, float]] = []
    began = time.monotonic()
    for wanted in (round(lines * WARM_UP_SHARE), lines):
        while (found := progress()) < wanted:
            worker.ensure_alive()
            if time.monotonic() - began > TIMEOUT_S:
                raise RuntimeError(f"{worker.system} has copied {found:,} of {lines:,} lines in {TIMEOUT_S:.0f} s")
            time.sleep(POLL_S)
        marks.append((found, time.perf_counter(), worker.cpu_s()))
    (first, first_s, first_cpu_s), (last, last_s, last_cpu_s) = marks
    if first >= lines:
        raise RuntimeError(f"{lines:,} lines are too few to measure {worker.system}: use a larger --scale")
    records = last - first
    per_core = records / (last_cpu_s - first_cpu_s)
    return {MESSAGES: records / (last_s - first_s), PER_CORE: per_core, PEAK: worker.peak_mb()}


@dataclass(frozen=True)
class Start:
    """From the start of a worker's process until it is in its group."""

    goals: Mapping[str, Goal] = field(default_factory=lambda: {SECONDS: value_at_most(2)})
    name: str = "start of a worker"

    def run(self, broker: Broker, system: str) -> Sample:
        """Run one system. Raises RuntimeError."""
        with internal_topics(broker) as topics, WorkerProcess(system, broker, topics) as worker:
            return {SECONDS: worker.start_s, PEAK: worker.peak_mb()}


@dataclass(frozen=True)
class Rebalance:
    """A second worker joins one that runs 200 connectors of one task: until all of them run again."""

    connectors: int = CONNECTORS
    goals: Mapping[str, Goal] = field(default_factory=lambda: {SECONDS: ratio_at_most(1)})

    @property
    def name(self) -> str:
        return f"eager rebalance of {self.connectors} connectors"

    def run(self, broker: Broker, system: str) -> Sample:
        """Run one system. Raises RuntimeError."""
        with (
            tempfile.TemporaryDirectory() as folder,
            topic(broker) as output,
            internal_topics(broker) as topics,
            Statuses(broker, topics["status.storage.topic"]) as statuses,
        ):
            file = Path(folder, "empty.txt")
            file.touch()
            records = config_records(self.connectors, {"file": str(file), "topic": output})
            send(broker, topics["config.storage.topic"], records)
            parts = 2 * self.connectors
            with WorkerProcess(system, broker, topics):
                generation = statuses.await_running(parts, after=-1)
                with WorkerProcess(system, broker, topics) as second:
                    last = statuses.await_running(parts, after=generation)
                    return {SECONDS: statuses.generations.seconds_of(last), PEAK: second.peak_mb()}


def config_records(connectors: int, config: Mapping[str, str]) -> Iterator[tuple[bytes, bytes]]:
    """The config topic's records of file sources of one task each, as a leader writes them."""
    source = {"connector.class": f"{FILE}SourceConnector", "tasks.max": "1", **config}
    for number in range(connectors):
        name = f"c{number:03}"
        properties = {**source, "name": name}
        # The task of Java's worker 3.9.1 has the whole configuration, ours what the task needs: each writes its own.
        task = {**properties, "task.class": f"{FILE}SourceTask"}
        yield f"connector-{name}".encode(), json.dumps({"properties": properties}).encode()
        yield f"task-{name}-0".encode(), json.dumps({"properties": task}).encode()
        yield f"commit-{name}".encode(), b'{"tasks":1}'


class Generations:
    """The times at which connectors and tasks ran and stopped, by the generations of their group."""

    def __init__(self) -> None:
        self._running: dict[int, dict[str, int]] = {}
        """Generation -> key -> when it ran, in ms."""
        self._stopped: dict[int, int] = {}
        """Generation -> when the first of it stopped."""

    def add(self, key: str, value: Mapping[str, Any] | None, timestamp_ms: int) -> None:
        """Note a record of the status topic."""
        if value is None:
            return
        generation = int(value["generation"])
        if value["state"] == "RUNNING":
            self._running.setdefault(generation, {})[key] = timestamp_ms
        elif value["state"] == "UNASSIGNED":
            self._stopped.setdefault(generation, timestamp_ms)

    def complete(self, parts: int, after: int) -> int | None:
        """A generation after another one in which so many connectors and tasks run."""
        return next((each for each, keys in self._running.items() if each > after and len(keys) == parts), None)

    def seconds_of(self, generation: int) -> float:
        """From the first stop in the generation before until the last start in this one."""
        stopped_ms = self._stopped[max(each for each in self._stopped if each < generation)]
        return (max(self._running[generation].values()) - stopped_ms) / 1000

    def __str__(self) -> str:
        return str({generation: len(running) for generation, running in self._running.items()})


class Statuses:
    """Reads the status topic. A context manager, which closes the consumer."""

    def __init__(self, broker: Broker, name: str) -> None:
        self.generations = Generations()
        self._consumer = Consumer({
            "bootstrap.servers": broker.bootstrap_servers, "group.id": "bench-statuses", "enable.auto.commit": False,
            "log_level": LOG_LEVEL,
        })  # fmt: skip
        self._consumer.assign([TopicPartition(name, 0, OFFSET_BEGINNING)])

    def await_running(self, parts: int, after: int) -> int:
        """Wait until so many connectors and tasks run in one generation after another; returns it."""
        deadline = time.monotonic() + TIMEOUT_S
        while (found := self.generations.complete(parts, after)) is None:
            if time.monotonic() > deadline:
                raise RuntimeError(
                    f"{parts} connectors and tasks do not run within {TIMEOUT_S:.0f} s: {self.generations}"
                )
            message = self._consumer.poll(POLL_S)
            if message is not None and message.error() is None:
                key, value, (_, timestamp_ms) = message.key(), message.value(), message.timestamp()
                status = None if value is None else json.loads(value)
                self.generations.add((key or b"").decode(), status, timestamp_ms)
        return found

    def __enter__(self) -> Statuses:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()


@contextmanager
def internal_topics(broker: Broker) -> Iterator[Mapping[str, str]]:
    """The keys of a worker's internal topics, which exist for the duration of a run."""
    admin = AdminClient({"log_level": LOG_LEVEL, "bootstrap.servers": broker.bootstrap_servers})
    prefix = f"bench-{time.monotonic_ns()}"
    names = {kind: f"{prefix}-{kind}" for kind in INTERNAL}
    compacted = {"cleanup.policy": "compact"}
    wanted = [NewTopic(name, INTERNAL[kind], 1, config=compacted) for kind, name in names.items()]
    for created in admin.create_topics(wanted).values():
        created.result(TIMEOUT_S)
    try:
        yield {"group.id": prefix} | {f"{kind}.storage.topic": name for kind, name in names.items()}
    finally:
        for deleted in admin.delete_topics(list(names.values())).values():
            deleted.result(TIMEOUT_S)


def send(broker: Broker, name: str, records: Iterable[tuple[bytes | None, bytes]]) -> None:
    """Send keys and values to the only partition of a topic. Raises RuntimeError."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 5, "log_level": LOG_LEVEL})
    for key, value in records:
        while True:
            try:
                producer.produce(name, value, key, 0)
            except BufferError:
                producer.poll(0.1)
            else:
                break
    if producer.flush(TIMEOUT_S):
        raise RuntimeError(f"not everything was sent to {name}")


def connect_contests(
    candidates: Sequence[Candidate], scale: float, rounds: int, *, with_java: bool = True
) -> list[Contest]:
    """One contest per broker. If Maven cannot get Kafka Connect, ours runs alone."""
    java = [KAFKA_CONNECT] if with_java and _has_java() else []
    lines = int(300_000 * scale)
    workloads: list[ContestWorkload] = [FileSource(lines), FileSink(lines), Start(), Rebalance()]
    return [
        Contest(
            f"Connect, beside {candidate.name}", candidate, [*own_clients(), *java], workloads, rounds,
            reference=KAFKA_CONNECT,
        )
        for candidate in candidates
    ]  # fmt: skip


def _has_java() -> bool:
    try:
        maven.require_programs("java", "mvn")
    except maven.JvmUnavailableError:
        return False
    return True
