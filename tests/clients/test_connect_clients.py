"""Clients of Connect's REST interface from PyPI, beside our workers: kafka-connect-py, and a health check."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from kafka_connect import KafkaConnect
from requests.exceptions import HTTPError as RefusedError

from kafka_lite.server.broker_process import ServerProcess, free_port
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.connect.connect_cluster import ConnectCluster
from tests.support.eventually import eventually

pytestmark = pytest.mark.soak

SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
COMMANDS = Path(sys.executable).parent


@pytest.fixture(scope="module")
def connect() -> Iterator[ConnectCluster]:
    with Cluster() as cluster, ConnectCluster(cluster, workers=2) as connect:
        cluster.create_topic("lines", 1)
        yield connect


@pytest.fixture
def config(connect: ConnectCluster, tmp_path: Path) -> Iterator[dict[str, str]]:
    """A source of one task, which is deleted after the test."""
    (tmp_path / "lines.txt").write_text("eins\n")
    yield {"connector.class": SOURCE, "file": str(tmp_path / "lines.txt"), "topic": "lines", "tasks.max": "1"}
    for name in connect.connectors():
        connect.delete_connector(name)
        connect.await_no_status(name)


def _url(connect: ConnectCluster, worker: int = 0) -> str:
    return connect.workers[worker].url.rstrip("/")


def test_kafka_connect_py_creates_watches_and_deletes(connect: ConnectCluster, config: dict[str, str]) -> None:
    """Half of the requests go to a worker that does not lead."""
    one, two = (KafkaConnect(url=_url(connect, worker)) for worker in range(2))
    assert one.get_cluster_info()["version"]
    assert SOURCE in {plugin["class"] for plugin in two.list_connector_plugins()}
    assert two.validate_connector_config(SOURCE, {"connector.class": SOURCE})["error_count"] > 0
    assert one.create_connector({"name": "in", "config": config})["config"] == {**config, "name": "in"}
    connect.await_running("in", tasks=1)
    assert one.list_connectors() == two.list_connectors() == ["in"]
    assert two.list_connectors(expand="status")["in"]["status"]["connector"]["state"] == "RUNNING"
    assert two.list_connectors(pattern="i.*", state="RUNNING") == one.list_connectors(pattern="i.*", state="RUNNING")
    assert one.get_connector("in")["tasks"] == [{"connector": "in", "task": 0}]
    assert two.update_connector("in", {**config, "batch.size": "7"})["config"]["batch.size"] == "7"
    assert one.get_connector_config("in")["batch.size"] == "7"
    connect.await_running("in", tasks=1)
    assert [task["id"] for task in two.list_connector_tasks("in")] == [{"connector": "in", "task": 0}]
    assert one.get_connector_task_status("in", 0)["state"] == "RUNNING"
    for client in (one, two):
        eventually(lambda at=client: at.list_connector_topics("in") == {"in": {"topics": ["lines"]}})  # type: ignore[misc]
    two.reset_connector_topics("in")
    eventually(lambda: one.list_connector_topics("in") == {"in": {"topics": []}})
    for client, verb, state, tasks in ((one, "pause", "PAUSED", 1), (two, "resume", "RUNNING", 1),
                                       (one, "stop", "STOPPED", 0), (two, "resume", "RUNNING", 1)):  # fmt: skip
        getattr(client, f"{verb}_connector")("in")
        connect.await_state("in", state, tasks)
    for client in (one, two):
        client.restart_connector_task("in", 0)
        client.restart_connector("in", include_tasks=True)
        connect.await_running("in", tasks=1)
    two.delete_connector("in")
    connect.await_no_status("in")
    with pytest.raises(RefusedError, match="404"):
        one.get_connector_status("in")


def _run(connect: ConnectCluster, *arguments: str) -> str:
    """What the command prints. It ends with 0 in any case, so that its output has to tell."""
    command = [str(COMMANDS / "kafka-connect"), "--url", _url(connect), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_its_command(connect: ConnectCluster, config: dict[str, str]) -> None:
    connect.put_connector("in", config)
    connect.await_running("in", tasks=1)
    assert json.loads(_run(connect, "list")) == ["in"]
    assert json.loads(_run(connect, "status", "in"))["tasks"][0]["state"] == "RUNNING"
    _run(connect, "pause", "in")
    connect.await_state("in", "PAUSED", tasks=1)
    _run(connect, "delete", "in")
    connect.await_no_status("in")
    assert "404" in _run(connect, "status", "in")


def _health(port: int) -> tuple[int, dict[str, Any]]:
    try:
        with urlopen(f"http://127.0.0.1:{port}/") as response:
            return response.status, json.loads(response.read())
    except HTTPError as error:
        return error.code, json.loads(error.read())


def _failures(port: int) -> tuple[int, set[tuple[str, str, str]]]:
    status, found = _health(port)
    return status, {(each["type"], each.get("connector"), each.get("state")) for each in found["failures"]}


def test_the_health_check_finds_what_has_failed(
    connect: ConnectCluster, config: dict[str, str], tmp_path: Path
) -> None:
    port = free_port()
    command = [str(COMMANDS / "kafka-connect-healthcheck"), "--port", str(port), "--connect-url", _url(connect)]
    with ServerProcess(command, port, tmp_path / "healthcheck.log"):
        connect.put_connector("in", config)
        connect.await_running("in", tasks=1)
        status, found = _health(port)
        assert (status, found["healthy"], found["failures"]) == (HTTPStatus.OK, True, [])
        connect.put_connector("out", {"connector.class": "FileStreamSink", "topics": "lines", "file": str(tmp_path)})
        # It may also find a worker that cannot be asked while the group rebalances: there, it names no task.
        eventually(lambda: _failures(port) == (HTTPStatus.SERVICE_UNAVAILABLE, {("task", "out", "FAILED")}))
