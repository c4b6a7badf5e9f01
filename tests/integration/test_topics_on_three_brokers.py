"""Topics on several brokers: where replicas are put, deletions that wait, and what ``kafka-lite topics`` shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.kafka_server import KafkaServer
from kafka_lite.tools.main import main
from kafka_lite.zookeeper.data import TopicAssignment
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from tests.support.brokers import TP, Brokers, three_brokers
from tests.support.eventually import eventually


@pytest.fixture
def brokers(tmp_path: Path) -> Iterator[Brokers]:
    with three_brokers(tmp_path, auto_leader_rebalance_enable=False) as brokers:
        yield brokers


@pytest.fixture
def no_brokers(tmp_path: Path) -> Iterator[Brokers]:
    """A ZooKeeper on which a test starts its own brokers."""
    with EmbeddedZooKeeper(tmp_path / "zookeeper", min_session_timeout_ms=500) as zookeeper:
        brokers = Brokers(tmp_path, zookeeper)
        yield brokers
        for broker_id in list(brokers.servers):
            brokers.stop(broker_id)


Topics = Callable[..., list[str]]


@pytest.fixture
def topics(brokers: Brokers, capsys: pytest.CaptureFixture[str]) -> Topics:
    """The lines that ``kafka-lite topics`` prints, through the brokers or ZooKeeper."""

    def run(*arguments: object, zookeeper: bool = False) -> list[str]:
        servers = brokers.bootstrap_servers
        where = ["--zookeeper", brokers.zookeeper.connect_string] if zookeeper else ["--bootstrap-server", servers]
        capsys.readouterr()
        code = main(["topics", *where, *map(str, arguments)])
        out, err = capsys.readouterr()
        assert code == 0, err
        return out.splitlines()

    return run


def has_topic(brokers: Brokers, topic: str = "orders") -> bool:
    return any(server.zk_client.topic_exists(topic) for server in list(brokers.servers.values())[:1])


def logs(brokers: Brokers, partition: TopicPartition = TP) -> set[int]:
    return {each for each, server in brokers.servers.items() if server.log_manager.get_log(partition) is not None}


# ------------------------------------------------------------------------------------------------------------ deletion


def test_a_deletion_waits_for_a_dead_broker_and_ends_when_it_returns(brokers: Brokers) -> None:
    brokers.create_topic("orders", {0: [0, 1, 2]})
    gone = next(each for each in brokers.servers if each != brokers.controller)
    brokers.stop(gone)
    zk = brokers.servers[brokers.controller].zk_client
    zk.create_delete_topic("orders")
    eventually(lambda: logs(brokers) == set())
    assert has_topic(brokers)
    assert zk.is_topic_marked_for_deletion("orders")
    brokers.start(gone)
    eventually(lambda: not has_topic(brokers) and not zk.is_topic_marked_for_deletion("orders"))
    assert logs(brokers) == set()


def test_a_deletion_that_one_broker_failed_is_tried_again_when_that_broker_returns(
    brokers: Brokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    brokers.create_topic("orders", {0: [0, 1, 2]})
    failing = next(each for each in brokers.servers if each != brokers.controller)
    manager = brokers.servers[failing].log_manager
    failure = ApiError(Errors.KAFKA_STORAGE_ERROR, "the disk fails")
    monkeypatch.setattr(manager, "async_delete", lambda partitions: dict.fromkeys(partitions, failure))
    zk = brokers.servers[brokers.controller].zk_client
    zk.create_delete_topic("orders")
    eventually(lambda: logs(brokers) == {failing})
    assert has_topic(brokers)
    brokers.stop(failing)
    brokers.start(failing)
    eventually(lambda: not has_topic(brokers))
    assert logs(brokers) == set()


def test_a_deleted_topic_can_be_created_again_with_other_replicas(brokers: Brokers, topics: Topics) -> None:
    brokers.create_topic("orders", {0: [0, 1]})
    brokers.produce("old")
    topics("--delete", "--topic", "orders")
    brokers.create_topic("orders", {0: [2, 1]})
    assert brokers.produce("new") == [0]
    assert brokers.read(1) == ["new"]


def test_a_topic_that_is_being_deleted_gets_no_more_partitions(brokers: Brokers) -> None:
    brokers.create_topic("orders", {0: [0, 1, 2]})
    gone = next(each for each in brokers.servers if each != brokers.controller)
    brokers.stop(gone)
    zk = brokers.servers[brokers.controller].zk_client
    zk.create_delete_topic("orders")
    eventually(lambda: logs(brokers) == set())
    zk.change_topic_assignment("orders", lambda found: TopicAssignment({**found.partitions, 1: [0, 1, 2]}))
    brokers.start(gone)
    eventually(lambda: not has_topic(brokers))
    assert logs(brokers, TopicPartition("orders", 1)) == set()


# ------------------------------------------------------------------------------------------------------------- placing


def test_replicas_are_spread_over_racks(no_brokers: Brokers, capsys: pytest.CaptureFixture[str]) -> None:
    racks = {0: "a", 1: "a", 2: "b", 3: "b"}
    for broker_id, rack in racks.items():
        no_brokers.start(broker_id, broker_rack=rack)
    zk = no_brokers.servers[0].zk_client
    everyone = [server.metadata_cache for server in no_brokers.servers.values()]
    eventually(lambda: all(len(cache.get_alive_brokers()) == 4 for cache in everyone))
    no_brokers.create_topic("orders", 8, 2)
    where = ["--zookeeper", no_brokers.zookeeper.connect_string]
    assert main(["topics", *where, "--create", "--topic", "old", "--partitions", "8", "--replication-factor", "2"]) == 0
    for topic in ("orders", "old"):
        assignment = zk.get_topic_assignment(topic)
        assert assignment is not None
        used = [{racks[replica] for replica in replicas} for replicas in assignment.partitions.values()]
        assert used == [{"a", "b"}] * 8
    no_brokers.start(4)
    capsys.readouterr()
    create = ["topics", *where, "--create", "--partitions", "1", "--replication-factor", "5", "--topic"]
    assert main([*create, "partly"]) == 1
    assert "Not all brokers have rack information" in capsys.readouterr().err
    assert main([*create, "partly", "--disable-rack-aware"]) == 0


def test_brokers_without_an_id_get_one_from_zookeeper_and_keep_it(no_brokers: Brokers) -> None:
    def start(number: int) -> KafkaServer:
        return no_brokers.start(number, **{"broker.id": -1})

    assert [start(number).config.broker_id for number in range(2)] == [1001, 1002]
    assert sorted(no_brokers.servers[0].zk_client.get_broker_ids()) == [1001, 1002]
    no_brokers.stop(0)
    assert start(0).config.broker_id == 1001


# ------------------------------------------------------------------------------------------------------------ the tool


@pytest.mark.parametrize("zookeeper", [False, True])
def test_the_tool_shows_partitions_that_lack_replicas_or_leaders(
    brokers: Brokers, topics: Topics, zookeeper: bool
) -> None:
    brokers.create_topic("orders", {0: [0, 1], 1: [1, 0], 2: [2, 1]}, min_insync_replicas="2")

    def shown(flag: str) -> list[int]:
        lines = topics("--describe", "--topic", "orders", flag, zookeeper=zookeeper)
        return [int(line.split("Partition: ")[1].split("\t")[0]) for line in lines]

    under_replicated, unavailable = "--under-replicated-partitions", "--unavailable-partitions"
    at_min_isr, under_min_isr = "--at-min-isr-partitions", "--under-min-isr-partitions"
    # Each time, another broker may respond, which may hear of a change later than the one before.
    eventually(lambda: [shown(each) for each in (under_replicated, unavailable, under_min_isr)] == [[], [], []])
    eventually(lambda: shown(at_min_isr) == [0, 1, 2])
    brokers.kill(2)
    eventually(lambda: shown(under_replicated) == [2])
    eventually(lambda: [shown(each) for each in (unavailable, at_min_isr, under_min_isr)] == [[], [0, 1], [2]])
    brokers.kill(1)
    eventually(lambda: shown(under_replicated) == [0, 1, 2])
    eventually(lambda: shown(unavailable) == [2])
    eventually(lambda: [shown(each) for each in (at_min_isr, under_min_isr)] == [[], [0, 1, 2]])


@pytest.mark.parametrize("zookeeper", [False, True])
def test_the_tool_creates_and_enlarges_topics_with_given_replicas(
    brokers: Brokers, topics: Topics, zookeeper: bool
) -> None:
    topics("--create", "--topic", "orders", "--replica-assignment", "2:0,1:2", zookeeper=zookeeper)
    enlarge = ("--alter", "--topic", "orders", "--partitions", 4, "--replica-assignment", "2:0,1:2,0:1,2:1")
    assert topics(*enlarge, zookeeper=zookeeper) == ["Adding partitions succeeded!"]
    for number, replicas in enumerate(([2, 0], [1, 2], [0, 1], [2, 1])):
        partition = TopicPartition("orders", number)
        eventually(lambda p=partition, r=replicas: brokers.leaders(p) == r[:1] and brokers.isr(p) == set(r))

    def described() -> bool:
        lines = topics("--describe", "--topic", "orders", zookeeper=zookeeper)
        assert re.match(r"Topic: orders\tTopicId: \S{22}\tPartitionCount: 4\tReplicationFactor: 2", lines[0])
        return "Partition: 2\tLeader: 0\tReplicas: 0,1\tIsr: 0,1" in lines[3]

    eventually(described)


# ----------------------------------------------------------------------------------------------------- the controller


def test_the_cluster_goes_on_when_the_controllers_session_expires(brokers: Brokers) -> None:
    brokers.create_topic("orders", {0: [0, 1, 2]})
    old = brokers.controller
    epoch = brokers.servers[old].controller.epoch
    brokers.expire_session(old)
    eventually(lambda: brokers.servers[brokers.controller].controller.epoch > epoch)
    eventually(lambda: sum(server.controller.is_active for server in brokers.servers.values()) == 1)
    eventually(lambda: len(brokers.leaders()) == 1 and brokers.isr() == {0, 1, 2})
    assert brokers.produce("one") == [0]
    brokers.create_topic("more", 3)
