"""kill -9 of one of three brokers under load: what was acknowledged with acks=all is on all replicas, once."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.record.record import Record
from tests.chaos.test_broker_kill_nine import read_all
from tests.support.broker_process import BrokerProcess, free_port
from tests.support.embedded_zookeeper_process import EmbeddedZooKeeperProcess
from tests.support.eventually import eventually
from tests.support.produce_load import Load
from tests.support.zookeeper_sessions import end_session_of

KILLS = int(os.environ.get("KAFKA_LITE_CLUSTER_KILLS", "3"))
TOPIC, PARTITIONS, BROKERS = "load", 3, 3
SETTINGS = {
    "default.replication.factor": "3",
    "offsets.topic.replication.factor": "3",
    "replica.lag.time.max.ms": "2000",
    "replica.fetch.backoff.ms": "100",
    "unclean.leader.election.enable": "false",
    "zookeeper.session.timeout.ms": "18000",  # ``miss`` ends those of the killed, a busy machine ends none
    "log.segment.bytes": "200000",
}


class ThreeBrokers:
    """Three brokers in processes, and ZooKeeper in another one."""

    def __init__(self, folder: Path, zookeeper: EmbeddedZooKeeperProcess) -> None:
        self._folder = folder
        self._zookeeper = zookeeper
        self.ports = [free_port() for _ in range(BROKERS)]
        self.running: dict[int, BrokerProcess] = {}

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def directory(self, broker_id: int) -> Path:
        return self._folder / f"broker-{broker_id}"

    def start(self, broker_id: int) -> None:
        directory = self.directory(broker_id)
        directory.mkdir(exist_ok=True)
        overrides = SETTINGS | {
            "broker.id": str(broker_id),
            "listeners": f"PLAINTEXT://127.0.0.1:{self.ports[broker_id]}",
            "zookeeper.connect": self._zookeeper.connect_string,
        }
        broker = BrokerProcess(directory, overrides)
        broker.start()
        self.running[broker_id] = broker

    def kill(self, broker_id: int) -> None:
        self.running.pop(broker_id).kill()

    def miss(self, broker_id: int) -> None:
        """End the ZooKeeper session of a killed broker."""
        end_session_of(self._zookeeper.connect_string, f"/brokers/ids/{broker_id}")

    def partitions(self) -> dict[int, tuple[int, set[int]]]:
        """Leader and ISR of each partition."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})
        found = admin.list_topics(TOPIC, timeout=10).topics[TOPIC].partitions
        return {number: (each.leader, set(each.isrs)) for number, each in found.items()}

    def in_sync(self) -> bool:
        return all(isr == set(range(BROKERS)) for _, isr in self.partitions().values())


@pytest.fixture
def brokers(tmp_path: Path) -> Iterator[ThreeBrokers]:
    with contextlib.ExitStack() as stack:
        zookeeper = EmbeddedZooKeeperProcess(tmp_path / "zookeeper")
        stack.enter_context(zookeeper)
        brokers = ThreeBrokers(tmp_path, zookeeper)
        stack.callback(lambda: [broker.kill() for broker in brokers.running.values()])
        for broker_id in range(BROKERS):
            brokers.start(broker_id)
        yield brokers


def read_from_leaders(brokers: ThreeBrokers) -> list[list[Record]]:
    records = []
    for number, (leader, _) in sorted(brokers.partitions().items()):
        with BlockingChannel("127.0.0.1", brokers.ports[leader]) as channel:
            records.append(read_all(channel, TOPIC, number))
    return records


def log_bytes(directory: Path, partition: int) -> bytes:
    folder = directory / "data" / "logs" / f"{TOPIC}-{partition}"
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))


@pytest.mark.soak
@pytest.mark.timeout(120 + 40 * KILLS)
@pytest.mark.parametrize("idempotent", [True, False], ids=["idempotent", "at-least-once"])
def test_nothing_acknowledged_is_lost_when_brokers_are_killed(brokers: ThreeBrokers, idempotent: bool) -> None:
    random.seed(idempotent)
    topic = NewTopic(TOPIC, PARTITIONS, BROKERS, config={"min.insync.replicas": "2"})
    admin = AdminClient({"bootstrap.servers": brokers.bootstrap_servers})
    admin.create_topics([topic])[TOPIC].result(30)
    eventually(brokers.in_sync)
    load = Load(brokers.bootstrap_servers, TOPIC, PARTITIONS, idempotent=idempotent)
    for _ in range(KILLS):
        load.run(random.uniform(0.3, 1))
        victim = random.randrange(BROKERS)
        brokers.kill(victim)
        load.run(random.uniform(0, 1))
        brokers.miss(victim)
        load.run(random.uniform(0, 1.5))
        brokers.start(victim)
        load.run(random.uniform(0.1, 1))
        eventually(brokers.in_sync, lambda: f"not all replicas are in sync: {brokers.partitions()}")
    load.finish()
    records = read_from_leaders(brokers)
    found = {(p, each.offset): bytes(each.value or b"") for p, rows in enumerate(records) for each in rows}
    assert load.acknowledged.items() <= found.items()
    assert len(load.acknowledged) == load.sent
    if idempotent:
        for partition, rows in enumerate(records):
            numbers = [int((each.value or b"")[:8]) for each in rows]
            assert numbers == list(range(partition, load.sent, PARTITIONS))
    for partition in range(PARTITIONS):
        of_first = log_bytes(brokers.directory(0), partition)
        assert of_first
        for other in range(1, BROKERS):
            eventually(lambda p=partition, o=other, f=of_first: log_bytes(brokers.directory(o), p) == f)
