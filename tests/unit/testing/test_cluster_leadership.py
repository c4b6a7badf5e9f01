"""Leaders and controllers as ZooKeeper and the brokers have them: neither alone is believed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing import cluster_leadership
from kafka_lite.testing.cluster_leadership import ClusterLeadership, wait_until

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
SOON = 0.0
"""A limit that is over after the first look."""


class Broker:
    def __init__(self, number: int) -> None:
        self.id = number
        self.is_running = True
        self.is_controller = False
        self.led: dict[TopicPartition, int] = {}
        self.known: list[tuple[object, ...]] = []

    def is_active_controller(self) -> bool:
        return self.is_controller

    def leads(self, partition: TopicPartition, leader_epoch: int) -> bool:
        return self.led.get(partition, -1) >= leader_epoch

    def await_brokers(self, brokers: set[int], _timeout_s: float) -> bool:
        self.known.append(tuple(sorted(brokers)))
        return True

    def await_topic(self, topic: str, partitions: int, _timeout_s: float) -> bool:
        self.known.append((topic, partitions))
        return True

    def __repr__(self) -> str:
        return f"broker {self.id}"


class ZooKeeper:
    def __init__(self) -> None:
        self.controller: int | None = None
        self.states: dict[TopicPartition, tuple[int, int, list[int]]] = {}
        self.assigned: dict[TopicPartition, list[int]] = {P0: [0, 1, 2], P1: [1, 2, 0]}

    def controller_id(self) -> int | None:
        return self.controller

    def partition_state(self, partition: TopicPartition) -> Any:
        if partition not in self.states:
            return None
        leader, epoch, isr = self.states[partition]
        return SimpleNamespace(leader_and_isr=SimpleNamespace(leader=leader, leader_epoch=epoch, isr=isr))

    def replicas(self, partition: TopicPartition) -> list[int]:
        return self.assigned.get(partition, [])

    def partitions(self) -> dict[TopicPartition, list[int]]:
        return self.assigned


@pytest.fixture
def brokers() -> list[Broker]:
    return [Broker(number) for number in range(3)]


@pytest.fixture
def zookeeper() -> ZooKeeper:
    return ZooKeeper()


@pytest.fixture
def leadership(brokers: list[Broker], zookeeper: ZooKeeper, monkeypatch: pytest.MonkeyPatch) -> ClusterLeadership[Any]:
    monkeypatch.setattr(cluster_leadership, "POLL_S", 0.001)
    anything: Any = (brokers, zookeeper)
    return ClusterLeadership(*anything)


def test_a_controller_is_registered_and_active(
    leadership: ClusterLeadership[Any], brokers: list[Broker], zookeeper: ZooKeeper
) -> None:
    brokers[2].is_controller = True
    with pytest.raises(TimeoutError, match="no broker is the controller after 0 s"):
        leadership.controller(None, SOON)
    zookeeper.controller = 1
    with pytest.raises(TimeoutError):
        leadership.controller(None, SOON)
    zookeeper.controller = 2
    assert leadership.controller(None, SOON) is brokers[2]
    with pytest.raises(TimeoutError):
        leadership.controller(brokers[2], SOON)
    brokers[2].is_running = False
    with pytest.raises(TimeoutError):
        leadership.controller(None, SOON)


def test_a_leader_knows_the_epoch_that_zookeeper_has(
    leadership: ClusterLeadership[Any], brokers: list[Broker], zookeeper: ZooKeeper
) -> None:
    zookeeper.states[P0] = (1, 5, [1])
    brokers[1].led[P0] = 4
    with pytest.raises(TimeoutError, match="orders-0 has no leader: "):
        leadership.leader(P0, None, SOON)
    brokers[1].led[P0] = 5
    assert leadership.leader(P0, None, SOON) is brokers[1]
    leadership.await_leader(P0, brokers[1], SOON)  # type: ignore[arg-type]
    with pytest.raises(TimeoutError, match="orders-0 has no leader other than broker 1"):
        leadership.leader(P0, brokers[1], SOON)
    with pytest.raises(TimeoutError, match="broker 0 does not lead orders-0"):
        leadership.await_leader(P0, brokers[0], SOON)
    brokers[1].is_running = False
    with pytest.raises(TimeoutError):
        leadership.leader(P0, None, SOON)


@pytest.mark.parametrize(
    ("partition", "complaint"),
    [
        (TopicPartition("orders", 2), r"there is no partition orders-2: the topic has 2, numbered from 0"),
        (TopicPartition("order", 0), r"does not exist; create_topic\('order'\) makes it. The topics are orders"),
    ],
)
def test_a_partition_that_is_not_there_is_said_with_what_is(
    leadership: ClusterLeadership[Any], zookeeper: ZooKeeper, partition: TopicPartition, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        leadership.check_exists(partition)
    leadership.check_exists(P1)
    zookeeper.assigned = {}
    with pytest.raises(ValueError, match="The topics are none at all"):
        leadership.check_exists(P1)


def test_an_isr_is_waited_for_by_default_with_all_replicas(
    leadership: ClusterLeadership[Any], zookeeper: ZooKeeper
) -> None:
    assert leadership.isr(P0) == set()
    zookeeper.states[P0] = (1, 5, [1, 2])
    with pytest.raises(TimeoutError, match=r"the ISR of orders-0 is \[1, 2\], not \[0, 1, 2\]"):
        leadership.await_isr(P0, None, SOON)
    leadership.await_isr(P0, {2, 1}, SOON)
    with pytest.raises(TimeoutError):
        leadership.await_isr(P0, {1}, SOON)


def test_the_preferred_replica_comes_first_and_the_others_keep_their_order(
    leadership: ClusterLeadership[Any], brokers: list[Broker], zookeeper: ZooKeeper
) -> None:
    assert leadership.order_with_preferred(P1, brokers[0]) == [0, 1, 2]
    assert leadership.order_with_preferred(P1, brokers[1]) == [1, 2, 0]
    zookeeper.assigned[P1] = [1, 2]
    with pytest.raises(ValueError, match=r"broker 0 has no replica of orders-1: \[1, 2\]"):
        leadership.order_with_preferred(P1, brokers[0])
    with pytest.raises(TimeoutError, match=r"orders-1 has the replicas \[1, 2\], not \[2, 1\]"):
        leadership.await_replicas(P1, [2, 1], SOON)
    leadership.await_replicas(P1, [1, 2], SOON)


def test_brokers_that_are_down_are_neither_asked_nor_expected(
    leadership: ClusterLeadership[Any], brokers: list[Broker], zookeeper: ZooKeeper
) -> None:
    brokers[1].is_running = False
    leadership.await_acquaintance()
    brokers[2].is_controller, zookeeper.controller = True, 2
    leadership.await_brokers()
    assert [broker.known for broker in brokers] == [[(0, 2)], [], [(0, 2), (0, 2)]]


def test_a_new_topic_is_led_and_known_by_all_that_run(
    leadership: ClusterLeadership[Any], brokers: list[Broker], zookeeper: ZooKeeper
) -> None:
    brokers[0].is_running = False
    zookeeper.states = {P0: (1, 0, [1]), P1: (2, 0, [2])}
    brokers[1].led = {P0: 0}
    with pytest.raises(TimeoutError, match="orders-1 has no leader"):
        leadership.await_topic("orders", 2, SOON)
    brokers[2].led = {P1: 0}
    leadership.await_topic("orders", 2, SOON)
    assert [broker.known for broker in brokers] == [[], [("orders", 2)], [("orders", 2)]]


def test_what_is_waited_for_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_leadership, "POLL_S", 0.0)
    answers = iter([None, 0, "", "found"])
    assert wait_until(lambda: next(answers), lambda: "nothing", 30) == "found"
