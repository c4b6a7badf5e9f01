"""Replicas that move between the log directories of their broker, while they are written and read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_34_alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from kafka_lite.protocol.messages.api_35_describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.cluster_broker import ClusterBroker
from tests.support.eventually import eventually

TP = TopicPartition("orders", 0)
BROKERS = range(3)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    disks = {each: f"{tmp_path}/broker-{each}-a,{tmp_path}/broker-{each}-b" for each in BROKERS}
    overrides = {each: {"log.dirs": directories} for each, directories in disks.items()}
    with Cluster(brokers=len(BROKERS), broker_overrides=overrides, data_dir=tmp_path) as cluster:
        yield cluster


def create(cluster: Cluster) -> None:
    cluster.create_topic("orders", configs={"segment.bytes": 10_000})
    for first in range(0, 500, 50):
        cluster.produce("orders", *(f"{number}-{'x' * 100}" for number in range(first, first + 50)))
    cluster.wait_for_isr("orders")


def log_of(broker: ClusterBroker) -> Log:
    log = broker.server.log_manager.get_log(TP)
    assert log is not None
    return log


def other_dir(broker: ClusterBroker) -> Path:
    """The log directory that the replica is not in."""
    (found,) = (each for each in broker.server.log_manager.log_dirs if each != log_of(broker).dir.parent)
    return found


def alter(broker: ClusterBroker, directory: Path, version: int = 2, topic: str = "orders") -> Errors:
    request = AlterReplicaLogDirsRequest(
        dirs=[AlterReplicaLogDir(path=str(directory), topics=[AlterReplicaLogDirTopic(name=topic, partitions=[0])])]
    )
    with BlockingChannel("127.0.0.1", broker.port, read_timeout_ms=60_000) as channel:
        response = cast(AlterReplicaLogDirsResponse, channel.exchange(request, version))
    ((result,),) = (each.partitions for each in response.results)
    return Errors.for_code(result.error_code)


def described(broker: ClusterBroker) -> set[tuple[Path, bool, int]]:
    """Each directory with the replica, whether that is a copy, and how far behind."""
    with BlockingChannel("127.0.0.1", broker.port, read_timeout_ms=60_000) as channel:
        response = cast(DescribeLogDirsResponse, channel.exchange(DescribeLogDirsRequest(topics=None), 4))
    return {
        (Path(result.log_dir), partition.is_future_key, partition.offset_lag)
        for result in response.results
        for topic in result.topics
        if topic.name == "orders"
        for partition in topic.partitions
    }


def contents(log: Log) -> list[bytes]:
    return [file.read_bytes() for file in sorted(log.dir.glob("*.log"))]


@pytest.mark.parametrize("version", range(3))
def test_a_leader_moves_its_log_while_it_is_written(cluster: Cluster, version: int) -> None:
    create(cluster)
    leader = cluster.leader_of("orders")
    target = other_dir(leader)
    moved = threading.Event()
    produced = [f"{number}-{'x' * 100}".encode() for number in range(500)]

    def produce() -> None:
        number = 0
        while not moved.is_set() or number < 20:
            cluster.produce("orders", f"meanwhile {number}")
            produced.append(b"meanwhile %d" % number)
            number += 1

    producer = threading.Thread(target=produce)
    producer.start()
    try:
        assert alter(leader, target, version) is Errors.NONE
        eventually(lambda: log_of(leader).dir == target / "orders-0")
    finally:
        moved.set()
        producer.join()
    assert cluster.values("orders") == produced
    assert cluster.leader_of("orders") is leader
    cluster.wait_for_isr("orders")
    assert described(leader) == {(target, False, 0)}
    for broker in cluster.brokers:
        eventually(lambda broker=broker: log_of(broker).log_end_offset == len(produced))  # type: ignore[misc]
    assert len({b"".join(contents(log_of(broker))) for broker in cluster.brokers}) == 1


def test_a_follower_moves_its_log_and_stays_in_sync(cluster: Cluster) -> None:
    create(cluster)
    follower = next(each for each in cluster.brokers if each is not cluster.leader_of("orders"))
    before, target = b"".join(contents(log_of(follower))), other_dir(follower)
    assert alter(follower, target) is Errors.NONE
    eventually(lambda: log_of(follower).dir.parent == target)
    assert b"".join(contents(log_of(follower))) == before
    cluster.produce("orders", "after")
    eventually(lambda: log_of(follower).log_end_offset == 501)
    cluster.wait_for_isr("orders")
    follower.restart()
    cluster.wait_for_isr("orders")
    assert log_of(follower).dir == target / "orders-0"


def test_a_move_goes_on_after_a_restart(cluster: Cluster) -> None:
    create(cluster)
    broker = cluster.brokers[0]
    source, target = log_of(broker).dir.parent, other_dir(broker)
    broker.server.replica_manager.log_dir_moves.shutdown()  # nothing is copied until the restart
    assert alter(broker, target) is Errors.NONE
    assert described(broker) == {(source, False, 0), (target, True, 500)}
    broker.restart()
    eventually(lambda: log_of(broker).dir == target / "orders-0")
    assert log_of(broker).log_end_offset == 500
    cluster.wait_for_isr("orders")
    eventually(lambda: [each.name for each in source.glob("orders-0*")] == [])


def test_a_move_to_where_the_log_is_ends_the_move(cluster: Cluster) -> None:
    create(cluster)
    broker = cluster.brokers[0]
    source, target = log_of(broker).dir.parent, other_dir(broker)
    broker.server.replica_manager.log_dir_moves.shutdown()
    assert alter(broker, target) is Errors.NONE
    assert alter(broker, target) is Errors.NONE, "the same again changes nothing"
    assert len(described(broker)) == 2
    assert alter(broker, source) is Errors.NONE
    assert described(broker) == {(source, False, 0)}
    eventually(lambda: [each.name for each in target.glob("orders-0*")] == [])


def test_a_topic_is_deleted_while_it_moves(cluster: Cluster) -> None:
    create(cluster)
    broker = cluster.brokers[0]
    source, target = log_of(broker).dir.parent, other_dir(broker)
    broker.server.replica_manager.log_dir_moves.shutdown()
    assert alter(broker, target) is Errors.NONE
    cluster.delete_topic("orders")
    eventually(lambda: [each.name for disk in (source, target) for each in disk.glob("orders-0*")] == [])
    assert described(broker) == set()


def test_a_log_that_does_not_exist_yet_is_created_where_it_is_wanted(cluster: Cluster) -> None:
    for broker in cluster.brokers:
        assert alter(broker, broker.server.log_manager.log_dirs[1]) is Errors.REPLICA_NOT_AVAILABLE
    cluster.create_topic("orders")
    for broker in cluster.brokers:
        assert log_of(broker).dir.parent == broker.server.log_manager.log_dirs[1]


def test_a_directory_must_be_in_log_dirs_and_online(cluster: Cluster, tmp_path: Path) -> None:
    create(cluster)
    broker = cluster.brokers[0]
    assert alter(broker, tmp_path) is Errors.LOG_DIR_NOT_FOUND
    target = other_dir(broker)
    failures = broker.server.log_manager.log_dir_failure_channel
    failures.maybe_add_offline_log_dir(target, "reading", OSError(5, "I/O error"))
    assert alter(broker, target) is Errors.KAFKA_STORAGE_ERROR
    assert log_of(broker).log_end_offset == 500


def test_the_old_log_takes_no_more_records_once_it_has_been_replaced(cluster: Cluster) -> None:
    """A thread that has looked the log up just before must not append to files that will be deleted."""
    create(cluster)
    broker = cluster.leader_of("orders")
    old = log_of(broker)
    assert alter(broker, other_dir(broker)) is Errors.NONE
    eventually(lambda: log_of(broker) is not old)
    with pytest.raises(ApiError) as refused:
        old.append_as_leader(contents(old)[0], 0)
    assert refused.value.error is Errors.KAFKA_STORAGE_ERROR
