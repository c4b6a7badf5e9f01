"""What is wrong with one connector of a group gets Kafka's answer or a status that says why. The others go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.connect.connect_cluster import ConnectCluster
from kafka_lite.testing.connect.connect_worker import RestError
from tests.support.connect_plugins import IdleSourceConnector, IdleSourceTask
from tests.support.eventually import eventually

PLUGINS = "tests.support.connect_plugins"
GRACE_MS = 500


class Blocks(IdleSourceConnector):
    """Its task does not stop when it is told to."""

    def task_class(self) -> type[BlocksTask]:
        return BlocksTask


class BlocksTask(IdleSourceTask):
    def stop(self) -> None:
        time.sleep(8 * GRACE_MS / 1000)
        super().stop()


@pytest.fixture(scope="module")
def connect() -> Iterator[ConnectCluster]:
    props = {
        "task.shutdown.graceful.timeout.ms": GRACE_MS,
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }
    with Cluster() as cluster, ConnectCluster(cluster, workers=2, props=props) as connect:
        cluster.create_topic("lines", 2)
        yield connect


@pytest.fixture(autouse=True)
def _others_go_on(connect: ConnectCluster, tmp_path: Path) -> Iterator[None]:
    """Beside each test a connector copies a line before, and one after what goes wrong."""
    file = tmp_path / "good.txt"
    file.write_text("before\n")
    before = len(connect.cluster.records("lines"))
    connect.put_connector("good", {"connector.class": "FileStreamSource", "file": file, "topic": "lines"})
    eventually(lambda: len(connect.cluster.records("lines")) > before)
    yield
    with file.open("a") as more:
        more.write("after\n")
    eventually(lambda: any(b"after" in (record.value or b"") for record in connect.cluster.records("lines")[before:]))
    connect.await_running("good", tasks=1)
    for name in connect.connectors():
        connect.delete_connector(name)
        connect.await_no_status(name)


def _trace(connect: ConnectCluster, name: str, *, of_task: bool) -> str:
    """Why a connector or its only task has failed; empty if it has not."""
    status = connect.status(name) or {"connector": {}, "tasks": []}
    reports: list[dict[str, Any]] = status["tasks"] if of_task else [status["connector"]]
    return "".join(str(each.get("trace")) for each in reports if each.get("state") == "FAILED")


@pytest.mark.parametrize(
    ("config", "status", "message"),
    [
        ({"connector.class": "no.such.Connector"}, 500, "Failed to find any class that implements Connector"),
        ({}, 400, "contains no connector type"),
        ({"connector.class": "FileStreamSource", "topic": "lines"}, 400, 'Missing required configuration "file"'),
        ({"connector.class": "FileStreamSource", "topic": "lines", "file": "f", "tasks.max": "none"}, 400, "tasks.max"),
        ({"connector.class": "FileStreamSink", "file": "f", "topics": "a", "topics.regex": "b"}, 400, "exclusive"),
        ({"connector.class": f"{PLUGINS}.IdleSourceTask"}, 500, "Connector"),
        ({"connector.class": "FileStreamSource", "topic": "lines", "file": "${file:/none:key}"}, 400, "/none"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused(
    connect: ConnectCluster, config: dict[str, str], status: int, message: str
) -> None:
    with pytest.raises(RestError, match=message) as refused:
        connect.put_connector("bad", config)
    assert refused.value.status == status
    assert connect.connectors() == ["good"]


def test_a_start_that_raises_is_a_status_with_its_trace(connect: ConnectCluster) -> None:
    connect.put_connector("bad", {"connector.class": f"{PLUGINS}.IdleSourceConnector", "count": 1, "fails": "start"})
    eventually(lambda: "ValueError: start fails" in _trace(connect, "bad", of_task=False))


def test_a_connector_that_cannot_name_its_tasks_has_none(connect: ConnectCluster) -> None:
    config = {"connector.class": f"{PLUGINS}.IdleSourceConnector", "count": 1, "fails": "task_configs"}
    connect.put_connector("bad", config)
    connect.await_state("bad", "RUNNING", tasks=0)
    connect.put_connector("bad", config | {"fails": ""})  # it is asked again and again
    connect.await_running("bad", tasks=1)


def test_a_task_that_blocks_in_stop_is_abandoned(connect: ConnectCluster) -> None:
    """Each rebalance stops all tasks: it goes on after the time that the worker gives them."""
    connect.put_connector("bad", {"connector.class": f"{__name__}.Blocks", "count": 1})
    connect.await_running("bad", tasks=1)
    connect.put_connector("more", {"connector.class": f"{PLUGINS}.IdleSourceConnector", "count": 1})
    connect.await_running("more", tasks=1)
    connect.await_running("bad", tasks=1)


def _no_json(connect: ConnectCluster) -> dict[str, object]:
    connect.cluster.create_topic("no-json", 1)
    connect.cluster.produce("no-json", b"{ no JSON")
    return {"topics": "no-json", "file": "/dev/null"}


def _no_folder(_: ConnectCluster) -> dict[str, object]:
    return {"topics": "lines", "file": "/no/such/folder/lines.txt"}


@pytest.mark.parametrize(
    ("prepare", "trace"),
    [(_no_json, "Converting byte[] to Kafka Connect data failed"), (_no_folder, "/no/such/folder")],
)
def test_a_sink_that_cannot_go_on_has_failed_and_says_why(
    connect: ConnectCluster, prepare: Callable[[ConnectCluster], dict[str, object]], trace: str
) -> None:
    connect.put_connector("bad", {"connector.class": "FileStreamSink", **prepare(connect)})
    eventually(lambda: trace in _trace(connect, "bad", of_task=True), lambda: connect.status("bad"))


def test_what_a_full_disk_does_not_take_is_not_committed(connect: ConnectCluster) -> None:
    """The sink is given the records again and again. Nothing counts as read."""
    connect.put_connector("bad", {"connector.class": "FileStreamSink", "topics": "lines", "file": "/dev/full"})
    connect.await_running("bad", tasks=1)
    eventually(lambda: connect.request("GET", "/connectors/bad/topics") == {"bad": {"topics": ["lines"]}})
    time.sleep(1.5)  # three intervals of commits
    offsets = connect.request("GET", "/connectors/bad/offsets")["offsets"]
    assert all(each["offset"]["kafka_offset"] == 0 for each in offsets), offsets
