"""Connect's worker and stores against a broker: a file through a topic into a file, and two stores on one topic."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from kafka_lite.connect.json.json_converter import JsonConverter
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.distributed_config import DistributedConfig
from kafka_lite.connect.runtime.standalone.standalone_config import StandaloneConfig
from kafka_lite.connect.runtime.standalone.standalone_herder import StandaloneHerder
from kafka_lite.connect.runtime.status import State, TaskStatus
from kafka_lite.connect.runtime.storage.file_offset_backing_store import FileOffsetBackingStore
from kafka_lite.connect.runtime.storage.kafka_based_log import KafkaBasedLog
from kafka_lite.connect.runtime.storage.kafka_config_backing_store import KafkaConfigBackingStore
from kafka_lite.connect.runtime.storage.kafka_offset_backing_store import KafkaOffsetBackingStore
from kafka_lite.connect.runtime.storage.kafka_status_backing_store import KafkaStatusBackingStore
from kafka_lite.connect.runtime.worker import Worker
from kafka_lite.testing.cluster import Cluster
from tests.support.connect_sql import Database
from tests.support.eventually import eventually
from tests.support.patience import patient_s

JSON = "org.apache.kafka.connect.json.JsonConverter"
CONVERTERS = {
    "key.converter": JSON,
    "value.converter": JSON,
    "internal.key.converter": JSON,
    "internal.value.converter": JSON,
    "internal.key.converter.schemas.enable": "false",
    "internal.value.converter.schemas.enable": "false",
    "offset.flush.interval.ms": "100",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0}) as running:
        yield running


def _start(cluster: Cluster, folder: Path) -> StandaloneHerder:
    offsets = folder / "connect.offsets"
    props = {"bootstrap.servers": cluster.bootstrap_servers, "offset.storage.file.filename": str(offsets)} | CONVERTERS
    worker = Worker("127.0.0.1:8083", StandaloneConfig(props), FileOffsetBackingStore(offsets))
    herder = StandaloneHerder(worker)
    herder.start()
    for kind, topics in (("Source", "topic"), ("Sink", "topics")):
        config = {
            "name": kind,
            "connector.class": f"FileStream{kind}",
            "file": str(folder / f"{kind}.txt"),
            topics: "connect-test",
        }
        herder.put_connector_config(kind, config, allow_replace=False).result(0)
    return herder


def test_a_file_through_a_topic_into_a_file(cluster: Cluster, tmp_path: Path) -> None:
    cluster.create_topic("connect-test", 1)
    source, sink = tmp_path / "Source.txt", tmp_path / "Sink.txt"
    source.write_text("eins\nzwei\n")
    herder = _start(cluster, tmp_path)
    try:
        eventually(lambda: sink.exists() and sink.read_text() == "eins\nzwei\n")
        assert cluster.records("connect-test")[0].key == b'{"schema":null,"payload":null}'
        herder.pause_connector("Sink")
        eventually(lambda: herder.task_status(ConnectorTaskId("Sink", 0)).state is State.PAUSED)
        herder.resume_connector("Sink")
        with source.open("a", encoding="utf-8") as more:
            more.write("fünf\n")
        eventually(lambda: sink.read_text(encoding="utf-8") == "eins\nzwei\nfünf\n")
    finally:
        herder.stop()
    with source.open("a") as more:
        more.write("sechs\n")
    again = _start(cluster, tmp_path)  # continues at both stored positions
    try:
        eventually(lambda: sink.read_text(encoding="utf-8").endswith("sechs\n"))
    finally:
        again.stop()
    assert sink.read_text(encoding="utf-8") == "eins\nzwei\nfünf\nsechs\n"


def test_records_that_cannot_be_read_go_to_a_dead_letter_queue(cluster: Cluster, tmp_path: Path) -> None:
    cluster.create_topic("mixed", 1)
    cluster.produce("mixed", '{"schema":null,"payload":"good"}', "{ bad", key="k")
    offsets, sink = tmp_path / "connect.offsets", tmp_path / "sink.txt"
    props = {"bootstrap.servers": cluster.bootstrap_servers, "offset.storage.file.filename": str(offsets)} | CONVERTERS
    herder = StandaloneHerder(Worker("w:1", StandaloneConfig(props), FileOffsetBackingStore(offsets)))
    config = {
        "name": "sink",
        "connector.class": "FileStreamSink",
        "topics": "mixed",
        "file": str(sink),
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": "dead-letters",
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    herder.start()
    try:
        herder.put_connector_config("sink", config, allow_replace=False).result(0)
        eventually(lambda: sink.exists() and sink.read_text() == "good\n")
        eventually(lambda: len(cluster.records("dead-letters")) == 1)
        assert herder.task_status(ConnectorTaskId("sink", 0)).state is State.RUNNING
    finally:
        herder.stop()
    (dead,) = cluster.records("dead-letters")
    assert (dead.key, dead.value) == (b"k", b"{ bad")
    headers = dict(dead.headers)
    assert headers["__connect.errors.topic"] == b"mixed"
    assert headers["__connect.errors.offset"] == b"1"
    assert headers["__connect.errors.stage"] == b"VALUE_CONVERTER"
    assert headers["__connect.errors.exception.class.name"] == b"org.apache.kafka.connect.errors.DataException"


def _copies_orders(cluster: Cluster, folder: Path, url: str) -> StandaloneHerder:
    """A worker with a table as source and Parquet files as sink."""
    offsets = folder / "orders.offsets"
    props = {"bootstrap.servers": cluster.bootstrap_servers, "offset.storage.file.filename": str(offsets)} | CONVERTERS
    herder = StandaloneHerder(Worker("w:1", StandaloneConfig(props), FileOffsetBackingStore(offsets)))
    herder.start()
    source = {
        "name": "shop", "connector.class": "SqlSource", "connection.url": url, "mode": "incrementing",
        "topic.prefix": "shop-", "poll.interval.ms": "50", "table.poll.interval.ms": "50", "tasks.max": "2",
    }  # fmt: skip
    sink = {
        "name": "files", "connector.class": "ParquetSink", "topics": "shop-orders", "store.url": str(folder / "lake"),
        "flush.size": "2", "rotate.interval.ms": "100",
    }  # fmt: skip
    for config in (source, sink):
        herder.put_connector_config(config["name"], config, allow_replace=False).result(0)
    return herder


def test_a_table_through_a_topic_into_parquet_files(cluster: Cluster, tmp_path: Path) -> None:
    cluster.create_topic("shop-orders", 1)
    database = Database(tmp_path / "shop.db")
    files = tmp_path / "lake" / "topics"

    def ids() -> list[int]:
        return sorted(row["id"] for file in files.rglob("*.parquet") for row in pq.ParquetFile(file).read().to_pylist())

    def insert(*numbers: int) -> None:
        database.run(*(f"INSERT INTO orders VALUES ({number}, 'tea')" for number in numbers))

    herder = _copies_orders(cluster, tmp_path, database.url)
    try:
        database.run("CREATE TABLE orders (id INTEGER PRIMARY KEY, what TEXT)")  # is found while the worker runs
        insert(1, 2, 3)
        eventually(lambda: ids() == [1, 2, 3])
    finally:
        herder.stop()
    insert(4, 5)
    herder = _copies_orders(cluster, tmp_path, database.url)
    try:
        eventually(lambda: ids() == [1, 2, 3, 4, 5])  # each of them once
        database.run("DROP TABLE orders")
        eventually(lambda: herder.task_configs("shop").result(0) == [])
        assert herder.connector_status("files").connector.state is State.RUNNING
    finally:
        herder.stop()
        database.close()


def test_two_workers_read_what_each_other_stores(cluster: Cluster) -> None:
    topics = {name: f"connect-{name}s" for name in ("offset", "config", "status")}
    for topic in topics.values():
        cluster.create_topic(topic, 1)
    props = {f"{name}.storage.topic": topic for name, topic in topics.items()}
    config = DistributedConfig(
        props | CONVERTERS | {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "connect-cluster"}
    )
    converter = JsonConverter()
    converter.configure({"schemas.enable": "false"}, False)

    def log(name: str, retries: int = 0x7FFFFFFF) -> Any:
        return partial(KafkaBasedLog, topics[name], config.internal_producer(retries), config.internal_consumer())

    configs = [KafkaConfigBackingStore(topics["config"], converter, log("config")) for _ in range(2)]
    statuses = [KafkaStatusBackingStore(topics["status"], converter, log("status", 0)) for _ in range(2)]
    offsets = [KafkaOffsetBackingStore(log("offset")) for _ in range(2)]
    stores: list[Any] = [*configs, *statuses, *offsets]
    try:
        for store in stores:
            store.start()
        configs[0].put_connector_config("a", {"name": "a"})
        configs[0].put_task_configs("a", [{"n": "0"}])
        configs[1].refresh(10_000)
        assert configs[1].snapshot() == configs[0].snapshot()
        task = ConnectorTaskId("a", 0)
        assert configs[1].snapshot().tasks("a") == [task]

        statuses[0].put(TaskStatus(task, State.RUNNING, "w:1", 1))
        eventually(lambda: statuses[1].task(task) == TaskStatus(task, State.RUNNING, "w:1", 1))
        offsets[0].set({b"k": b"v"}).result(patient_s(10))
        assert offsets[1].get([b"k"]).result(patient_s(10)) == {b"k": b"v"}
    finally:
        for store in stores:
            store.stop()
