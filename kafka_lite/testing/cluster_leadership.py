"""The leaders and the controller of a test cluster, and waiting until they change.

Kafka 0.10.2: core/src/test/.../utils/TestUtils.scala (waitUntilLeaderIsElectedOrChanged) · book 7.1
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.any_broker import AnyBroker
from kafka_lite.testing.cluster_zookeeper import ClusterZooKeeper

TIMEOUT_S = 30.0
POLL_S = 0.01
KNOWN_S = 10.0
"""How long a new topic waits for the controller to hear of a broker."""
T = TypeVar("T")
B = TypeVar("B", bound=AnyBroker)


class ClusterLeadership(Generic[B]):
    """Compares what ZooKeeper says with what the running brokers do."""

    def __init__(self, brokers: Sequence[B], zookeeper: ClusterZooKeeper) -> None:
        self._brokers = brokers
        self._zookeeper = zookeeper

    def controller(self, other_than: B | None, timeout_s: float) -> B:
        """The broker that is registered as the controller and active. Raises TimeoutError."""

        def active() -> B | None:
            broker = self._running(self._zookeeper.controller_id())
            return broker if broker is not None and broker.is_active_controller() else None

        return wait_until(lambda: _unless(other_than, active()), lambda: "no broker is the controller", timeout_s)

    def leader(self, partition: TopicPartition, other_than: B | None, timeout_s: float) -> B:
        """The broker that leads a partition according to ZooKeeper and to itself. Raises TimeoutError."""
        return wait_until(
            lambda: _unless(other_than, self._leader(partition)),
            lambda: self._why_no_leader(partition, other_than),
            timeout_s,
        )

    def check_exists(self, partition: TopicPartition) -> None:
        """Raises ValueError, which says what there is, if there is no such partition: waiting would not help."""
        if self._zookeeper.replicas(partition):
            return
        topics: dict[str, int] = {}
        for found in self._zookeeper.partitions():
            topics[found.topic] = topics.get(found.topic, 0) + 1
        if partition.topic in topics:
            why = f"the topic has {topics[partition.topic]}, numbered from 0"
        else:
            there_are = ", ".join(sorted(topics)) or "none at all"
            why = f"the topic does not exist; create_topic({partition.topic!r}) makes it. The topics are {there_are}"
        raise ValueError(f"there is no partition {partition}: {why}")

    def _why_no_leader(self, partition: TopicPartition, other_than: B | None) -> str:
        other = f" other than {other_than}" if other_than else ""
        return f"{partition} has no leader{other}: {self._zookeeper.partition_state(partition)}"

    def await_leader(self, partition: TopicPartition, expected: B, timeout_s: float) -> None:
        """Wait until a broker leads a partition. Raises TimeoutError."""
        wait_until(
            lambda: self._leader(partition) is expected,
            lambda: f"{expected} does not lead {partition}: {self._zookeeper.partition_state(partition)}",
            timeout_s,
        )

    def _leader(self, partition: TopicPartition) -> B | None:
        state = self._zookeeper.partition_state(partition)
        broker = None if state is None else self._running(state.leader_and_isr.leader)
        if state is None or broker is None:
            return None
        return broker if broker.leads(partition, state.leader_and_isr.leader_epoch) else None

    def _running(self, broker_id: int | None) -> B | None:
        return next((broker for broker in self._brokers if broker.id == broker_id and broker.is_running), None)

    def isr(self, partition: TopicPartition) -> set[int]:
        """The ids in the ISR according to ZooKeeper; empty if the partition has never had a leader."""
        state = self._zookeeper.partition_state(partition)
        return set() if state is None else set(state.leader_and_isr.isr)

    def await_isr(self, partition: TopicPartition, expected: set[int] | None, timeout_s: float) -> None:
        """Wait until the ISR has exactly these brokers, by default all replicas. Raises TimeoutError."""
        wanted = set(self._zookeeper.replicas(partition)) if expected is None else expected
        wait_until(
            lambda: self.isr(partition) == wanted,
            lambda: f"the ISR of {partition} is {sorted(self.isr(partition))}, not {sorted(wanted)}",
            timeout_s,
        )

    def order_with_preferred(self, partition: TopicPartition, preferred: B) -> list[int]:
        """The replicas of a partition with another preferred leader. Raises ValueError if it is none of them."""
        replicas = self._zookeeper.replicas(partition)
        if preferred.id not in replicas:
            raise ValueError(f"{preferred} has no replica of {partition}: {replicas}")
        return [preferred.id, *(replica for replica in replicas if replica != preferred.id)]

    def await_replicas(self, partition: TopicPartition, expected: list[int], timeout_s: float) -> None:
        """Wait until a partition is assigned to these brokers, in this order. Raises TimeoutError."""
        wait_until(
            lambda: self._zookeeper.replicas(partition) == expected,
            lambda: f"{partition} has the replicas {self._zookeeper.replicas(partition)}, not {expected}",
            timeout_s,
        )

    def await_brokers(self, timeout_s: float = KNOWN_S) -> None:
        """Wait until the controller knows every running broker. It never learns of one that is cut off."""
        self._await_known_by([self.controller(None, TIMEOUT_S)], timeout_s)

    def await_acquaintance(self, timeout_s: float = KNOWN_S) -> None:
        """Wait until every running broker knows all of them, and with them the topics."""
        self._await_known_by([broker for broker in self._brokers if broker.is_running], timeout_s)

    def _await_known_by(self, brokers: Iterable[B], timeout_s: float) -> None:
        running = {broker.id for broker in self._brokers if broker.is_running}
        for broker in brokers:
            broker.await_brokers(running, timeout_s)

    def await_topic(self, topic: str, partitions: int, timeout_s: float = TIMEOUT_S) -> None:
        """Wait until every partition of a new topic has a leader, and every running broker knows them all."""
        for number in range(partitions):
            self.leader(TopicPartition(topic, number), None, timeout_s)
        for broker in self._brokers:
            if broker.is_running:
                broker.await_topic(topic, partitions, timeout_s)


def _unless(excluded: B | None, found: B | None) -> B | None:
    return None if found is excluded else found


def wait_until(condition: Callable[[], T | None], what: Callable[[], str], timeout_s: float) -> T:
    """Call ``condition`` until it returns something true, and return that. Raises TimeoutError, which says ``what``."""
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what()} after {timeout_s:g} s")
        time.sleep(POLL_S)
    return found
