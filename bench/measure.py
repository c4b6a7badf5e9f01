"""The parts of a measurement: workloads that run against a broker and return samples."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, cast

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.brokers import Broker, Candidate
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_lite.server.broker_process import HOST

TIMEOUT_S = 180.0
LOG_LEVEL = 3
"""librdkafka's level for errors: it also logs deleted topics and dropped clients at lower severity."""
_LIST_OFFSETS_VERSION = 5

MESSAGES = "messages/s"
REQUESTS = "requests/s"
CPU = "broker CPU, µs each"
"""The broker's processor time per message, or per request if requests are counted."""
KERNEL = "of that in the kernel, µs each"
"""The part of it outside the broker's own code: copies to and from sockets and the page cache, wake-ups. Measured in
steps of 10 ms per run."""
P50, P99 = "p50, ms", "p99, ms"
SECONDS, MEGABYTES, MEGABYTES_PER_S = "s", "MB", "MB/s"
SHARE, CPU_SHARE = "throughput, share of that without", "broker CPU, share of that without"

Sample = Mapping[str, float]
"""One run of one workload: a value for each figure that it has."""


@dataclass(frozen=True)
class Goal:
    """The goal of a figure, for its ratio to the first Kafka's or for the value itself."""

    of: Literal["ratio", "value"]
    at_least: bool
    bound: float


def ratio_at_least(bound: float) -> Goal:
    """The ratio to the first Kafka's figure must be at least ``bound``."""
    return Goal("ratio", True, bound)


def ratio_at_most(bound: float) -> Goal:
    """The ratio to the first Kafka's figure must be at most ``bound``."""
    return Goal("ratio", False, bound)


def value_at_least(bound: float) -> Goal:
    """The value itself must be at least ``bound``."""
    return Goal("value", True, bound)


def value_at_most(bound: float) -> Goal:
    """The value itself must be at most ``bound``."""
    return Goal("value", False, bound)


class SkippedError(Exception):
    """A workload cannot be run against a broker; the text says why."""


class Workload(Protocol):
    """A workload that runs against a running broker."""

    @property
    def name(self) -> str:
        """The workload's name in the report."""

    @property
    def goals(self) -> Mapping[str, Goal]:
        """The goals of its figures, if any."""

    def run(self, broker: Broker) -> Sample:
        """Run the workload once. Raises SkippedError."""


@dataclass(frozen=True)
class Section:
    """A section of the report whose workloads run round by round against brokers that stay up."""

    name: str
    workloads: Sequence[Workload]
    max_rounds: int = 100


@dataclass(frozen=True)
class Study:
    """A section of the report that starts its own brokers and measures several workloads at once.

    ``run`` takes the kind of broker, a new folder, and a function that reports progress; it returns a sample for each
    of its workloads.
    """

    name: str
    workloads: Mapping[str, Mapping[str, Goal]]
    """The names of its workloads, with their goals."""
    run: Callable[[Candidate, Path, Callable[[str], None]], Mapping[str, Sample]]
    rounds: int = 1


class Measured(Protocol):
    """A broker, or several, whose processor time is measured."""

    @property
    def name(self) -> str:
        """The name of its column in the report."""

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect to."""

    def cpu_s(self) -> float:
        """Processor time so far, in seconds."""

    def kernel_cpu_s(self) -> float:
        """The system part of it, in seconds."""


def measured(broker: Measured, count: int, run: Callable[[], object], unit: str = MESSAGES) -> dict[str, float]:
    """Measure wall clock and the broker's processor time of ``run``, which processes ``count`` messages or requests."""
    kernel_before, cpu_before, began = broker.kernel_cpu_s(), broker.cpu_s(), time.perf_counter()
    run()
    took_s = time.perf_counter() - began
    # Include the broker's work after the response (index, flush), as far as it is done soon.
    time.sleep(0.05)
    cpu_s, kernel_s = broker.cpu_s() - cpu_before, broker.kernel_cpu_s() - kernel_before
    return {unit: count / took_s, CPU: cpu_s / count * 1e6, KERNEL: kernel_s / count * 1e6}


def cpu_of(sample: Sample) -> dict[str, float]:
    """Only the processor times of a sample of ``measured``."""
    return {CPU: sample[CPU], KERNEL: sample[KERNEL]}


def percentiles(times_ms: Sequence[float]) -> dict[str, float]:
    """The median and the 99th percentile."""
    hundredths = statistics.quantiles(times_ms, n=100)
    return {P50: hundredths[49], P99: hundredths[98]}


@contextlib.contextmanager
def topic(broker: Broker, partitions: int = 1) -> Iterator[str]:
    """A topic that exists for the duration of a run."""
    name = create_topic(broker, partitions)
    try:
        yield name
    finally:
        delete_topic(broker, name)


def create_topic(broker: Broker, partitions: int = 1) -> str:
    """Create a topic with a new name and wait until its leaders serve it (KRaft takes a little longer)."""
    name = f"bench-{time.monotonic_ns()}"
    admin = AdminClient({"log_level": LOG_LEVEL, "bootstrap.servers": broker.bootstrap_servers})
    created = admin.create_topics([NewTopic(name, partitions, 1)], operation_timeout=TIMEOUT_S)
    created[name].result(TIMEOUT_S)
    deadline = time.monotonic() + TIMEOUT_S
    for partition in range(partitions):
        while end_of(broker, name, partition).error_code:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{broker.name} does not lead {name}-{partition} within {TIMEOUT_S} s")
            time.sleep(0.01)
    return name


def delete_topic(broker: Broker, name: str) -> None:
    """Delete a topic."""
    admin = AdminClient({"log_level": LOG_LEVEL, "bootstrap.servers": broker.bootstrap_servers})
    admin.delete_topics([name], operation_timeout=TIMEOUT_S)[name].result(TIMEOUT_S)


def end_of(broker: Broker, name: str, partition: int) -> ListOffsetsPartitionResponse:
    """The end offset of a partition, or the broker's error."""
    with BlockingChannel(HOST, broker.port) as channel:
        return end_told(channel, name, partition)


def end_told(channel: BlockingChannel, name: str, partition: int) -> ListOffsetsPartitionResponse:
    """The same over a connection that stays."""
    asked = ListOffsetsPartition(partition_index=partition, timestamp=-1)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=[asked])])
    response = cast(ListOffsetsResponse, channel.exchange(request, _LIST_OFFSETS_VERSION))
    return response.topics[0].partitions[0]


def expect_end(broker: Broker, name: str, messages: int, partition: int = 0) -> None:
    """Check that the partition contains exactly this many messages. Raises RuntimeError."""
    end = end_of(broker, name, partition)
    if end.error_code or end.offset != messages:
        found = f"error {end.error_code}" if end.error_code else f"{end.offset:,} messages"
        raise RuntimeError(f"{broker.name}: {messages:,} messages were sent to {name}-{partition}, there is {found}")


def payload_of(size: int) -> bytes:
    """Bytes that compress to about half their size, like text."""
    pattern = b"".join(b"%08x" % (index * index * 2654435761 % 2**32) for index in range(size // 8 + 1))
    return pattern[:size]
