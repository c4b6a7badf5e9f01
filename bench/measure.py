"""What a measurement is: workloads that run against one broker each and say what they saw."""

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
"""Of librdkafka: errors. It has more to say of topics that come and go, and of clients that are dropped."""
_LIST_OFFSETS_VERSION = 5

MESSAGES = "messages/s"
REQUESTS = "requests/s"
CPU = "broker CPU, µs each"
"""Processor time of the broker per message, or per request where requests are counted."""
KERNEL = "of that in the kernel, µs each"
"""The part of it that is not the broker's own code: copies to and from sockets and the page cache, wake-ups. Counted in
steps of 10 ms per run."""
P50, P99 = "p50, ms", "p99, ms"
SECONDS, MEGABYTES, MEGABYTES_PER_S = "s", "MB", "MB/s"
SHARE, CPU_SHARE = "throughput, share of that without", "broker CPU, share of that without"

Sample = Mapping[str, float]
"""One run of one workload: a value for each of the figures above that it has."""


@dataclass(frozen=True)
class Goal:
    """What a figure is to reach: its ratio to that of the first Kafka, or the value itself."""

    of: Literal["ratio", "value"]
    at_least: bool
    bound: float


def ratio_at_least(bound: float) -> Goal:
    return Goal("ratio", True, bound)


def ratio_at_most(bound: float) -> Goal:
    return Goal("ratio", False, bound)


def value_at_least(bound: float) -> Goal:
    return Goal("value", True, bound)


def value_at_most(bound: float) -> Goal:
    return Goal("value", False, bound)


class SkippedError(Exception):
    """A workload cannot be run against a broker; the text says why."""


class Workload(Protocol):
    """Something to do to a broker that runs."""

    @property
    def name(self) -> str:
        """What it does, as the report says it."""

    @property
    def goals(self) -> Mapping[str, Goal]:
        """What its figures are to reach, if anything."""

    def run(self, broker: Broker) -> Sample:
        """Do it once. Raises SkippedError."""


@dataclass(frozen=True)
class Section:
    """A part of the report whose workloads run against brokers that stay up, round by round."""

    name: str
    workloads: Sequence[Workload]
    max_rounds: int = 100


@dataclass(frozen=True)
class Study:
    """A part of the report that needs brokers of its own, or none, and makes several workloads' figures at once.

    ``run`` gets the kind of broker (None for a study ``of_brokers=False``), a new folder, and whom to tell how far it
    is; it returns a sample for each of its workloads.
    """

    name: str
    workloads: Mapping[str, Mapping[str, Goal]]
    """The names of its workloads, with the goals of each."""
    run: Callable[[Candidate, Path, Callable[[str], None]], Mapping[str, Sample]]
    rounds: int = 1


def measured(broker: Broker, count: int, run: Callable[[], object], unit: str = MESSAGES) -> dict[str, float]:
    """Wall clock and the broker's processor time around ``run``, which does ``count`` of something."""
    kernel_before, cpu_before, began = broker.kernel_cpu_s(), broker.cpu_s(), time.perf_counter()
    run()
    took_s = time.perf_counter() - began
    # What the broker does behind the answer (index, flush) belongs to the bill, as far as it is done soon.
    time.sleep(0.05)
    cpu_s, kernel_s = broker.cpu_s() - cpu_before, broker.kernel_cpu_s() - kernel_before
    return {unit: count / took_s, CPU: cpu_s / count * 1e6, KERNEL: kernel_s / count * 1e6}


def cpu_of(sample: Sample) -> dict[str, float]:
    """The processor times alone, of what ``measured`` returned."""
    return {CPU: sample[CPU], KERNEL: sample[KERNEL]}


def percentiles(times_ms: Sequence[float]) -> dict[str, float]:
    """The median and the 99th percentile."""
    hundredths = statistics.quantiles(times_ms, n=100)
    return {P50: hundredths[49], P99: hundredths[98]}


@contextlib.contextmanager
def topic(broker: Broker, partitions: int = 1) -> Iterator[str]:
    """A topic for the time of a run."""
    name = create_topic(broker, partitions)
    try:
        yield name
    finally:
        delete_topic(broker, name)


def create_topic(broker: Broker, partitions: int = 1) -> str:
    """A topic with a new name, whose leaders know that they are it (which a new topic of KRaft does a little later)."""
    name = f"bench-{time.monotonic_ns()}"
    admin = AdminClient({"log_level": LOG_LEVEL, "bootstrap.servers": broker.bootstrap_servers})
    created = admin.create_topics([NewTopic(name, partitions, 1)], operation_timeout=TIMEOUT_S)
    created[name].result(TIMEOUT_S)
    deadline = time.monotonic() + TIMEOUT_S
    for partition in range(partitions):
        while _end(broker, name, partition).error_code:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{broker.name} does not lead {name}-{partition} within {TIMEOUT_S} s")
            time.sleep(0.01)
    return name


def delete_topic(broker: Broker, name: str) -> None:
    """And away with it."""
    admin = AdminClient({"log_level": LOG_LEVEL, "bootstrap.servers": broker.bootstrap_servers})
    admin.delete_topics([name], operation_timeout=TIMEOUT_S)[name].result(TIMEOUT_S)


def _end(broker: Broker, name: str, partition: int) -> ListOffsetsPartitionResponse:
    """Where a partition ends, or why the broker cannot say."""
    asked = ListOffsetsPartition(partition_index=partition, timestamp=-1)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=[asked])])
    with BlockingChannel(HOST, broker.port) as channel:
        answer = cast(ListOffsetsResponse, channel.exchange(request, _LIST_OFFSETS_VERSION))
    return answer.topics[0].partitions[0]


def expect_end(broker: Broker, name: str, messages: int, partition: int = 0) -> None:
    """What was measured really happened: that many messages are in the partition. Raises RuntimeError."""
    end = _end(broker, name, partition)
    if end.error_code or end.offset != messages:
        found = f"error {end.error_code}" if end.error_code else f"{end.offset:,} messages"
        raise RuntimeError(f"{broker.name}: {messages:,} messages were sent to {name}-{partition}, there is {found}")


def payload_of(size: int) -> bytes:
    """Bytes that compress to about a half, as text does."""
    pattern = b"".join(b"%08x" % (index * index * 2654435761 % 2**32) for index in range(size // 8 + 1))
    return pattern[:size]
