"""A worker of Kafka 0.10.2.2 or 3.9.1 and one of ours in one group: they share connectors, and either may lead."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.connect.connect_cluster import ConnectCluster
from tests.support.eventually import eventually
from tests.support.java_connect import JARS, JavaWorker

pytestmark = [pytest.mark.jvm, pytest.mark.soak]

FILE = "org.apache.kafka.connect.file.FileStream"


@pytest.fixture
def connect() -> Iterator[ConnectCluster]:
    with Cluster({"group.min.session.timeout.ms": 1000}) as cluster, ConnectCluster(cluster, workers=1) as connect:
        cluster.create_topic("lines", 2)
        yield connect


def _owners(connect: ConnectCluster, *names: str) -> set[str]:
    statuses = [status for name in names if (status := connect.status(name)) is not None]
    reports = [each for status in statuses for each in (status["connector"], *status["tasks"])]
    return {each["worker_id"] for each in reports if each["state"] == "RUNNING"}


def _run(connect: ConnectCluster, tasks: dict[str, int]) -> bool:
    """Whether all of these run, wherever."""
    for name, count in tasks.items():
        status = connect.status(name)
        states = [] if status is None else [status["connector"]["state"], *(each["state"] for each in status["tasks"])]
        if states != ["RUNNING"] * (1 + count):
            return False
    return True


@pytest.mark.parametrize("version", list(JARS))
def test_workers_of_two_languages_share_connectors(connect: ConnectCluster, tmp_path: Path, version: str) -> None:
    source, sink = tmp_path / "source.txt", tmp_path / "sink.txt"
    source.write_text("eins\n")
    tasks = {"source": 1, "sink": 2}
    with JavaWorker(version, connect.cluster.bootstrap_servers, tmp_path) as java:
        ours = connect.workers[0]
        eventually(lambda: java.ask("GET", "/connectors") == (200, []), timeout_s=120)
        created = java.ask(
            "POST",
            "/connectors",
            {
                "name": "source",
                "config": {"connector.class": f"{FILE}SourceConnector", "file": str(source), "topic": "lines"},
            },
        )
        assert created[0] == 201, created
        connect.put_connector(
            "sink",
            {"connector.class": f"{FILE}SinkConnector", "file": sink, "topics": "lines", "tasks.max": 2},
        )
        eventually(
            lambda: _run(connect, tasks), lambda: (connect.status("source"), connect.status("sink")), timeout_s=120
        )
        # A worker of another version may want other task configurations than the one before: then all move once more.
        eventually(lambda: _owners(connect, *tasks) == {java.id, ours.id} and _run(connect, tasks), timeout_s=120)
        eventually(lambda: sink.exists() and "eins" in sink.read_text())
        _ask_each_for_all(connect, java)

        java.kill()
        with source.open("a") as more:
            more.write("zwei\n")
        eventually(lambda: _owners(connect, *tasks) == {ours.id} and _run(connect, tasks), timeout_s=120)
        eventually(lambda: "zwei" in sink.read_text().split(), timeout_s=120)

        java.start()
        eventually(lambda: _owners(connect, *tasks) == {java.id, ours.id} and _run(connect, tasks), timeout_s=120)
        ours.stop()
        with source.open("a") as more:
            more.write("drei\n")
        eventually(lambda: "drei" in sink.read_text().split(), lambda: java.log_file.read_text()[-3000:], timeout_s=120)
    assert set(sink.read_text().split()) == {"eins", "zwei", "drei"}


def _ask_each_for_all(connect: ConnectCluster, java: JavaWorker) -> None:
    """Whoever leads and whoever runs it, each worker can restart and change everything."""
    for path in ("/connectors/source/restart", "/connectors/source/tasks/0/restart", "/connectors/sink/restart",
                 "/connectors/sink/tasks/0/restart", "/connectors/sink/tasks/1/restart"):  # fmt: skip
        assert connect.request("POST", path) is None
        assert java.ask("POST", path) == (204, None), path
    config = connect.request("GET", "/connectors/sink/config")
    assert java.ask("GET", "/connectors/sink/config") == (200, config)
    assert java.ask("PUT", "/connectors/sink/config", config)[0] == 200
    assert connect.request("PUT", "/connectors/sink/config", config)["config"] == config
    assert java.ask("DELETE", "/connectors/none") == (404, {"error_code": 404, "message": "Connector none not found"})
    for path in ("/connectors/source/status", "/connectors/sink/tasks", "/connectors/sink"):
        eventually(lambda path=path: java.ask("GET", path)[1] == connect.request("GET", path))  # type: ignore[misc]


@pytest.mark.nightly
def test_a_worker_of_0_10_2_takes_a_stopped_connector_for_a_paused_one(connect: ConnectCluster, tmp_path: Path) -> None:
    """It knows neither the state STOPPED, for which its record has PAUSED, too, nor a request to restart tasks.

    Each worker runs one of the two connectors. Ours leads: a worker of 0.10.2 could not stop a connector.
    """
    files = {name: tmp_path / f"{name}.txt" for name in ("a", "b")}
    with JavaWorker("0.10.2.2", connect.cluster.bootstrap_servers, tmp_path) as java:
        ours = connect.workers[0]
        eventually(lambda: java.ask("GET", "/connectors") == (200, []), timeout_s=120)
        for name, file in files.items():
            file.write_text(f"{name}1\n")
            config = {"connector.class": f"{FILE}SourceConnector", "file": file, "topic": "lines"}
            connect.put_connector(name, config)
        both = dict.fromkeys(files, 1)
        _await_both(connect, {java.id, ours.id})
        eventually(lambda: _lines(connect) == ["a1", "b1"])

        for name in files:
            connect.restart_connector(name, include_tasks=True)
        eventually(lambda: _run(connect, both), timeout_s=120)  # Java's parts have run all the time

        for name in files:
            connect.stop_connector(name)
        eventually(lambda: _stopped(connect) == {(ours.id, "STOPPED", 0), (java.id, "PAUSED", 0)}, timeout_s=120)
        assert [java.ask("GET", f"/connectors/{name}/tasks") for name in files] == [(200, [])] * 2
        for name, file in files.items():
            with file.open("a") as more:
                more.write(f"{name}2\n")
        assert java.ask("PUT", "/connectors/a/resume") == (202, None)
        connect.resume_connector("b")
        _await_both(connect, {java.id, ours.id})
        eventually(lambda: {"a2", "b2"} <= set(_lines(connect)), timeout_s=120)

        for name in files:
            connect.stop_connector(name)
        eventually(lambda: _stopped(connect) == {(ours.id, "STOPPED", 0), (java.id, "PAUSED", 0)}, timeout_s=120)
        java.kill()
        eventually(lambda: _stopped(connect) == {(ours.id, "STOPPED", 0)}, timeout_s=120)


def _await_both(connect: ConnectCluster, workers: set[str]) -> None:
    """Wait until connectors a and b and their tasks run, some of them on each worker."""
    both = {"a": 1, "b": 1}
    eventually(lambda: _run(connect, both) and _owners(connect, *both) == workers, timeout_s=120)


def _stopped(connect: ConnectCluster) -> set[tuple[str, str, int]]:
    """Of both connectors: worker, state, and how many tasks have a status."""
    statuses = [status for name in ("a", "b") if (status := connect.status(name)) is not None]
    return {(each["connector"]["worker_id"], each["connector"]["state"], len(each["tasks"])) for each in statuses}


def _lines(connect: ConnectCluster) -> list[str]:
    return sorted(json.loads(record.value or b"{}")["payload"] for record in connect.cluster.records("lines"))
