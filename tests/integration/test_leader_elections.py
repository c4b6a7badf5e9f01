"""Leaders that somebody asks for: preferred replicas, any replica that is alive, and the automatic rebalance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import ElectionType
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper.admin_requests import AdminRequests
from tests.support.brokers import TP, Brokers, three_brokers
from tests.support.eventually import eventually
from tests.support.patience import patient_s

TP_1 = TopicPartition("orders", 1)


@pytest.fixture
def brokers(tmp_path: Path) -> Iterator[Brokers]:
    with three_brokers(tmp_path, unclean_leader_election_enable=False) as brokers:
        yield brokers


Errors = dict[tuple[str, int], str | None]


def elect(brokers: Brokers, election_type: ElectionType, *partitions: TopicPartition) -> Errors:
    """The error of each partition, None without one."""
    eventually(brokers.agree)
    admin = AdminClient({"bootstrap.servers": brokers.bootstrap_servers})
    wanted = [Position(*partition) for partition in partitions] or None
    found = admin.elect_leaders(election_type, wanted).result(patient_s(30))
    return {(each.topic, each.partition): error.name() if error else None for each, error in found.items()}


def move_leader_away(brokers: Brokers, broker_id: int) -> None:
    """Restart a broker: it comes back as a follower that is in sync."""
    brokers.stop(broker_id)
    brokers.start(broker_id)
    eventually(lambda: len(brokers.leaders()) == 1 and brokers.isr() == {0, 1, 2})
    assert brokers.leader() != broker_id


@pytest.mark.parametrize("by", ["the API", "the API, for all", "the znode"])
def test_the_preferred_replica_becomes_leader_on_request(brokers: Brokers, by: str) -> None:
    brokers.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0]})
    move_leader_away(brokers, 0)
    if by == "the znode":
        zk = brokers.servers[1].zk_client
        AdminRequests(zk.zookeeper).create_preferred_replica_election([TP, TP_1, TopicPartition("nowhere", 0)])
        eventually(lambda: zk.zookeeper.exists("/admin/preferred_replica_election") is None)
    elif by == "the API":
        unknown = TopicPartition("orders", 9)
        assert elect(brokers, ElectionType.PREFERRED, TP, TP_1, unknown) == {
            TP: None,
            TP_1: "ELECTION_NOT_NEEDED",
            unknown: "UNKNOWN_TOPIC_OR_PART",
        }
    else:
        assert elect(brokers, ElectionType.PREFERRED) == {TP: None}
    eventually(lambda: brokers.leaders() == [0])
    assert brokers.produce("one") == [0]


def test_a_preferred_replica_that_is_dead_cannot_become_leader(brokers: Brokers) -> None:
    brokers.create_topic("orders", {0: [0, 1, 2]})
    brokers.stop(0)
    eventually(lambda: brokers.has_leader(TP))
    assert elect(brokers, ElectionType.PREFERRED, TP) == {TP: "PREFERRED_LEADER_NOT_AVAILABLE"}


def test_an_unclean_election_takes_a_replica_that_lacks_records(brokers: Brokers) -> None:
    brokers.create_topic("orders", {0: [0, 1]})
    brokers.stop(1)
    eventually(lambda: brokers.isr() == {0})
    assert brokers.produce("lost") == [0]
    brokers.kill(0)
    brokers.start(1)
    assert brokers.controller is not None
    eventually(lambda: brokers.servers[1].metadata_cache.get_partition_info(TP) is not None)
    assert not brokers.has_leader(TP)
    assert elect(brokers, ElectionType.UNCLEAN, TP) == {TP: None}
    assert elect(brokers, ElectionType.UNCLEAN, TP) == {TP: "ELECTION_NOT_NEEDED"}
    eventually(lambda: brokers.leaders() == [1])
    assert brokers.log(1).log_end_offset == 0, "the record is lost, as was asked for"
    brokers.start(0)
    eventually(lambda: brokers.isr() == {0, 1})
    assert brokers.log(0).log_end_offset == 0


@pytest.mark.parametrize("unclean", ["true", "false"])
def test_a_dead_isr_is_replaced_only_if_the_topic_allows_it(brokers: Brokers, unclean: str) -> None:
    brokers.create_topic("orders", {0: [0, 1]}, unclean_leader_election_enable=unclean)
    brokers.stop(1)
    eventually(lambda: brokers.isr() == {0})
    brokers.produce("only on 0")
    brokers.kill(0)
    brokers.start(1)
    if unclean == "true":
        eventually(lambda: brokers.has_leader(TP))
        assert brokers.leader() == 1
    else:
        eventually(lambda: brokers.servers[1].metadata_cache.get_partition_info(TP) is not None)
        assert not brokers.has_leader(TP)
        brokers.start(0)
        eventually(lambda: brokers.has_leader(TP))
        assert brokers.leader() == 0
        eventually(lambda: brokers.log(1).log_end_offset == 1)


@pytest.mark.soak
def test_leaders_move_back_by_themselves(tmp_path: Path) -> None:
    settings = {"leader_imbalance_check_interval_seconds": 1, "auto_leader_rebalance_enable": True}
    with three_brokers(tmp_path, **settings) as brokers:
        brokers.create_topic("orders", {0: [0, 1, 2]})
        brokers.stop(0)
        eventually(lambda: brokers.has_leader(TP))
        brokers.start(0)
        eventually(lambda: brokers.leaders() == [0])
        eventually(lambda: brokers.isr() == {0, 1, 2})


def test_leaders_stay_where_they_are_if_the_rebalance_is_off(tmp_path: Path) -> None:
    settings = {"leader_imbalance_check_interval_seconds": 1, "auto_leader_rebalance_enable": False}
    with three_brokers(tmp_path, **settings) as brokers:
        brokers.create_topic("orders", {0: [0, 1, 2]})
        move_leader_away(brokers, 0)
        scheduled = brokers.servers[brokers.controller].scheduler._heap
        assert "auto-leader-rebalance-task" not in [task.name for task in scheduled]
        assert brokers.leader() != 0


def test_a_broker_that_is_not_the_controller_refuses_requests(brokers: Brokers) -> None:
    results: list[object] = []
    other = next(each for each in brokers.servers if each != brokers.controller)
    brokers.servers[other].controller.alter_partition_reassignments({TP: [0]}, results.append)
    eventually(lambda: results == [None])
