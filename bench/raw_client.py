"""A client that costs almost nothing, to measure the broker's cost of a request.

Requests are encoded once and sent repeatedly over plain sockets; responses are counted, not decoded. So the broker is
the bottleneck, and its processor time per request is measured to the microsecond.
"""

from __future__ import annotations

import contextlib
import itertools
import selectors
import socket
import statistics
import struct
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bench.brokers import Broker
from bench.measure import topic
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_lite.protocol.schema import Request
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder

_INT32 = struct.Struct(">i")
_READ_BYTES = 1 << 20
TIMEOUT_S = 60.0
CLIENT_ID = "bench"
PRODUCE_VERSION, FETCH_VERSION, LIST_OFFSETS_VERSION = 7, 11, 5
"""Versions that both brokers serve and whose responses have a fixed size."""


class RawClient:
    """A blocking connection that sends prebuilt frames and discards the responses."""

    def __init__(self, port: int, buffer_bytes: int = _READ_BYTES) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = memoryview(bytearray(buffer_bytes))
        """The last response, from its beginning."""

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def exchange(self, frame: bytes) -> int:
        """Send one request and wait for its response; returns the response's size including the prefix."""
        self.sock.sendall(frame)
        return self.receive()

    def receive(self) -> int:
        """Wait for one response; returns its size including the prefix. Large ones do not fit into the buffer."""
        got = self._read()
        while got < _INT32.size:
            got += self._read(got)
        size = _INT32.size + int(_INT32.unpack_from(self.buffer)[0])
        while got < size:
            got += self._read(got if size <= len(self.buffer) else 0)
        return size

    def one_in_flight(self, frame: bytes, count: int) -> list[float]:
        """Send ``count`` requests, each after the previous response; returns the latency of each in ms."""
        times_ms = []
        for _ in range(count):
            began = time.perf_counter_ns()
            self.exchange(frame)
            times_ms.append((time.perf_counter_ns() - began) / 1e6)
        return times_ms

    def pipelined(self, frame: bytes, count: int, in_flight: int) -> None:
        """Send one request to learn the response's size, then ``count`` requests, ``in_flight`` at a time.

        All responses must have the same size.
        """
        self.pipelined_each(itertools.repeat(frame, count + 1), in_flight)

    def pipelined_each(self, frames: Iterable[bytes], in_flight: int) -> None:
        """Send requests whose responses have the same size: the first alone, then ``in_flight`` at a time."""
        rest = iter(frames)
        response_bytes = self.exchange(next(rest))
        unanswered = extra_bytes = 0
        while True:
            begun = list(itertools.islice(rest, in_flight - unanswered))
            if begun:
                self.sock.sendall(b"".join(begun))
                unanswered += len(begun)
            elif not unanswered:
                return
            complete, extra_bytes = divmod(extra_bytes + self._read(), response_bytes)
            unanswered -= complete

    def _read(self, at: int = 0) -> int:
        count = self.sock.recv_into(self.buffer[at:])
        if not count:
            raise ConnectionError("the broker closed the connection")
        return count


def many_connections(port: int, frame: bytes, count: int, connections: int) -> None:
    """Send ``count`` requests over several connections, one in flight on each. Responses must have equal sizes."""
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        clients = [stack.enter_context(RawClient(port)) for _ in range(connections)]
        response_bytes = clients[0].exchange(frame)
        left = dict.fromkeys(clients, count // connections)
        for client in clients:
            selector.register(client.sock, selectors.EVENT_READ, client)
            client.sock.sendall(frame)
        received = dict.fromkeys(clients, 0)
        while left:
            for key, _ in selector.select(TIMEOUT_S):
                client = key.data
                received[client] += client._read()
                if received[client] < response_bytes:
                    continue
                received[client] = 0
                left[client] -= 1
                if left[client]:
                    client.sock.sendall(frame)
                else:
                    del left[client]
                    selector.unregister(client.sock)


# ── Requests ────────────────────────────────────────────────────────────────────────────────────────────────────────


def frame_of(request: Request, version: int) -> bytes:
    """A request as sent over the wire, with its size prefix."""
    body = encode_request(request, version, 1, CLIENT_ID)
    return _INT32.pack(len(body)) + body


def batch_of(records: int, size: int = 100) -> bytes:
    """A record batch of ``records`` records with values of ``size`` bytes."""
    builder = MemoryRecordsBuilder(2, CompressionType.NONE)
    now_ms = time.time_ns() // 1_000_000
    for index in range(records):
        builder.append(now_ms + index // 10, None, (b"%09d " % (index * 7919) * (size // 10 + 1))[:size])
    return bytes(builder.build())


def produce_frame(topic_name: str, records: int, acks: int = 1, size: int = 100) -> bytes:
    """A produce request with one batch for partition 0."""
    return produce_batch_frame(topic_name, batch_of(records, size), acks)


def produce_batch_frame(topic_name: str, batch: bytes, acks: int = 1, partition: int = 0) -> bytes:
    """A produce request with a prebuilt batch."""
    data = PartitionProduceData(index=partition, records=batch)
    request = ProduceRequest(
        acks=acks, timeout_ms=30_000, topic_data=[TopicProduceData(name=topic_name, partition_data=[data])]
    )
    return frame_of(request, PRODUCE_VERSION)


def fetch_frame(topic_name: str, max_bytes: int, offset: int = 0) -> bytes:
    """A fetch of partition 0 from ``offset``, without a session."""
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=max_bytes,
        session_epoch=-1,
        topics=[FetchTopic(topic=topic_name, partitions=[asked])],
    )
    return frame_of(request, FETCH_VERSION)


def list_offsets_frame(topic_name: str) -> bytes:
    """A small request: the end offset of partition 0."""
    asked = ListOffsetsPartition(partition_index=0, timestamp=-1)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic_name, partitions=[asked])])
    return frame_of(request, LIST_OFFSETS_VERSION)


# ── Measurements ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class RequestCost:
    """The cost of a request."""

    requests_per_s: float
    broker_cpu_us: float
    """Processor time of the broker per request."""
    p50_ms: float | None = None
    p99_ms: float | None = None


@dataclass(frozen=True)
class RawWorkload:
    """``count`` requests to a topic with one partition; ``run`` may return their latencies in ms."""

    name: str
    count: int
    run: Callable[[int, str, int], Sequence[float] | None]
    """Called with the broker's port, the topic's name and the number of requests."""
    idle_connections: int = 0
    """Number of additional open connections over which nothing is sent."""

    def measure(self, broker: Broker) -> RequestCost:
        """Run a tenth of the requests to warm up, then all of them."""
        with topic(broker) as name, contextlib.ExitStack() as stack:
            for _ in range(self.idle_connections):
                stack.enter_context(RawClient(broker.port))
            self.run(broker.port, name, max(self.count // 10, 200))
            cpu_before, began = broker.cpu_s(), time.perf_counter()
            times_ms = self.run(broker.port, name, self.count)
            took_s = time.perf_counter() - began
            cpu_us = (broker.cpu_s() - cpu_before) / self.count * 1e6
        if times_ms is None:
            return RequestCost(self.count / took_s, cpu_us)
        percentiles = statistics.quantiles(times_ms, n=100)
        return RequestCost(self.count / took_s, cpu_us, percentiles[49], percentiles[98])
