"""A whole broker whose disk is full, and then has space again."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_lite.common.errors import Errors
from kafka_lite.server.broker_process import BrokerProcess, BrokerStartError
from kafka_lite.testing.cluster import Cluster
from kafka_lite.zookeeper.embedded import txn_log, zk_database
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.zk_errors import ZkStorageError
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient
from tests.support.eventually import eventually
from tests.support.full_disk import FullDisk, SmallDisk
from tests.support.patience import patient_s


def create(bootstrap_servers: str, *topics: str, timeout_s: float = 60) -> int:
    """The error code of the last topic's creation; 0 if it succeeds."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    futures = admin.create_topics([NewTopic(topic, 1, 1) for topic in topics], operation_timeout=timeout_s)
    try:
        futures[topics[-1]].result(timeout=patient_s(120))
    except KafkaException as error:
        return int(error.args[0].code())
    return 0


def produce(bootstrap_servers: str, topic: str, value: bytes, **config: object) -> int:
    """The error code of one record; 0 if it is acknowledged."""
    codes: list[int] = []
    producer = Producer({"bootstrap.servers": bootstrap_servers, **config})
    producer.produce(topic, value, on_delivery=lambda error, _: codes.append(error.code() if error else 0))
    assert producer.flush(patient_s(120)) == 0
    return codes[0]


def first_record(bootstrap_servers: str, group: str, topic: str) -> bytes:
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    try:
        message = eventually(lambda: consumer.poll(1))
        assert message.error() is None
        return bytes(message.value())
    finally:
        consumer.close()


@pytest.fixture
def no_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without preallocated space in ZooKeeper's log, which would have to be used up first."""
    monkeypatch.setattr(txn_log, "RESERVE_BYTES", 0)
    monkeypatch.setattr(zk_database, "RESERVE_BYTES", 0)


def test_topics_are_created_and_groups_served_once_a_full_disk_has_space(full_disk: FullDisk, no_reserve: None) -> None:
    with Cluster() as cluster:
        servers = cluster.bootstrap_servers
        assert create(servers, "before") == 0
        assert produce(servers, "before", b"1") == 0
        full_disk.fill()
        assert create(servers, "meanwhile") == Errors.KAFKA_STORAGE_ERROR.code
        full_disk.make_room()
        assert create(servers, "meanwhile") == 0
        assert first_record(servers, "group", "before") == b"1"


def test_missing_logs_are_reported_and_created_once_there_is_space(full_disk: FullDisk) -> None:
    with Cluster() as cluster:
        servers = cluster.bootstrap_servers
        full_disk.fill()
        assert create(servers, "orders") == Errors.KAFKA_STORAGE_ERROR.code
        assert produce(servers, "orders", b"1", **{"message.timeout.ms": 1000}) != 0
        full_disk.make_room()
        cluster.time.advance(seconds=10)
        assert produce(servers, "orders", b"1") == 0
        assert first_record(servers, "group", "orders") == b"1"


def test_a_zookeeper_client_waits_for_space_unless_told_not_to(
    tmp_path: Path, full_disk: FullDisk, no_reserve: None
) -> None:
    with EmbeddedZooKeeper(tmp_path) as server:
        client = ZooKeeperClient(server.connect_string, 60_000, 60_000)
        client.connect()
        full_disk.fill()
        with client.refusing_without_room(), pytest.raises(ZkStorageError):
            client.create("/a", b"")
        writer = threading.Thread(target=client.create, args=("/a", b""))
        writer.start()
        assert client.exists("/a") is None
        full_disk.make_room()
        writer.join(patient_s(60))
        assert client.exists("/a") is not None
        client.close()


def test_a_broker_stops_while_its_controller_waits_for_space(
    full_disk: FullDisk, no_reserve: None, caplog: pytest.LogCaptureFixture
) -> None:
    with Cluster() as cluster:
        server = cluster.server
        full_disk.fill()
        server.controller._enqueue("Write", lambda: server.zk_client.zookeeper.set_or_create("/a", b""))
        eventually(lambda: "ZooKeeper refuses writes" in caplog.text)
        cluster.stop()
    assert "Error processing controller event" not in caplog.text


def test_a_start_on_a_full_disk_names_the_folder_and_ends(small_disk: SmallDisk, tmp_path: Path) -> None:
    logs = small_disk.directory / "logs"
    broker = BrokerProcess(tmp_path, {"log.dirs": str(logs)})
    broker.start()
    assert broker.stop() == 0
    small_disk.fill()
    with pytest.raises(BrokerStartError, match="ended with exit code 1") as raised:
        broker.start()
    assert f"No space left on device: {logs}-zookeeper. The disk is full: free some space there" in str(raised.value)
    assert "Traceback" not in broker.log()
    small_disk.make_room()
    with broker:
        assert create(broker.bootstrap_servers, "after") == 0


def test_a_killed_broker_does_not_start_on_a_full_disk_and_recovers_once_there_is_space(
    small_disk: SmallDisk, tmp_path: Path
) -> None:
    """Its indexes are sparse files; touching a mapped page without disk space would kill the process."""
    logs = small_disk.directory / "logs"
    broker = BrokerProcess(tmp_path, {"log.dirs": str(logs), "zookeeper.embedded.dir": str(tmp_path / "zookeeper")})
    broker.start()
    assert create(broker.bootstrap_servers, "orders") == 0
    assert produce(broker.bootstrap_servers, "orders", b"1") == 0
    small_disk.fill()
    broker.kill()
    with pytest.raises(BrokerStartError, match="ended with exit code 1") as raised:
        broker.start()
    assert f"No space left on device: {logs}. The disk is full" in str(raised.value)
    small_disk.make_room()
    with broker:
        assert first_record(broker.bootstrap_servers, "group", "orders") == b"1"


@pytest.mark.soak
def test_a_broker_survives_a_really_full_disk(small_disk: SmallDisk, tmp_path: Path) -> None:
    settings = {"log.dirs": str(small_disk.directory / "logs"), "offsets.topic.num.partitions": "2"}
    with BrokerProcess(tmp_path, settings) as broker:
        servers = broker.bootstrap_servers
        assert create(servers, "before") == 0
        assert produce(servers, "before", b"1") == 0
        small_disk.fill()
        turns = itertools.count()

        def is_refused() -> bool:
            topics = [f"full-{turn}-{n}" for turn in [next(turns)] for n in range(20)]
            return create(servers, *topics, timeout_s=2) == Errors.KAFKA_STORAGE_ERROR.code

        eventually(is_refused)
        small_disk.make_room()
        eventually(lambda: create(servers, f"after-{len(broker.log())}") == 0)
        assert first_record(servers, "group", "before") == b"1"
        assert produce(servers, "before", b"2") == 0
        for topic in ("full-0-0", "full-0-19"):  # existing partitions have their logs, the others get them now
            eventually(lambda topic=topic: produce(servers, topic, b"3") == 0)
        assert broker.stop() == 0
        assert broker.log().count("ZooKeeper refuses writes") <= 4
        assert "Traceback" not in broker.log()
