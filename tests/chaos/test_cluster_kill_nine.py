"""kill -9 of one of three brokers under load: what was acknowledged with acks=all is on all replicas, once."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.record.record import Record
from kafka_lite.testing.process_broker import ProcessBroker
from kafka_lite.testing.process_cluster import ProcessCluster
from tests.chaos.test_broker_kill_nine import read_all
from tests.support.eventually import eventually
from tests.support.produce_load import Load

KILLS = int(os.environ.get("KAFKA_LITE_CLUSTER_KILLS", "3"))
TOPIC, PARTITIONS, BROKERS = "load", 3, 3
SETTINGS = {"unclean.leader.election.enable": "false", "log.segment.bytes": "200000"}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ProcessCluster]:
    with ProcessCluster(tmp_path, SETTINGS) as cluster:
        yield cluster


def in_sync(cluster: ProcessCluster) -> bool:
    return all(cluster.isr(TOPIC, number) == set(range(BROKERS)) for number in range(PARTITIONS))


def read_from_leaders(cluster: ProcessCluster) -> list[list[Record]]:
    records = []
    for number in range(PARTITIONS):
        with BlockingChannel("127.0.0.1", cluster.leader_of(TOPIC, number).port) as channel:
            records.append(read_all(channel, TOPIC, number))
    return records


def log_bytes(broker: ProcessBroker, partition: int) -> bytes:
    folder = broker.log_dir / f"{TOPIC}-{partition}"
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))


@pytest.mark.soak
@pytest.mark.timeout(120 + 40 * KILLS)
@pytest.mark.parametrize("idempotent", [True, False], ids=["idempotent", "at-least-once"])
def test_nothing_acknowledged_is_lost_when_brokers_are_killed(cluster: ProcessCluster, idempotent: bool) -> None:
    random.seed(idempotent)
    cluster.create_topic(TOPIC, PARTITIONS, {"min.insync.replicas": 2})
    eventually(lambda: in_sync(cluster))
    load = Load(cluster.bootstrap_servers, TOPIC, PARTITIONS, idempotent=idempotent)
    for _ in range(KILLS):
        load.run(random.uniform(0.3, 1))
        victim = cluster.brokers[random.randrange(BROKERS)]
        victim.kill(expire_session=False)
        load.run(random.uniform(0, 1))
        victim.expire_session()
        load.run(random.uniform(0, 1.5))
        victim.start()
        load.run(random.uniform(0.1, 1))
        eventually(lambda: in_sync(cluster), lambda: f"not all are in sync: {cluster.zookeeper.isrs()}")
    load.finish()
    records = read_from_leaders(cluster)
    found = {(p, each.offset): bytes(each.value or b"") for p, rows in enumerate(records) for each in rows}
    assert load.acknowledged.items() <= found.items()
    assert len(load.acknowledged) == load.sent
    if idempotent:
        for partition, rows in enumerate(records):
            numbers = [int((each.value or b"")[:8]) for each in rows]
            assert numbers == list(range(partition, load.sent, PARTITIONS))
    first, *others = cluster.brokers
    for partition in range(PARTITIONS):
        of_first = log_bytes(first, partition)
        assert of_first
        for other in others:
            eventually(lambda p=partition, o=other, f=of_first: log_bytes(o, p) == f)
