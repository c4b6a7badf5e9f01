"""A thousand members of one group of KIP-848: the broker's cost of a heartbeat, and how long fifty take to join.

``python -m bench.groups.modern_members --kafka`` measures Kafka 4.1 as well, in the same run. All members share one
connection, so that the requests are measured and not the sockets. A member is only its frames: a full request to join,
heartbeats that say what it owns until it has its assignment, then those that say nothing new.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from rich.console import Console
from rich.table import Table

from bench.brokers import Broker, KafkaLite, real_kafka
from bench.measure import CPU, measured, topic
from bench.raw_client import TIMEOUT_S, RawClient, frame_of
from kafka_lite.common.errors import Errors
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from kafka_lite.server.broker_process import HOST

VERSION = 1
REBALANCE_TIMEOUT_MS = 300_000
MEMBERS, JOINING, PARTITIONS = 1000, 50, 100
ROUNDS = 10
IN_FLIGHT = 16
KAFKA = "4.1.0"
_RETRY_S = 0.05
_RETRIABLE = frozenset(
    error.code
    for error in (Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.COORDINATOR_NOT_AVAILABLE, Errors.NOT_COORDINATOR)
)
_SETTINGS = {"group.consumer.max.size": "2000"}


@dataclass
class Member:
    """One member, its epoch and what it owns."""

    group_id: str
    member_id: str
    epoch: int = 0
    owned: dict[UUID, list[int]] = field(default_factory=dict)

    def heartbeat(self) -> bytes:
        """The frame that only says that the member is alive."""
        return frame_of(self._request(), VERSION)

    def join(self, channel: BlockingChannel, topic_name: str) -> None:
        """Join the group. Raises TimeoutError without a coordinator, RuntimeError for another error."""
        self._exchange(
            channel,
            self._request(
                rebalance_timeout_ms=REBALANCE_TIMEOUT_MS, subscribed_topic_names=[topic_name], topic_partitions=[]
            ),
        )

    def step(self, channel: BlockingChannel) -> bool:
        """Say what the member owns, and take what it is given; returns whether anything has changed."""
        before = (self.epoch, self.owned)
        owned = [TopicPartitions(topic_id=each, partitions=numbers) for each, numbers in self.owned.items()]
        self._exchange(channel, self._request(topic_partitions=owned))
        return (self.epoch, self.owned) != before

    def _request(self, **fields: object) -> ConsumerGroupHeartbeatRequest:
        said = {"group_id": self.group_id, "member_id": self.member_id, "member_epoch": self.epoch, **fields}
        return ConsumerGroupHeartbeatRequest(**said)  # type: ignore[arg-type]

    def _exchange(self, channel: BlockingChannel, request: ConsumerGroupHeartbeatRequest) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            response = channel.exchange(request, VERSION)
            assert isinstance(response, ConsumerGroupHeartbeatResponse)
            if response.error_code not in _RETRIABLE:
                break
            channel.exchange(FindCoordinatorRequest(key=self.group_id), 1)  # which creates the topic of offsets
            time.sleep(_RETRY_S)
        else:
            raise TimeoutError(f"no coordinator for {self.group_id}")
        if response.error_code:
            raise RuntimeError(f"{Errors.for_code(response.error_code).name}: {response.error_message}")
        self.epoch = response.member_epoch
        if response.assignment is not None:
            self.owned = {each.topic_id: each.partitions for each in response.assignment.topic_partitions}


def settle(channel: BlockingChannel, members: Iterable[Member]) -> None:
    """Heartbeat until no member has a step to take."""
    moving = list(members)
    while moving:
        moving = [member for member in moving if member.step(channel)]


def measure(broker: Broker) -> dict[str, float]:
    """Figures of one group on a running broker, after a warm-up."""
    with topic(broker, PARTITIONS) as name, BlockingChannel(HOST, broker.port) as channel:
        members = [Member(name, f"member-{number:04}") for number in range(MEMBERS)]
        joined = measured(broker, MEMBERS, lambda: [member.join(channel, name) for member in members])
        settle(channel, members)
        frames = [member.heartbeat() for member in members]
        with RawClient(broker.port) as client:
            client.pipelined_each(frames * (ROUNDS // 2), IN_FLIGHT)
            steady = measured(broker, MEMBERS * ROUNDS, lambda: client.pipelined_each(frames * ROUNDS, IN_FLIGHT))
            one_by_one = measured(broker, MEMBERS * 3, lambda: [client.exchange(each) for each in frames * 3])
        few = [Member(f"{name}-few", f"member-{number:04}") for number in range(JOINING)]
        began = time.perf_counter()
        for member in few:
            member.join(channel, name)
        settle(channel, few)
        return {
            f"join of {MEMBERS:,} members, CPU µs each": joined[CPU],
            f"heartbeat, {IN_FLIGHT} in flight, CPU µs": steady[CPU],
            "heartbeat, one in flight, CPU µs": one_by_one[CPU],
            f"{JOINING} members join and settle, ms": (time.perf_counter() - began) * 1000,
        }


def candidates(folder: Path, *, with_kafka: bool) -> Sequence[Broker]:
    """The brokers to measure."""
    brokers: list[Broker] = [KafkaLite(folder / "kafka_lite", _SETTINGS)]
    if with_kafka:
        brokers.append(real_kafka(KAFKA).make(folder / "kafka", _SETTINGS))
    return brokers


def main() -> None:
    """Measure and print a table of medians."""
    parser = argparse.ArgumentParser(prog="python -m bench.groups.modern_members", description=(__doc__ or "")[:100])
    parser.add_argument("--kafka", action="store_true", help=f"also measure Apache Kafka {KAFKA}")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, after one that warms up (default: 3)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kafka-lite-bench-") as folder, contextlib.ExitStack() as stack:
        brokers = [stack.enter_context(each) for each in candidates(Path(folder), with_kafka=options.kafka)]
        found: dict[str, list[dict[str, float]]] = {broker.name: [] for broker in brokers}
        for _ in range(options.rounds + 1):
            for broker in brokers:
                found[broker.name].append(measure(broker))
    table = Table(title=f"a group of KIP-848 with {MEMBERS:,} members, {PARTITIONS} partitions")
    table.add_column("")
    for name in found:
        table.add_column(name, justify="right")
    for figure in next(iter(found.values()))[0]:
        medians = (statistics.median(sample[figure] for sample in samples[1:]) for samples in found.values())
        table.add_row(figure, *(f"{median:,.0f}" for median in medians))
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
