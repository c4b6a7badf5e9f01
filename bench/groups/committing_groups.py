"""A thousand groups, each of which commits once a second: the cost to the broker and the latency of a commit."""

from __future__ import annotations

import contextlib
import selectors
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import ClassVar

from bench.brokers import Broker
from bench.group_requests import commit_frame, join, leave
from bench.measure import CPU, Goal, Sample, cpu_of, measured, percentiles, ratio_at_most, topic
from bench.raw_client import RawClient
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.server.broker_process import HOST

GROUPS = 1000
WARM_UP = 10_000
_ANSWER_BYTES = 4096
_IN_FLIGHT = 16


@dataclass(frozen=True)
class CommittingGroups:
    """Each group has its own member and connection, and commits once per second."""

    seconds: int
    warm_up: int
    groups: int = GROUPS
    goals: ClassVar[Mapping[str, Goal]] = {CPU: ratio_at_most(2.0)}

    @property
    def name(self) -> str:
        return f"{self.groups:,} groups that commit once a second each"

    def run(self, broker: Broker) -> Sample:
        with topic(broker) as name, self._stable_groups(broker, name) as frames, contextlib.ExitStack() as stack:
            with RawClient(broker.port) as client:
                client.pipelined_each(islice(cycle(frames), self.warm_up), _IN_FLIGHT)
            clients = [stack.enter_context(RawClient(broker.port, _ANSWER_BYTES)) for _ in frames]
            times_ms: list[float] = []
            commits = self.groups * self.seconds
            run = measured(broker, commits, lambda: times_ms.extend(paced(clients, frames, self.seconds)))
        return percentiles(times_ms) | cpu_of(run)

    @contextlib.contextmanager
    def _stable_groups(self, broker: Broker, name: str) -> Iterator[list[bytes]]:
        """Yield the commit request of each group's only member."""
        with BlockingChannel(HOST, broker.port) as channel:
            members = {group: join(channel, group) for group in (f"{name}-{each:04}" for each in range(self.groups))}
            yield [commit_frame(name, group, *member) for group, member in members.items()]
            for group, (member_id, _) in members.items():
                leave(channel, group, member_id)


def paced(clients: Sequence[RawClient], frames: Sequence[bytes], seconds: int) -> list[float]:
    """Send each client's frame once a second, evenly spread; returns the latency of each in ms.

    Raises RuntimeError if a response ends with an error code or does not arrive within a second.
    """
    every_s, count = 1 / len(clients), len(clients) * seconds
    sent_at: dict[RawClient, float] = {}
    times_ms: list[float] = []
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client.sock, selectors.EVENT_READ, client)
        began, sent = time.perf_counter(), 0
        while sent < count or sent_at:
            now = time.perf_counter()
            while sent < count and began + sent * every_s <= now:
                client = clients[sent % len(clients)]
                if client in sent_at:
                    raise RuntimeError("no response to a commit within a second")
                sent_at[client] = time.perf_counter()
                client.sock.sendall(frames[sent % len(clients)])
                sent += 1
            wait_s = began + sent * every_s - time.perf_counter() if sent < count else 1.0
            for key, _ in selector.select(max(0.0, wait_s)):
                client = key.data
                size = client.receive()
                times_ms.append((time.perf_counter() - sent_at.pop(client)) * 1e3)
                if error := int.from_bytes(client.buffer[size - 2 : size], "big", signed=True):
                    raise RuntimeError(f"a commit failed with error {error}")
    return times_ms
