"""The scenarios of Kafka's own system tests of Connect, in one process.

Kafka 0.10.2 and 3.9: tests/kafkatest/tests/connect/connect_distributed_test.py. (connect_rest_test.py is in
``test_connect_cluster``, connect_test.py in ``test_connect``.)
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kafka_lite.connect.api.sink_connector import SinkConnector
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.api.sink_task import SinkTask
from kafka_lite.connect.api.source_connector import SourceConnector
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.api.source_task import SourceTask
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.verifiable import verifiable_sink_task, verifiable_source_task
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.connect.connect_cluster import ConnectCluster
from tests.support.eventually import eventually

PROPS = {"session.timeout.ms": 2000, "consumer.session.timeout.ms": 2000, "offset.flush.interval.ms": 200}
TASKS = 2


def long(test: Any) -> Any:
    """Bounces of all workers take seconds each. ``test_connect_cluster`` kills a worker in every run."""
    return pytest.mark.soak(pytest.mark.nightly(test))


@pytest.fixture(scope="module")
def connect() -> Iterator[ConnectCluster]:
    with (
        Cluster({"group.min.session.timeout.ms": 1000, "group.initial.rebalance.delay.ms": 0}) as cluster,
        ConnectCluster(cluster, workers=2, props=PROPS) as connect,
    ):
        yield connect


@pytest.fixture(autouse=True)
def _no_connectors(connect: ConnectCluster) -> Iterator[None]:
    yield
    Broken.parts.clear()
    for name in connect.connectors():
        connect.delete_connector(name)
        connect.await_no_status(name)


# ── restarts of what has failed ───────────────────────────────────────────────────────────────────────────────────────


class Broken:
    """What fails, as in Kafka's MockSource and MockSink: ``connector`` or ``task``."""

    parts: ClassVar[set[str]] = set()

    def start(self, props: Mapping[str, str]) -> None:
        part = "task" if isinstance(self, Task) else "connector"
        if part in self.parts:
            raise ValueError(f"the {part} is to fail")

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{} for _ in range(max_tasks)]


class MockSource(Broken, SourceConnector):  # type: ignore[misc]
    def task_class(self) -> type[Task]:
        return MockSourceTask


class MockSourceTask(Broken, SourceTask):  # type: ignore[misc]
    """Waits: a ``poll`` that returns nothing at once is called again at once, and would take the whole processor."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def poll(self) -> Sequence[SourceRecord] | None:
        self._stopped.wait(10)
        return None


class MockSink(Broken, SinkConnector):  # type: ignore[misc]
    def task_class(self) -> type[Task]:
        return MockSinkTask


class MockSinkTask(Broken, SinkTask):  # type: ignore[misc]
    def put(self, records: Sequence[SinkRecord]) -> None:
        pass

    def stop(self) -> None:
        pass


@pytest.mark.parametrize("kind", [MockSource, MockSink])
def test_restart_failed_connector_and_task(connect: ConnectCluster, kind: type) -> None:
    name = kind.__name__  # one name for both would begin with the tasks of the other
    Broken.parts.update({"connector", "task"})
    connect.put_connector(name, {"connector.class": f"{__name__}.{name}", "topics": "t", "tasks.max": 1})
    eventually(lambda: _states(connect, name) == ["FAILED"])
    Broken.parts.discard("connector")
    connect.restart_connector(name)
    eventually(lambda: _states(connect, name) == ["RUNNING", "FAILED"])
    status = connect.status(name)
    assert status is not None
    assert "ValueError: the task is to fail" in status["tasks"][0]["trace"]
    Broken.parts.clear()
    connect.restart_task(name, 0)
    connect.await_running(name, tasks=1)


def _states(connect: ConnectCluster, name: str) -> list[str]:
    """Of the connector, then of its tasks."""
    status = connect.status(name)
    return [] if status is None else [status["connector"]["state"], *(task["state"] for task in status["tasks"])]


# ── verifiable source and sink ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the verifiable connectors print."""
    printed: list[dict[str, Any]] = []
    for module in (verifiable_source_task, verifiable_sink_task):
        monkeypatch.setattr(module, "print_line", lambda data: printed.append(dict(data)))
    return printed


def _source(connect: ConnectCluster, topic: str, tasks: int = TASKS) -> None:
    config = {"connector.class": "VerifiableSource", "topic": topic, "throughput": 100, "tasks.max": tasks}
    connect.put_connector(f"{topic}-source", config)


def _sink(connect: ConnectCluster, topic: str, tasks: int = TASKS) -> None:
    config = {"connector.class": "VerifiableSink", "topics.regex": f"{topic}|none", "tasks.max": tasks}
    connect.put_connector(f"{topic}-sink", config)


def _committed(lines: Sequence[Mapping[str, Any]], topic: str) -> list[tuple[int, int]]:
    """Task and number of the records that the source knows to be in the topic."""
    return [(line["task"], line["seqno"]) for line in list(lines) if line["topic"] == topic and line.get("committed")]


def _flushed(lines: Sequence[Mapping[str, Any]], topic: str) -> list[tuple[int, int]]:
    """Task and number of the records that the sink has flushed."""
    return [(line["task"], line["seqno"]) for line in list(lines) if line["topic"] == topic and line.get("flushed")]


def test_pause_and_resume_source(connect: ConnectCluster, lines: list[dict[str, Any]]) -> None:
    connect.cluster.create_topic("paused", 2)
    _source(connect, "paused", tasks=1)
    eventually(lambda: len(_committed(lines, "paused")) > 5)
    connect.pause_connector("paused-source")
    connect.await_state("paused-source", "PAUSED", tasks=1)
    count = len(connect.cluster.records("paused"))
    assert {
        worker.request("GET", "/connectors/paused-source/status")["tasks"][0]["state"] for worker in connect.workers
    } == {"PAUSED"}
    connect.resume_connector("paused-source")
    connect.await_running("paused-source", tasks=1)
    eventually(lambda: len(connect.cluster.records("paused")) > count)
    numbers = [number for _, number in _committed(lines, "paused")]
    assert numbers == list(range(len(numbers)))  # it has continued where it was


def test_pause_and_resume_sink(connect: ConnectCluster, lines: list[dict[str, Any]]) -> None:
    connect.cluster.create_topic("held", 1)
    _source(connect, "held", tasks=1)
    _sink(connect, "held", tasks=1)
    eventually(lambda: len(_flushed(lines, "held")) > 5)
    connect.pause_connector("held-sink")
    connect.await_state("held-sink", "PAUSED", tasks=1)
    received = sum("sinkTask" in line for line in list(lines))
    written = len(_committed(lines, "held"))
    eventually(lambda: len(_committed(lines, "held")) > written + 5)
    assert sum("sinkTask" in line and not line.get("flushed") for line in list(lines)) <= received
    connect.resume_connector("held-sink")
    eventually(lambda: len(_flushed(lines, "held")) > written + 5)
    connect.stop_connector("held-source")
    eventually(lambda: set(_flushed(lines, "held")) == set(_committed(lines, "held")))


@long
def test_state_and_files_survive_a_bounce_of_all_workers(connect: ConnectCluster, tmp_path: Path) -> None:
    connect.cluster.create_topic("files", 1)
    source, sink = tmp_path / "source.txt", tmp_path / "sink.txt"
    source.write_text("eins\n")
    connect.put_connector("in", {"connector.class": "FileStreamSource", "file": source, "topic": "files"})
    connect.put_connector("out", {"connector.class": "FileStreamSink", "file": sink, "topics": "files"})
    connect.put_connector("waits", {"connector.class": f"{__name__}.MockSource"})
    eventually(lambda: sink.exists() and sink.read_text() == "eins\n")
    connect.pause_connector("waits")
    connect.await_state("waits", "PAUSED", tasks=1)
    for worker in connect.workers:
        worker.stop()
    with source.open("a") as more:
        more.write("zwei\n")
    for worker in connect.workers:
        worker.start()
    eventually(lambda: sink.read_text() == "eins\nzwei\n")
    connect.await_state("waits", "PAUSED", tasks=1)
    connect.resume_connector("waits")
    connect.await_running("waits", tasks=1)


@long
@pytest.mark.parametrize("clean", [True, False], ids=["clean", "hard"])
def test_bounce(connect: ConnectCluster, lines: list[dict[str, Any]], clean: bool) -> None:
    topic = f"bounce-{'clean' if clean else 'hard'}"
    connect.cluster.create_topic(topic, 3)
    _source(connect, topic)
    _sink(connect, topic)
    for worker in connect.workers[: len(connect.workers) if clean else 1]:
        so_far = len(_flushed(lines, topic))
        eventually(lambda so_far=so_far: len(_flushed(lines, topic)) > so_far + 20)  # type: ignore[misc]
        worker.stop() if clean else worker.kill()
        worker.start()
        connect.await_running(f"{topic}-source", tasks=TASKS)
        connect.await_running(f"{topic}-sink", tasks=TASKS)
    connect.stop_connector(f"{topic}-source")
    connect.await_state(f"{topic}-source", "STOPPED", tasks=0)
    written = {_payloads(record.key, record.value) for record in connect.cluster.records(topic)}
    eventually(lambda: set(_flushed(lines, topic)) >= written)
    for task in range(TASKS):
        numbers = sorted(number for each, number in written if each == task)
        assert numbers == list(range(len(numbers)))  # none is missing
    assert set(_flushed(lines, topic)) == written >= set(_committed(lines, topic))
    if clean:
        assert max(Counter(_committed(lines, topic)).values()) == 1
        assert max(Counter(_flushed(lines, topic)).values()) == 1


def _payloads(key: bytes | None, value: bytes | None) -> tuple[int, int]:
    """The source's task, and the number."""
    assert key is not None
    assert value is not None
    return json.loads(key)["payload"], json.loads(value)["payload"]


def test_transformations(connect: ConnectCluster, tmp_path: Path) -> None:
    connect.cluster.create_topic("changed", 1)
    source = tmp_path / "source.txt"
    source.write_text("eins\nzwei\n")
    name = "org.apache.kafka.connect.transforms"
    connect.put_connector("in", {
        "connector.class": "FileStreamSource", "file": source, "topic": "changed",
        "transforms": "hoistToStruct,insertTimestampField",
        "transforms.hoistToStruct.type": f"{name}.HoistField$Value",
        "transforms.hoistToStruct.field": "content",
        "transforms.insertTimestampField.type": f"{name}.InsertField$Value",
        "transforms.insertTimestampField.timestamp.field": "ts",
    })  # fmt: skip
    eventually(lambda: len(connect.cluster.records("changed")) == 2)
    for record, line in zip(connect.cluster.records("changed"), ("eins", "zwei"), strict=True):
        value = json.loads(record.value or b"")
        assert [field["field"] for field in value["schema"]["fields"]] == ["content", "ts"]
        assert value["payload"]["content"] == line
        assert value["payload"]["ts"] == record.timestamp_ms
