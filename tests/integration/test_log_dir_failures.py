"""Brokers with two log directories each, one of which fails: only its replicas are lost, and others lead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.cluster_broker import ClusterBroker
from tests.support.eventually import eventually

PARTITIONS = 6
BROKERS = range(3)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    disks = {each: f"{tmp_path}/broker-{each}-a,{tmp_path}/broker-{each}-b" for each in BROKERS}
    overrides = {each: {"log.dirs": directories} for each, directories in disks.items()}
    with Cluster(brokers=len(BROKERS), broker_overrides=overrides, data_dir=tmp_path) as cluster:
        cluster.create_topic("orders", partitions=PARTITIONS)
        for number in range(PARTITIONS):
            cluster.produce("orders", "before", partition=number)
        yield cluster


def partitions_in(broker: ClusterBroker, directory: Path) -> set[int]:
    logs = broker.server.log_manager.all_logs()
    return {log.topic_partition.partition for log in logs if log.dir.parent == directory}


def fail(broker: ClusterBroker) -> set[int]:
    """Let a broker's first log directory fail; returns the partitions in it."""
    directory = broker.server.log_manager.log_dirs[0]
    lost = partitions_in(broker, directory)
    error = OSError(5, "I/O error")
    assert broker.server.log_manager.log_dir_failure_channel.maybe_add_offline_log_dir(directory, "reading", error)
    return lost


def others(cluster: Cluster, broker: ClusterBroker) -> list[int]:
    return [each.id for each in cluster.brokers if each is not broker]


def offline_replicas(broker: ClusterBroker, partition: int) -> tuple[int, ...]:
    info = broker.server.metadata_cache.get_partition_info(TopicPartition("orders", partition))
    assert info is not None
    return info.offline_replicas


def test_the_replicas_of_a_failed_directory_are_led_by_others_and_the_rest_stays(cluster: Cluster) -> None:
    broker = cluster.brokers[1]
    lost = fail(broker)
    kept = set(range(PARTITIONS)) - lost
    assert lost
    assert kept
    for number in range(PARTITIONS):
        expected = others(cluster, broker) if number in lost else list(BROKERS)
        cluster.wait_for_isr("orders", number, brokers=expected)
        cluster.produce("orders", "after", partition=number)
        assert cluster.values("orders", number) == [b"before", b"after"]
    assert all(cluster.leader_of("orders", number) is not broker for number in lost)
    assert any(cluster.leader_of("orders", number) is broker for number in kept)
    for each in cluster.brokers:
        for number in lost:
            eventually(lambda each=each, number=number: offline_replicas(each, number) == (broker.id,))  # type: ignore[misc]
        assert all(offline_replicas(each, number) == () for number in kept)


def test_a_new_controller_learns_which_replicas_are_lost(cluster: Cluster) -> None:
    controller = cluster.controller
    broker = next(each for each in cluster.brokers if each is not controller)
    lost = fail(broker)
    for number in lost:
        cluster.wait_for_isr("orders", number, brokers=others(cluster, broker))
    controller.kill()
    successor = cluster.wait_for_controller(other_than=controller)
    controller.start()
    for number in lost:
        cluster.wait_for_isr("orders", number, brokers=others(cluster, broker))
        assert cluster.leader_of("orders", number) is not broker
    partitions = {TopicPartition("orders", number) for number in lost}
    eventually(lambda: successor.server.controller.context.replicas_on_offline_dirs == {broker.id: partitions})


def test_replicas_are_back_when_the_broker_starts_with_a_mended_directory(cluster: Cluster) -> None:
    broker = cluster.brokers[2]
    lost = fail(broker)
    for number in lost:
        cluster.wait_for_isr("orders", number, brokers=others(cluster, broker))
        cluster.produce("orders", "meanwhile", partition=number)
    broker.restart()
    for number in range(PARTITIONS):
        cluster.wait_for_isr("orders", number)
    assert cluster.controller.server.controller.context.replicas_on_offline_dirs == {}


def test_the_notification_is_deleted(cluster: Cluster) -> None:
    fail(cluster.brokers[0])
    zookeeper = cluster.brokers[1].server.zk_client.zookeeper
    eventually(lambda: cluster.controller.server.controller.context.replicas_on_offline_dirs)
    eventually(lambda: zookeeper.children("/log_dir_event_notification") == [])
