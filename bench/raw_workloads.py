"""Workloads of the raw client: requests are prebuilt and responses only counted, so the broker is the bottleneck."""

from __future__ import annotations

import contextlib
import socket
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from bench.brokers import Broker
from bench.filled_log import FilledLog, batch_of_payloads
from bench.measure import (
    CPU,
    CPU_SHARE,
    MESSAGES,
    P50,
    P99,
    REQUESTS,
    SHARE,
    Goal,
    Sample,
    cpu_of,
    expect_end,
    measured,
    percentiles,
    ratio_at_least,
    ratio_at_most,
    topic,
    value_at_least,
)
from bench.raw_client import RawClient, frame_of, many_connections, produce_batch_frame
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.server.broker_process import HOST

IN_FLIGHT = 5
IDLE_CONNECTIONS = 1000
PARTITIONS = 1000
_API_VERSIONS_VERSION = 2

MakeFrame = Callable[[str], bytes]
"""Makes a request for a topic with one partition."""


def small_produce(name: str) -> bytes:
    """A request with one message of 100 bytes, acknowledged by the leader."""
    return produce_batch_frame(name, batch_of_payloads(100, batch_bytes=109)[0])


def small_produce_to_all(name: str) -> bytes:
    """The same with acks all."""
    return produce_batch_frame(name, batch_of_payloads(100, batch_bytes=109)[0], acks=-1)


def api_versions(_name: str) -> bytes:
    """The cheapest request for a broker."""
    return frame_of(ApiVersionsRequest(), _API_VERSIONS_VERSION)


@dataclass(frozen=True)
class PrebuiltProduce:
    """Produce the same batch of 100-byte messages repeatedly, with five requests in flight."""

    batch: str
    batch_bytes: int
    messages: int
    goals: Mapping[str, Goal]

    @property
    def name(self) -> str:
        return f"100 B, {self.batch}, {IN_FLIGHT} in flight"

    def run(self, broker: Broker) -> Sample:
        batch, count = batch_of_payloads(100, batch_bytes=self.batch_bytes)
        requests = max(2, self.messages // count)
        with topic(broker) as name, RawClient(broker.port) as client:
            frame = produce_batch_frame(name, batch)
            warming = max(2, requests // 10)
            client.pipelined(frame, warming - 1, IN_FLIGHT)
            sample = measured(broker, requests * count, lambda: client.pipelined(frame, requests - 1, IN_FLIGHT))
            expect_end(broker, name, (warming + requests) * count)
        return sample


@dataclass(frozen=True)
class RawFetch:
    """Fetch a whole log, one request at a time, and count the bytes."""

    log: FilledLog
    fetch: str
    fetch_bytes: int
    passes: int = 1
    goals: ClassVar[Mapping[str, Goal]] = {MESSAGES: ratio_at_least(0.95), CPU: ratio_at_most(0.6)}

    @property
    def name(self) -> str:
        return f"raw fetches of {self.fetch}, {self.log}"

    def run(self, broker: Broker) -> Sample:
        name = self.log.topic(broker)
        frames = self.log.fetches(name, self.fetch_bytes)
        with RawClient(broker.port) as client:
            return measured(broker, self.log.messages * self.passes, lambda: self._fetch(client, frames))

    def _fetch(self, client: RawClient, frames: Sequence[bytes]) -> None:
        for _ in range(self.passes):
            got = sum(client.exchange(frame) for frame in frames)
            if got < self.log.batches * len(self.log.batch[0]):
                raise RuntimeError(f"the broker sent {got} bytes of {self.log.batches} batches")


@dataclass(frozen=True)
class OneInFlight:
    """One request at a time: the latency of the broker itself."""

    what: str
    frame: MakeFrame
    requests: int
    goals: ClassVar[Mapping[str, Goal]] = {P50: ratio_at_most(1.0), P99: ratio_at_most(1.0)}

    @property
    def name(self) -> str:
        return f"raw, {self.what}"

    def run(self, broker: Broker) -> Sample:
        with topic(broker) as name, RawClient(broker.port) as client:
            frame = self.frame(name)
            client.one_in_flight(frame, 100)
            times_ms: list[float] = []
            run = measured(
                broker, self.requests, lambda: times_ms.extend(client.one_in_flight(frame, self.requests)), REQUESTS
            )
        return percentiles(times_ms) | cpu_of(run)


@dataclass(frozen=True)
class Requests:
    """Requests over ``connections`` connections with one in flight on each, or ``in_flight`` on a single one."""

    what: str
    frame: MakeFrame
    requests: int
    connections: int = 1
    in_flight: int = 1

    @property
    def name(self) -> str:
        if self.in_flight > 1:
            return f"{self.what}, {self.in_flight} in flight on one connection"
        return f"{self.what}, {self.connections} connection{'s' * (self.connections > 1)}"

    @property
    def goals(self) -> Mapping[str, Goal]:
        return {REQUESTS: ratio_at_least(2.0 if self.in_flight > 1 else 1.0)}

    def run(self, broker: Broker) -> Sample:
        with topic(broker) as name:
            frame = self.frame(name)
            self._send(broker, frame, max(100, self.requests // 10))
            return measured(broker, self.requests, lambda: self._send(broker, frame, self.requests), REQUESTS)

    def _send(self, broker: Broker, frame: bytes, requests: int) -> None:
        if self.connections > 1:
            many_connections(broker.port, frame, max(requests, self.connections), self.connections)
            return
        with RawClient(broker.port) as client:
            if self.in_flight > 1:
                client.pipelined(frame, requests, self.in_flight)
            else:
                client.one_in_flight(frame, requests)


@dataclass(frozen=True)
class BesideIdleConnections:
    """Produce, 16 KB at a time, without and with a thousand idle connections."""

    requests: int
    pairs: int = 3
    name: str = f"{IDLE_CONNECTIONS:,} idle connections"
    goals: Mapping[str, Goal] = field(default_factory=lambda: {SHARE: value_at_least(0.9)})

    def run(self, broker: Broker) -> Sample:
        batch, count = batch_of_payloads(100)
        with topic(broker) as name, RawClient(broker.port) as client:
            frame, messages = produce_batch_frame(name, batch), self.requests * count

            def produce() -> Sample:
                return measured(broker, messages, lambda: client.pipelined(frame, self.requests - 1, IN_FLIGHT))

            produce()
            pairs = []
            for _ in range(self.pairs):
                without = produce()
                with contextlib.ExitStack() as stack:
                    for _ in range(IDLE_CONNECTIONS):
                        stack.enter_context(socket.create_connection((HOST, broker.port)))
                    pairs.append((without, produce()))
        return shares(pairs)


@dataclass(frozen=True)
class ManyPartitions:
    """Produce, 16 KB at a time, to one partition, then to a thousand partitions in turn."""

    requests: int
    pairs: int = 3
    partitions: int = PARTITIONS
    goals: Mapping[str, Goal] = field(default_factory=lambda: {SHARE: value_at_least(0.9)})

    @property
    def name(self) -> str:
        return f"{self.partitions:,} partitions"

    def run(self, broker: Broker) -> Sample:
        batch, count = batch_of_payloads(100)
        rounds = max(1, self.requests // self.partitions)
        requests = rounds * self.partitions

        def produce(frames: Sequence[bytes], times: int) -> Sample:
            return measured(broker, requests * count, lambda: _in_turn(broker, frames, times))

        with topic(broker) as name:
            frames = [produce_batch_frame(name, batch)] * self.partitions
            produce(frames, 1)
            without = [produce(frames, rounds) for _ in range(self.pairs)]
        with topic(broker, self.partitions) as name:
            frames = [produce_batch_frame(name, batch, partition=index) for index in range(self.partitions)]
            produce(frames, 1)  # the first message creates the partition's files
            beside = [produce(frames, rounds) for _ in range(self.pairs)]
            expect_end(broker, name, (1 + self.pairs * rounds) * count, partition=self.partitions - 1)
        return shares(list(zip(without, beside, strict=True)))


def _in_turn(broker: Broker, frames: Sequence[bytes], times: int) -> None:
    """Send all frames ``times`` times, several in flight; all responses must have the same size."""

    def endless() -> Iterator[bytes]:
        for _ in range(times):
            yield from frames

    with RawClient(broker.port) as client:
        client.pipelined_each(endless(), IN_FLIGHT)


def shares(pairs: Sequence[tuple[Sample, Sample]]) -> Sample:
    """The throughput and processor time relative to those without: medians of the pairs."""
    return {
        SHARE: statistics.median(beside[MESSAGES] / without[MESSAGES] for without, beside in pairs),
        CPU_SHARE: statistics.median(beside[CPU] / without[CPU] for without, beside in pairs),
        MESSAGES: statistics.median(beside[MESSAGES] for _, beside in pairs),
    }
