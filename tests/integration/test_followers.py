"""Followers that are far behind, many fetcher threads, acknowledgements that come too late, and restarts."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.server.replication.replica_fetcher_thread import ReplicaFetcherThread
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.cluster_broker import ClusterBroker
from tests.support.eventually import eventually
from tests.support.patience import patient_s

TP = TopicPartition("orders", 0)


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Three brokers, with the settings of an indirect parameter."""
    with Cluster(getattr(request, "param", None), brokers=3) as cluster:
        yield cluster


def log_of(broker: ClusterBroker, partition: TopicPartition = TP) -> Log:
    found = broker.server.replica_manager.get_partition(partition)
    assert found is not None
    assert found.log is not None
    return found.log


def high_watermark(broker: ClusterBroker, partition: TopicPartition = TP) -> int:
    found = broker.server.replica_manager.get_partition(partition)
    replica = found.get_replica() if found is not None else None
    return -1 if replica is None else replica.high_watermark.message_offset


def a_follower(cluster: Cluster) -> ClusterBroker:
    return next(broker for broker in cluster.brokers if broker is not cluster.leader_of("orders"))


def fetchers(broker: ClusterBroker) -> list[ReplicaFetcherThread]:
    return list(broker.server.replica_manager.fetchers.fetcher_thread_map.values())


def produce(broker: ClusterBroker, acks: int, timeout_ms: int = 30_000) -> Errors:
    """Send one record to a leader; returns the error of the response."""
    batch = memory_records(2, CompressionType.NONE, [(b"k", b"v")], timestamp=broker.server.time.milliseconds())
    data = TopicProduceData(name=TP.topic, partition_data=[PartitionProduceData(index=0, records=batch)])
    with BlockingChannel("127.0.0.1", broker.port, read_timeout_ms=60_000) as channel:
        request = ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=[data])
        response = cast(ProduceResponse, channel.exchange(request, 7))
    return Errors.for_code(response.responses[0].partition_responses[0].error_code)


# ── out of range


def test_a_follower_below_the_leaders_log_start_begins_there(cluster: Cluster) -> None:
    cluster.create_topic("orders", configs={"segment.bytes": 1000})
    cluster.produce("orders", *map(str, range(10)))
    cluster.wait_for_isr("orders")
    absent = a_follower(cluster)
    absent.stop()
    cluster.wait_for_isr("orders", brokers=[each for each in cluster.brokers if each is not absent])
    cluster.produce("orders", *map(str, range(10, 100)))
    leader = cluster.leader_of("orders")
    assert leader.server.replica_manager.delete_records(TP, 60) == 60
    absent.start()
    cluster.wait_for_isr("orders")
    log = log_of(absent)
    assert (log.log_start_offset, log.log_end_offset) == (60, 100)
    eventually(lambda: high_watermark(absent) == 100)  # it learns it with the next response
    absent.restart()
    cluster.wait_for_isr("orders")
    assert (log_of(absent).log_start_offset, log_of(absent).log_end_offset) == (60, 100)


@pytest.mark.parametrize("cluster", [{"unclean.leader.election.enable": "true"}], indirect=True)
def test_a_follower_beyond_the_leaders_end_is_truncated_to_where_the_logs_part(cluster: Cluster) -> None:
    """After an unclean election, what only the old leader had is gone, and the logs are equal."""
    cluster.create_topic("orders", replication_factor=2)
    cluster.produce("orders", *map(str, range(10)))
    cluster.wait_for_isr("orders")
    replicas = [each for each in cluster.brokers if each.server.replica_manager.get_partition(TP) is not None]
    old = cluster.leader_of("orders")
    (other,) = (each for each in replicas if each is not old)
    other.stop()
    cluster.wait_for_isr("orders", brokers=[old])
    cluster.produce("orders", *(f"lost {number}" for number in range(20)))
    old.kill()
    other.start()
    assert cluster.leader_of("orders", other_than=old) is other
    cluster.produce("orders", "kept")
    old.start()
    cluster.wait_for_isr("orders")
    first, second = ((log_of(each).dir / f"{0:020}.log").read_bytes() for each in replicas)
    assert first == second
    assert log_of(old).log_end_offset == 11
    assert cluster.values("orders")[-1] == b"kept"


# ── num.replica.fetchers


@pytest.mark.parametrize("cluster", [{"num.replica.fetchers": 2}], indirect=True)
def test_each_leader_is_followed_by_as_many_threads_as_configured(cluster: Cluster) -> None:
    cluster.create_topic("orders", partitions=18)
    for broker in cluster.brokers:
        eventually(lambda broker=broker: sum(each.partition_count for each in fetchers(broker)) == 12)
        keys = sorted(
            (key.broker.id, key.fetcher_id) for key in broker.server.replica_manager.fetchers.fetcher_thread_map
        )
        assert keys == [
            (leader.id, number) for leader in cluster.brokers if leader is not broker for number in range(2)
        ]
        assert {each.partition_count for each in fetchers(broker)} == {3}
    for number in range(18):
        cluster.produce("orders", "one", partition=number)
    for broker in cluster.brokers:
        for number in range(18):
            partition = TopicPartition("orders", number)
            eventually(lambda broker=broker, at=partition: log_of(broker, at).log_end_offset == 1)


@pytest.mark.parametrize("cluster", [{"num.replica.fetchers": 2}], indirect=True)
def test_partitions_come_and_go_while_fetchers_run(cluster: Cluster) -> None:
    cluster.create_topic("orders", partitions=3)
    for turn in range(3):
        cluster.create_topic(f"more-{turn}", partitions=6)
        for number in range(6):
            cluster.produce(f"more-{turn}", "record", partition=number)
        cluster.produce("orders", str(turn))
        for number in range(6):
            cluster.wait_for_isr(f"more-{turn}", number)
        cluster.delete_topic(f"more-{turn}")
    for broker in cluster.brokers:
        eventually(lambda broker=broker: sum(each.partition_count for each in fetchers(broker)) == 2)
        eventually(lambda broker=broker: log_of(broker).log_end_offset == 3)
        # A thread without partitions ends before it leaves the map; one that has failed stays there.
        eventually(lambda broker=broker: all(each.is_alive() for each in fetchers(broker)), "a thread has failed")


# ── min.insync.replicas


@pytest.mark.parametrize("cluster", [{"replica.lag.time.max.ms": 60_000}], indirect=True)
def test_an_acknowledgement_after_the_isr_has_shrunk_says_so(cluster: Cluster) -> None:
    cluster.create_topic("orders", configs={"min.insync.replicas": 2})
    leader = cluster.leader_of("orders")
    for broker in cluster.brokers:
        if broker is not leader:
            broker.server.replica_manager.fetchers.close_all_fetchers()
    with ThreadPoolExecutor() as pool:
        response = pool.submit(produce, leader, -1, 3_600_000)
        eventually(lambda: log_of(leader).log_end_offset == 1)
        cluster.time.advance(minutes=2)
        assert response.result(patient_s(60)) is Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    assert cluster.isr("orders") == {leader.id}
    assert high_watermark(leader) == 1, "the record was appended, and is committed"
    assert produce(leader, acks=-1) is Errors.NOT_ENOUGH_REPLICAS
    assert log_of(leader).log_end_offset == 1, "the second record was not"
    assert produce(leader, acks=1) is Errors.NONE


@pytest.mark.parametrize("cluster", [{"replica.lag.time.max.ms": 600_000}], indirect=True)
def test_a_write_that_is_not_replicated_in_time_times_out(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    leader = cluster.leader_of("orders")
    follower = a_follower(cluster)
    follower.server.replica_manager.fetchers.close_all_fetchers()
    assert produce(leader, acks=-1, timeout_ms=100) is Errors.REQUEST_TIMED_OUT
    assert log_of(leader).log_end_offset == 1


# ── high watermarks


def test_high_watermarks_outlive_a_restart_of_all_brokers(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    cluster.produce("orders", *map(str, range(10)))
    for broker in cluster.brokers:
        eventually(lambda broker=broker: high_watermark(broker) == 10)
    cluster.stop_broker()
    for broker in cluster.brokers:
        lines = (broker.log_dir / "replication-offset-checkpoint").read_text().splitlines()
        assert "orders 0 10" in lines
    cluster.start_broker()
    assert cluster.values("orders") == [b"%d" % number for number in range(10)]
    for broker in cluster.brokers:
        eventually(lambda broker=broker: high_watermark(broker) == 10)


@pytest.mark.parametrize("cluster", [{"inter.broker.protocol.version": "3.1"}], indirect=True)
def test_a_topic_that_was_made_again_is_replicated_by_its_new_id(cluster: Cluster) -> None:
    ids = set()
    for values in (["a", "b"], ["c"]):
        cluster.create_topic("orders", replication_factor=3)
        for _ in values:
            assert produce(cluster.leader_of("orders"), -1) is Errors.NONE
        eventually(lambda: {log_of(broker).log_end_offset for broker in cluster.brokers} == {len(values)})  # noqa: B023
        [topic_id] = {log_of(broker).topic_id for broker in cluster.brokers}
        ids.add(topic_id)
        cluster.delete_topic("orders")
        eventually(lambda: "orders" not in cluster.topics)
    assert len(ids) == 2
    assert None not in ids
