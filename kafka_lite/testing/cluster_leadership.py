"""Who leads what in a test cluster, and waiting until that has changed.

Kafka 0.10.2: core/src/test/.../utils/TestUtils.scala (waitUntilLeaderIsElectedOrChanged) · book 7.1
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.cluster_broker import ClusterBroker
from kafka_lite.testing.cluster_zookeeper import ClusterZooKeeper

TIMEOUT_S = 30.0
POLL_S = 0.01
KNOWN_S = 10.0
"""How long a new topic waits for the controller to hear of a broker."""
T = TypeVar("T")


class ClusterLeadership:
    """Compares what ZooKeeper says with what the running brokers do."""

    def __init__(self, brokers: Sequence[ClusterBroker], zookeeper: ClusterZooKeeper) -> None:
        self._brokers = brokers
        self._zookeeper = zookeeper

    def controller(self, other_than: ClusterBroker | None, timeout_s: float) -> ClusterBroker:
        """The broker that is registered as the controller and active. Raises TimeoutError."""

        def active() -> ClusterBroker | None:
            broker = self._running(self._zookeeper.controller_id())
            return broker if broker is not None and broker.server.controller.is_active else None

        return wait_until(lambda: _unless(other_than, active()), lambda: "no broker is the controller", timeout_s)

    def leader(self, partition: TopicPartition, other_than: ClusterBroker | None, timeout_s: float) -> ClusterBroker:
        """The broker that leads a partition according to ZooKeeper and to itself. Raises TimeoutError."""
        return wait_until(
            lambda: _unless(other_than, self._leader(partition)),
            lambda: self._why_no_leader(partition, other_than),
            timeout_s,
        )

    def _why_no_leader(self, partition: TopicPartition, other_than: ClusterBroker | None) -> str:
        if not self._zookeeper.replicas(partition):
            return f"there is no partition {partition}"
        other = f" other than {other_than}" if other_than else ""
        return f"{partition} has no leader{other}: {self._zookeeper.partition_state(partition)}"

    def await_leader(self, partition: TopicPartition, expected: ClusterBroker, timeout_s: float) -> None:
        """Wait until a broker leads a partition. Raises TimeoutError."""
        wait_until(
            lambda: self._leader(partition) is expected,
            lambda: f"{expected} does not lead {partition}: {self._zookeeper.partition_state(partition)}",
            timeout_s,
        )

    def _leader(self, partition: TopicPartition) -> ClusterBroker | None:
        state = self._zookeeper.partition_state(partition)
        broker = None if state is None else self._running(state.leader_and_isr.leader)
        if state is None or broker is None:
            return None
        local = broker.server.replica_manager.get_partition(partition)
        if local is None or local.leader_replica_if_local is None:
            return None
        return broker if local.leader_epoch >= state.leader_and_isr.leader_epoch else None

    def _running(self, broker_id: int | None) -> ClusterBroker | None:
        return next((broker for broker in self._brokers if broker.id == broker_id and broker.is_running), None)

    def isr(self, partition: TopicPartition) -> set[int]:
        """The ids in the ISR according to ZooKeeper; empty if the partition has never had a leader."""
        state = self._zookeeper.partition_state(partition)
        return set() if state is None else set(state.leader_and_isr.isr)

    def await_isr(
        self, partition: TopicPartition, expected: Iterable[ClusterBroker | int] | None, timeout_s: float
    ) -> None:
        """Wait until the ISR has exactly these brokers, by default all replicas.

        Raises TimeoutError, and ValueError if it is to have all replicas and there is no such partition.
        """
        wanted = set(self._zookeeper.replicas(partition)) if expected is None else set(map(_id, expected))
        if expected is None and not wanted:
            raise ValueError(f"there is no partition {partition}")
        wait_until(
            lambda: self.isr(partition) == wanted,
            lambda: f"the ISR of {partition} is {sorted(self.isr(partition))}, and not {sorted(wanted)}",
            timeout_s,
        )

    def order_with_preferred(self, partition: TopicPartition, preferred: ClusterBroker) -> list[int]:
        """The replicas of a partition with another preferred leader. Raises ValueError if it is none of them."""
        replicas = self._zookeeper.replicas(partition)
        if preferred.id not in replicas:
            raise ValueError(f"{preferred} has no replica of {partition}: {replicas}")
        return [preferred.id, *(replica for replica in replicas if replica != preferred.id)]

    def await_replicas(self, partition: TopicPartition, expected: list[int], timeout_s: float) -> None:
        """Wait until a partition is assigned to these brokers, in this order. Raises TimeoutError."""
        wait_until(
            lambda: self._zookeeper.replicas(partition) == expected,
            lambda: f"{partition} has the replicas {self._zookeeper.replicas(partition)}, and not {expected}",
            timeout_s,
        )

    def await_brokers(self, timeout_s: float = KNOWN_S) -> None:
        """Wait until the controller knows every running broker. One that is cut off is waited for in vain."""
        self._await_known_by([self.controller(None, TIMEOUT_S)], timeout_s)

    def await_acquaintance(self, timeout_s: float = KNOWN_S) -> None:
        """Wait until every running broker knows all of them, and with them the topics."""
        self._await_known_by([broker for broker in self._brokers if broker.is_running], timeout_s)

    def _await_known_by(self, brokers: Iterable[ClusterBroker], timeout_s: float) -> None:
        running = {broker.id for broker in self._brokers if broker.is_running}
        for broker in brokers:
            cache = broker.server.metadata_cache
            cache.await_snapshot(lambda known: running <= known.alive_brokers.keys(), timeout_s)

    def await_topic(self, topic: str, partitions: int, timeout_s: float = TIMEOUT_S) -> None:
        """Wait until every partition of a new topic has a leader, and every running broker knows them all."""
        for number in range(partitions):
            self.leader(TopicPartition(topic, number), None, timeout_s)
        for broker in self._brokers:
            if broker.is_running:
                cache = broker.server.metadata_cache
                cache.await_snapshot(lambda known: len(known.partitions.get(topic, ())) >= partitions, timeout_s)


def _unless(excluded: ClusterBroker | None, found: ClusterBroker | None) -> ClusterBroker | None:
    return None if found is excluded else found


def _id(broker: ClusterBroker | int) -> int:
    return broker if isinstance(broker, int) else broker.id


def wait_until(condition: Callable[[], T | None], what: Callable[[], str], timeout_s: float) -> T:
    """Call ``condition`` until it returns something true, and return that. Raises TimeoutError, which says ``what``."""
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what()} after {timeout_s:g} s")
        time.sleep(POLL_S)
    return found
