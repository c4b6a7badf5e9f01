"""Three brokers in one process: followers copy the leaders' logs, and one of them takes over."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.cluster_broker import ClusterBroker
from tests.support import brokers
from tests.support.eventually import eventually
from tests.support.patience import patient_s

TP = TopicPartition("orders", 0)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(brokers=3) as cluster:
        yield cluster


def log_of(broker: ClusterBroker) -> Log:
    partition = broker.server.replica_manager.get_partition(TP)
    assert partition is not None
    assert partition.log is not None
    return partition.log


def running(cluster: Cluster) -> set[int]:
    return {broker.id for broker in cluster.brokers if broker.is_running}


def a_follower(cluster: Cluster) -> ClusterBroker:
    return next(broker for broker in cluster.brokers if broker is not cluster.leader_of("orders"))


def see_all_alive(cluster: Cluster) -> bool:
    """Whether every running broker knows of exactly the running ones."""
    alive = [broker.server.metadata_cache.get_alive_brokers() for broker in cluster.brokers if broker.is_running]
    return all({broker.id for broker in each} == running(cluster) for each in alive)


def produce(cluster: Cluster, *values: str, topic: str = "orders", acks: object = "all") -> list[int]:
    """Send, and return the acknowledged offsets."""
    return brokers.produce(cluster.bootstrap_servers, *values, topic=topic, acks=acks)


def consume(cluster: Cluster, count: int, topic: str = "orders", group: str = "readers") -> list[str]:
    consumer = Consumer(
        {"bootstrap.servers": cluster.bootstrap_servers, "group.id": group, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    found: list[str] = []
    try:
        while len(found) < count:
            message = consumer.poll(patient_s(30))
            assert message is not None, f"{len(found)} of {count} records"
            assert message.error() is None, message.error()
            found.append(message.value().decode())
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()
    return found


def test_followers_copy_the_leaders_log_byte_for_byte(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    assert produce(cluster, *map(str, range(500))) == list(range(500))
    for broker in cluster.brokers:
        eventually(lambda broker=broker: log_of(broker).log_end_offset == 500)
    cluster.wait_for_isr("orders")
    first, *others = [(log_of(broker).dir / f"{0:020}.log").read_bytes() for broker in cluster.brokers]
    assert len(first) > 0
    assert others == [first, first]


def test_acks_all_waits_for_every_replica_in_the_isr(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    (offset,) = produce(cluster, "one")
    assert [log_of(broker).log_end_offset for broker in cluster.brokers] == [offset + 1] * 3


def test_a_follower_takes_over_when_the_leader_stops_and_nothing_is_lost(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    produce(cluster, *map(str, range(100)))
    old = cluster.leader_of("orders")
    old.stop()
    assert cluster.leader_of("orders") is not old
    assert produce(cluster, *map(str, range(100, 200))) == list(range(100, 200))
    assert consume(cluster, 200) == list(map(str, range(200)))
    cluster.wait_for_isr("orders", brokers=running(cluster))


def test_a_broker_that_returns_catches_up_and_rejoins_the_isr(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    produce(cluster, "before")
    gone = a_follower(cluster)
    gone.stop()
    cluster.wait_for_isr("orders", brokers=running(cluster))
    produce(cluster, *map(str, range(50)))
    gone.start()
    cluster.wait_for_isr("orders")
    assert log_of(gone).log_end_offset == 51


def test_a_follower_that_lags_leaves_the_isr_and_the_high_watermark_advances(cluster: Cluster) -> None:
    cluster.create_topic("orders")
    produce(cluster, "one")
    lagging = a_follower(cluster)
    lagging.server.replica_manager.fetchers.close_all_fetchers()
    assert produce(cluster, "two") == [1], "committed once the follower has left the ISR"
    assert lagging.id not in cluster.isr("orders")
    assert log_of(lagging).log_end_offset == 1


def test_a_write_with_too_few_in_sync_replicas_is_rejected(cluster: Cluster) -> None:
    cluster.create_topic("orders", configs={"min.insync.replicas": 3})
    a_follower(cluster).stop()
    cluster.wait_for_isr("orders", brokers=running(cluster))
    refused: list[bool] = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all", "message.timeout.ms": 1500})
    producer.produce("orders", "refused", callback=lambda error, _: refused.append(error is not None))
    producer.flush(patient_s(30))
    assert refused == [True]
    assert log_of(cluster.leader_of("orders")).log_end_offset == 0
    assert produce(cluster, "one replica is enough", acks=1) == [0]


@pytest.mark.parametrize("stopped", ["the controller", "another broker"])
def test_a_broker_that_stops_leads_nothing_any_more_before_it_goes(cluster: Cluster, stopped: str) -> None:
    cluster.create_topic("orders", partitions=3)
    controller = cluster.controller
    leaving = controller if stopped == "the controller" else cluster.brokers[(controller.id + 1) % 3]
    assert leaving in [cluster.leader_of("orders", number) for number in range(3)]
    server = leaving.server
    partitions = [TopicPartition("orders", number) for number in range(3)]
    leaders: list[int] = []

    def note_leaders() -> None:
        """According to ZooKeeper: the broker's own LeaderAndIsr may still be on its way, as in Kafka."""
        states = server.zk_client.get_partition_states(partitions)
        leaders.extend(states[partition].leader_and_isr.leader for partition in partitions)

    server._stop_parts.append(("note for the test", note_leaders))  # is called when the parts begin to stop
    leaving.stop()
    assert len(leaders) == 3
    assert leaving.id not in leaders
    for number in range(3):
        assert cluster.leader_of("orders", number) is not leaving
        cluster.wait_for_isr("orders", number, brokers=running(cluster))


def test_a_broker_that_stops_asks_the_controller_unless_it_is_the_last(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    """Even if it has no replicas: the controller may have assigned some to it a moment ago."""
    logger = "kafka_lite.server.replication.controlled_shutdown"
    caplog.set_level(logging.INFO, logger)
    for broker_id, outcomes in ((2, 1), (1, 2), (0, 2)):
        eventually(lambda: see_all_alive(cluster))
        cluster.brokers[broker_id].stop()
        said = [record.message for record in caplog.records if record.name == logger]
        assert said.count("Controlled shutdown succeeded") == outcomes
