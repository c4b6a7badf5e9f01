"""A controller dies in the middle of each of its writes; the next one leads the cluster to where it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper.admin_requests import AdminRequests
from kafka_lite.zookeeper.data import TopicAssignment
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.brokers import TP, Brokers, three_brokers
from tests.support.dies_at_write import DiesAtWrite
from tests.support.eventually import eventually


@pytest.fixture
def brokers(tmp_path: Path) -> Iterator[Brokers]:
    with three_brokers(tmp_path, auto_leader_rebalance_enable=False) as brokers:
        yield brokers


@pytest.fixture
def zk(brokers: Brokers) -> Iterator[KafkaZkClient]:
    client = KafkaZkClient(brokers.zookeeper.connect_string)
    client.start()
    yield client
    client.close()


def create(zk: KafkaZkClient, *partitions: list[int]) -> None:
    zk.set_entity_config("topics/orders", {})
    zk.create_topic_assignment("orders", TopicAssignment(dict(enumerate(partitions))))


def leads(brokers: Brokers, zk: KafkaZkClient, partitions: int) -> bool:
    """Whether each partition has one leader, which knows of it, and all live replicas are in sync."""
    assignment = zk.get_topic_assignment("orders")
    if assignment is None or len(assignment.partitions) != partitions:
        return False
    for number, replicas in assignment.partitions.items():
        partition = TopicPartition("orders", number)
        state, leaders = zk.get_partition_state(partition), brokers.leaders(partition)
        live = set(replicas) & brokers.servers.keys()
        if state is None or leaders != [state.leader_and_isr.leader] or set(state.leader_and_isr.isr) != live:
            return False
    return True


def is_gone(brokers: Brokers, zk: KafkaZkClient) -> bool:
    return (
        not zk.topic_exists("orders")
        and not zk.get_topics_marked_for_deletion()
        and "orders" not in zk.get_entities("topics")
        and all(server.log_manager.get_log(TP) is None for server in brokers.servers.values())
    )


Scene = tuple[Callable[[], object], Callable[[], object], Callable[[], bool]]
"""What is there before, what happens, and whether the cluster is where it should be afterwards."""


def scenes(brokers: Brokers, zk: KafkaZkClient, first: int, second: int, dying: int) -> dict[str, Scene]:
    def wait_for(partitions: int) -> None:
        eventually(lambda: leads(brokers, zk, partitions))

    def with_topic(*partitions: list[int]) -> Callable[[], None]:
        return lambda: (create(zk, *partitions), wait_for(len(partitions)))[1]

    return {
        "creation": (
            lambda: None,
            lambda: create(zk, [first, dying], [second, first]),
            lambda: leads(brokers, zk, 2),
        ),
        "addition": (
            with_topic([first, second]),
            lambda: zk.change_topic_assignment(
                "orders", lambda found: TopicAssignment({**found.partitions, 1: [second, first], 2: [first, dying]})
            ),
            lambda: leads(brokers, zk, 3),
        ),
        "deletion": (
            with_topic([first, second], [second, first]),
            lambda: zk.create_delete_topic("orders"),
            lambda: is_gone(brokers, zk),
        ),
        "failure of a leader": (
            with_topic([first, second, dying], [second, first], [dying, first, second]),
            lambda: brokers.kill(first),
            lambda: leads(brokers, zk, 3),
        ),
        "preferred election": (
            lambda: (with_topic([first, second])(), brokers.stop(first), brokers.start(first), wait_for(1)),
            lambda: AdminRequests(zk.zookeeper).create_preferred_replica_election([TP]),
            lambda: (
                leads(brokers, zk, 1)
                and brokers.leaders() == [first]
                and AdminRequests(zk.zookeeper).get_preferred_replica_election() is None
            ),
        ),
    }


WRITES = {"creation": 1, "addition": 1, "deletion": 6, "failure of a leader": 2, "preferred election": 2}
"""How many writes the controller makes in each."""
CASES = [
    (scene, number, after) for scene in WRITES for number in range(1, WRITES[scene] + 1) for after in (False, True)
]
QUICK = [("creation", 1, 1), ("deletion", 4, 0), ("failure of a leader", 2, 1)]


@pytest.mark.parametrize(
    ("scene", "number", "after"),
    [*QUICK, *(pytest.param(*case, marks=pytest.mark.soak) for case in CASES if case not in QUICK)],
)
def test_the_next_controller_completes_what_one_left_that_dies_at_a_write(
    brokers: Brokers, zk: KafkaZkClient, scene: str, number: int, after: int
) -> None:
    dying = brokers.controller
    first, second = (each for each in range(3) if each != dying)
    prepare, act, is_done = scenes(brokers, zk, first, second, dying)[scene]
    prepare()
    death = DiesAtWrite(brokers.servers[dying], number, after=bool(after))
    act()
    # Not "or until it is done": ZooKeeper has a last write before the controller dies at it.
    eventually(lambda: death.died_at, "the scene has fewer writes than WRITES says")
    brokers.kill(dying)
    assert brokers.controller != dying
    eventually(
        is_done,
        lambda: (death.died_at, zk.get_topic_assignment("orders"), zk.get_partition_state(TP), brokers.leaders()),
    )
