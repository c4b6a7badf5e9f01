"""Share consumers against three brokers: records are divided, come again, and survive leaders and coordinators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_lite.consumer import AcknowledgeType, KafkaShareConsumer
from kafka_lite.consumer.share.share_in_flight_batch import ShareConsumerRecord
from kafka_lite.metrics.metric_name import ObjectNamePattern
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.testing.cluster import Cluster
from tests.integration.test_metrics import ATTRIBUTES, OF_SHARE_GROUPS
from tests.support.patience import patient_s

PARTITIONS = 3
OVERRIDES = {
    "group.coordinator.rebalance.protocols": "classic,consumer,share",
    "group.share.min.heartbeat.interval.ms": "200",
    "group.share.heartbeat.interval.ms": "200",
    "share.coordinator.state.topic.num.partitions": "3",
    "share.coordinator.append.linger.ms": "1",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(OVERRIDES, brokers=3) as cluster:
        yield cluster


def produce(cluster: Cluster, topic: str, first: int, count: int) -> None:
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"}) as producer:
        for number in range(first, first + count):
            producer.send(ProducerRecord(topic, b"%d" % number, partition=number % PARTITIONS))
        producer.flush()


def member(cluster: Cluster, topic: str, **configs: Any) -> KafkaShareConsumer:
    for broker in cluster.brokers:
        broker.server.groups.group_configs.update(f"g-{topic}", {"share.auto.offset.reset": "earliest"})
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": f"g-{topic}"}
    consumer = KafkaShareConsumer(settings | {key.replace("_", "."): value for key, value in configs.items()})
    consumer.subscribe([topic])
    return consumer


def poll_for(consumers: list[KafkaShareConsumer], count: int) -> list[ShareConsumerRecord]:
    """Poll in turn until so many records were delivered, and a little longer."""
    found: list[ShareConsumerRecord] = []
    idle = 0
    deadline = patient_s(60)
    timer = consumers[0]._time
    end_ms = timer.hi_res_ms() + 1000 * deadline
    while (len(found) < count or idle < 4) and timer.hi_res_ms() < end_ms:
        before = len(found)
        for consumer in consumers:
            found += [record for record in consumer.poll(250) if isinstance(record, ShareConsumerRecord)]
        idle = idle + 1 if len(found) == before else 0
    return found


def test_members_divide_the_records_of_a_topic(cluster: Cluster) -> None:
    cluster.create_topic("divided", partitions=PARTITIONS)
    with (
        member(cluster, "divided", max_poll_records=10) as first,
        member(cluster, "divided", max_poll_records=10) as second,
    ):
        produce(cluster, "divided", 0, 120)
        delivered = poll_for([first, second], 120)
        assert Counter(record.value for record in delivered) == {b"%d" % number: 1 for number in range(120)}
        assert {record.delivery_count for record in delivered} == {1}


def test_a_group_and_the_leaders_of_its_partitions_have_the_declared_beans(cluster: Cluster) -> None:
    cluster.create_topic("measured", partitions=PARTITIONS)
    with member(cluster, "measured") as consumer:
        produce(cluster, "measured", 0, 6)
        assert len(poll_for([consumer], 6)) == 6
        beans = {
            name: found for broker in cluster.brokers for name, found in broker.server.metrics.beans.query().items()
        }
        for declared in OF_SHARE_GROUPS:
            pattern = ObjectNamePattern.parse(declared.pattern.replace("group=*", "group=g-measured"))
            attributes = [set(beans[name]) for name in beans if pattern.matches(name)]
            assert attributes, pattern
            assert attributes[0] == ATTRIBUTES[declared.kind], pattern


def test_what_is_released_comes_again_until_it_is_given_up(cluster: Cluster) -> None:
    cluster.create_topic("released", partitions=PARTITIONS)
    with member(cluster, "released", share_acknowledgement_mode="explicit") as consumer:
        produce(cluster, "released", 0, 6)
        counts: Counter[bytes] = Counter()
        for _ in range(60):
            for record in consumer.poll(250):
                counts[record.value] += 1
                fate = {b"1": AcknowledgeType.RELEASE, b"2": AcknowledgeType.REJECT}.get(record.value)
                consumer.acknowledge(record, fate or AcknowledgeType.ACCEPT)
            assert set(consumer.commit_sync().values()) <= {None}
            if counts[b"1"] == 5 and len(counts) == 6:
                break
        assert list(consumer.poll(1000)) == []
        assert counts == {b"0": 1, b"1": 5, b"2": 1, b"3": 1, b"4": 1, b"5": 1}


def test_what_a_closed_member_did_not_acknowledge_goes_to_another(cluster: Cluster) -> None:
    cluster.create_topic("left", partitions=PARTITIONS)
    first = member(cluster, "left", share_acknowledgement_mode="explicit")
    produce(cluster, "left", 0, 9)
    held: list[Any] = []
    while len(held) < 3:
        held += first.poll(250)
        for record in held:
            if record.value == b"0":
                first.acknowledge(record)
        if len(held) < 3:
            for record in held:
                first.acknowledge(record, AcknowledgeType.RELEASE)
            held.clear()
    first.close()
    with member(cluster, "left") as second:
        delivered = poll_for([second], 8)
        assert {record.value for record in delivered} >= {b"%d" % number for number in range(1, 9)}


def test_a_leader_may_die(cluster: Cluster) -> None:
    cluster.create_topic("survives", partitions=PARTITIONS, replication_factor=3)
    with member(cluster, "survives", max_poll_records=10) as consumer:
        produce(cluster, "survives", 0, 60)
        before = poll_for([consumer], 60)
        consumer.commit_sync()
        cluster.brokers[1].kill()
        try:
            produce(cluster, "survives", 60, 60)
            after = poll_for([consumer], 60)
        finally:
            cluster.brokers[1].start()
    counts = Counter(record.value for record in [*before, *after])
    assert set(counts) == {b"%d" % number for number in range(120)}
    assert max(record.delivery_count for record in [*before, *after]) <= 5
