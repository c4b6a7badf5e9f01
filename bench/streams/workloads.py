"""The workloads that compare the systems: word count, a windowed join, memory with many keys, and restoring a store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.brokers import Broker, Candidate
from bench.contest import PEAK, Contest, own_clients
from bench.measure import (
    LOG_LEVEL,
    MESSAGES,
    TIMEOUT_S,
    Goal,
    Sample,
    SkippedError,
    end_told,
    ratio_at_least,
    topic,
    value_at_most,
)
from bench.replication import GROWTH
from bench.streams.inputs import (
    BEGAN_MS,
    DistinctKeys,
    Input,
    LastCounts,
    Lines,
    OrdersAndPayments,
    fill,
    key_of,
    last_values,
)
from bench.streams.processes import FAUST, KAFKA_STREAMS, QUIX, StreamsProcess
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.server.broker_process import HOST
from kafka_lite.testing import maven

PER_CORE = "messages/s per core"
"""Messages by the processor time of the application's process, of all its threads."""
IN_MEMORY, ROCKS_DB = "in_memory", "rocksDB"
ONLY_STORE: Mapping[str, str] = {QUIX: ROCKS_DB, FAUST: IN_MEMORY}
"""Of the systems that have no choice."""
CACHE_BYTES = 10 * 1024 * 1024
WARM_UP_SHARE = 0.2
POLL_S = 0.05
SAMPLED_KEYS = 100


class Mark:
    """Where an application is: its output so far, and what that has cost."""

    def __init__(self, process: StreamsProcess, outputs: int) -> None:
        self.outputs = outputs
        self.time_s = time.perf_counter()
        self.cpu_s = process.cpu_s()
        self.peak_mb = process.peak_mb()


@dataclass(frozen=True)
class StreamsWorkload:
    """Read everything that is in the input; each result is sent at once, unless there is a cache."""

    name: str
    kind: str
    input: Input
    store: str = IN_MEMORY
    """That of the systems that have the choice."""
    systems: Sequence[str] = ()
    """Only these, if there are any."""
    cache_bytes: int = 0
    sums_counts: bool = False
    """Whether what is there is the sum of the last counts: a cache sends how many records it likes."""
    bounded: bool = False
    """Whether the memory after a fifth of the input is compared with that after all of it."""
    goals: Mapping[str, Goal] = field(default_factory=dict)

    def run(self, broker: Broker, system: str) -> Sample:
        """Run one system. Raises RuntimeError if it fails, or if the last value of a key is not what it must be."""
        if self.systems and system not in self.systems:
            raise SkippedError(f"its only store is {ONLY_STORE[system]}, which is in another row")
        inputs = self.input.topics(broker)
        with topic(broker) as output:
            arguments = [broker.bootstrap_servers, f"app-{output}", self.store, str(self.cache_bytes), output, *inputs]
            with StreamsProcess(system, self.kind, arguments) as process:
                sample = self._measured(broker, process, output)
            self._verify(broker, output)
        return sample

    @property
    def _outputs(self) -> int:
        return round(self.input.records * self.input.outputs_each)

    def _measured(self, broker: Broker, process: StreamsProcess, output: str) -> dict[str, float]:
        """From the time when a fifth of the output is there, which is the warm-up, until all of it is.

        If everything comes at once, the warm-up and the start are part of the measurement.
        """
        marks = [Mark(process, 0)]
        process.start()
        with self._progress(broker, output) as progress:
            marks += [
                Mark(process, await_progress(process, progress, round(self._outputs * share)))
                for share in (WARM_UP_SHARE, 1)
            ]
        last = marks.pop()
        if last.outputs != self._outputs:
            raise RuntimeError(f"{process.system} has sent {last.outputs:,} records instead of {self._outputs:,}")
        first = next(mark for mark in reversed(marks) if mark.outputs < last.outputs)
        messages = (last.outputs - first.outputs) / self.input.outputs_each * len(self.input.topics(broker))
        sample = {
            MESSAGES: messages / (last.time_s - first.time_s),
            PER_CORE: messages / (last.cpu_s - first.cpu_s),
            PEAK: last.peak_mb,
        }
        return sample | ({GROWTH: last.peak_mb / first.peak_mb} if self.bounded else {})

    @contextmanager
    def _progress(self, broker: Broker, output: str) -> Iterator[Callable[[], int]]:
        if self.sums_counts:
            with LastCounts(broker, output) as counts:
                yield counts.sum
        else:
            with output_end(broker, output) as end:
                yield end

    def _verify(self, broker: Broker, output: str) -> None:
        with output_end(broker, output) as end:
            values = last_values(broker, output, end())
        found, expected = {key: self.input.value_of(value) for key, value in values.items()}, self.input.expected()
        if found != expected:
            wrong = [key for key in expected if found.get(key) != expected[key]]
            raise RuntimeError(f"{len(wrong):,} of {len(expected):,} keys are wrong, such as {wrong[:3]}")


@dataclass(frozen=True)
class Restore:
    """Start with an empty state directory and a changelog, one record of each key, until the application runs."""

    keys: int
    store: str
    goals: Mapping[str, Goal] = field(default_factory=lambda: {PER_CORE: ratio_at_least(0.25)})

    @property
    def name(self) -> str:
        return f"restore {self.keys:,} keys, {named(self.store)}"

    def run(self, broker: Broker, system: str) -> Sample:
        """Run one system. Raises RuntimeError if it does not continue from the restored counts."""
        if system not in (*own_clients(), KAFKA_STREAMS):
            raise SkippedError("it does not say when it has restored its store")
        with topic(broker) as keys, topic(broker) as output:
            application = f"app-{output}"
            changelog = create_changelog(broker, f"{application}-Counts-changelog")
            counts = ((key_of(key).encode(), (key + 1).to_bytes(8, "big"), BEGAN_MS) for key in range(self.keys))
            fill(broker, changelog, counts)
            arguments = [broker.bootstrap_servers, application, self.store, "0", output, keys]
            with StreamsProcess(system, "count-keys", arguments) as process:
                began, cpu_began_s = time.perf_counter(), process.cpu_s()
                process.start()
                process.wait_until_running()
                took_s, cpu_s = time.perf_counter() - began, process.cpu_s() - cpu_began_s
                self._verify(broker, process, keys, output)
                return {MESSAGES: self.keys / took_s, PER_CORE: self.keys / cpu_s, PEAK: process.peak_mb()}

    def _verify(self, broker: Broker, process: StreamsProcess, keys: str, output: str) -> None:
        """Send some keys again, and see whether their counts continue."""
        sampled = range(0, self.keys, max(1, self.keys // SAMPLED_KEYS))
        with output_end(broker, output) as end:
            await_progress(process, end, 0)
            fill(broker, keys, ((key_of(key).encode(), b"once more", BEGAN_MS) for key in sampled))
            await_progress(process, end, len(sampled))
        found = {key: int.from_bytes(value, "big") for key, value in last_values(broker, output, len(sampled)).items()}
        if found != {key_of(key): key + 2 for key in sampled}:
            raise RuntimeError(f"{process.system} does not continue from the counts of the changelog")


@contextmanager
def output_end(broker: Broker, output: str) -> Iterator[Callable[[], int]]:
    """How many records the output has, whenever it is called."""
    with BlockingChannel(HOST, broker.port) as channel:
        yield lambda: end_told(channel, output, 0).offset


def await_progress(process: StreamsProcess, progress: Callable[[], int], wanted: int) -> int:
    """Wait until there is so much; returns how much there is. Raises RuntimeError."""
    began = time.monotonic()
    while (found := progress()) < wanted:
        process.ensure_alive(began)
        time.sleep(POLL_S)
    return found


def create_changelog(broker: Broker, name: str) -> str:
    """A compacted topic."""
    admin = AdminClient({"log_level": LOG_LEVEL, "bootstrap.servers": broker.bootstrap_servers})
    created = admin.create_topics([NewTopic(name, 1, 1, config={"cleanup.policy": "compact"})])
    created[name].result(TIMEOUT_S)
    return name


def named(store: str) -> str:
    """A store's name in the report."""
    return "in memory" if store == IN_MEMORY else "RocksDB"


def workloads(scale: float) -> list[StreamsWorkload | Restore]:
    """All of them."""
    lines, orders = Lines(int(25_000 * scale)), OrdersAndPayments(int(50_000 * scale))
    keys = DistinctKeys(int(300_000 * scale))
    quarter = {PER_CORE: ratio_at_least(0.25)}
    with_disk = (*own_clients(), KAFKA_STREAMS, QUIX)
    return [
        StreamsWorkload("word count", "word-count", lines, goals=quarter),
        StreamsWorkload("word count, RocksDB", "word-count", lines, ROCKS_DB, with_disk, goals=quarter),
        StreamsWorkload(
            "word count, RocksDB, a cache of 10 MB",
            "word-count",
            lines,
            ROCKS_DB,
            with_disk,
            CACHE_BYTES,
            sums_counts=True,
            goals=quarter,
        ),
        StreamsWorkload("windowed join", "windowed-join", orders, goals=quarter),
        StreamsWorkload("windowed join, RocksDB", "windowed-join", orders, ROCKS_DB, with_disk, goals=quarter),
        StreamsWorkload(
            f"count {keys.records:,} keys, RocksDB, a cache of 10 MB",
            "count-keys",
            keys,
            ROCKS_DB,
            with_disk,
            CACHE_BYTES,
            bounded=True,
            goals=quarter | {GROWTH: value_at_most(1.5)},
        ),
        *(Restore(int(1_000_000 * scale), store) for store in (IN_MEMORY, ROCKS_DB)),
    ]


def streams_contests(
    candidates: Sequence[Candidate], scale: float, rounds: int, *, with_java: bool = True
) -> list[Contest]:
    """One contest per broker. If Maven cannot get Kafka Streams, the others run without it."""
    java = [KAFKA_STREAMS] if with_java and _has_java() else []
    return [
        Contest(
            f"Streams, from and to {candidate.name}",
            candidate,
            [*own_clients(), *java, QUIX, FAUST],
            workloads(scale),
            rounds,
            reference=KAFKA_STREAMS,
        )
        for candidate in candidates
    ]


def _has_java() -> bool:
    try:
        maven.require_programs("java", "javac", "mvn")
    except maven.JvmUnavailableError:
        return False
    return True
