"""Workers in one process on a broker: they share connectors and tasks, one is killed, one is held."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.connect.connect_cluster import ConnectCluster
from kafka_lite.testing.connect.connect_worker import ConnectWorker, RestError
from kafka_lite.tools.connect.sink_lags import sink_lags
from tests.support.eventually import eventually
from tests.unit.connect.runtime.rest.test_rest_server import SAMPLE, Client, _answer, _expected

SOON = {"session.timeout.ms": 2000, "consumer.session.timeout.ms": 2000, "metrics.http.port": 0}


@pytest.fixture(scope="module")
def connect() -> Iterator[ConnectCluster]:
    with (
        Cluster({"group.min.session.timeout.ms": 1000}) as cluster,
        ConnectCluster(cluster, workers=2, props=SOON) as connect,
    ):
        cluster.create_topic("lines", 2)
        yield connect


@pytest.fixture(autouse=True)
def _no_connectors(connect: ConnectCluster) -> Iterator[None]:
    """Each test leaves nothing running."""
    yield
    for name in connect.connectors():
        connect.delete_connector(name)
        connect.await_no_status(name)


def _leader(connect: ConnectCluster) -> ConnectWorker:
    return next(worker for worker in connect.workers if worker.is_running and worker.herder.loop.is_leader)


def _owners(connect: ConnectCluster, name: str) -> set[str]:
    """The workers of a connector's tasks."""
    status = connect.status(name)
    return set() if status is None else {task["worker_id"] for task in status["tasks"]}


def _beans(worker: ConnectWorker, kind: str) -> list[dict[str, Any]]:
    """The metrics of one kind that a worker serves."""
    server = worker.connect.metrics_server
    assert server is not None
    with urlopen(f"{server.url}/jmx?qry=kafka.connect:type={kind},*") as response:
        beans: list[dict[str, Any]] = json.loads(response.read())["beans"]
    return beans


def _uses_lines(worker: ConnectWorker, name: str) -> bool:
    uses: bool = worker.request("GET", f"/connectors/{name}/topics") == {name: {"topics": ["lines"]}}
    return uses


def test_the_other_worker_takes_over_when_one_is_killed(connect: ConnectCluster, tmp_path: Path) -> None:
    source, sink = tmp_path / "source.txt", tmp_path / "sink.txt"
    source.write_text("eins\nzwei\n")
    connect.put_connector("source", {"connector.class": "FileStreamSource", "file": source, "topic": "lines"})
    connect.put_connector(
        "sink", {"connector.class": "FileStreamSink", "file": sink, "topics": "lines", "tasks.max": 2}
    )
    connect.await_running("source", tasks=1)
    connect.await_running("sink", tasks=2)
    both = {worker.id for worker in connect.workers}
    assert _owners(connect, "sink") == both
    eventually(lambda: sink.exists() and sorted(sink.read_text().split()) == ["eins", "zwei"])

    filename, position = {"filename": str(source)}, {"position": len("eins\nzwei\n")}
    stored = {"offsets": [{"partition": filename, "offset": position}]}
    eventually(lambda: connect.request("GET", "/connectors/source/offsets") == stored)

    def read_by_sink() -> int:
        return sum(
            each["offset"]["kafka_offset"] for each in connect.request("GET", "/connectors/sink/offsets")["offsets"]
        )

    eventually(lambda: read_by_sink() == 2)
    for worker in connect.workers:  # whichever of them runs the tasks
        for name in ("source", "sink"):
            eventually(partial(_uses_lines, worker, name))
    sent = [bean["sink-record-send-total"] for each in connect.workers for bean in _beans(each, "sink-task-metrics")]
    assert len(sent) == 2
    assert sum(sent) >= 2
    assert len([bean for each in connect.workers for bean in _beans(each, "source-task-metrics")]) == 1
    killed = _leader(connect)
    (rebalances,) = _beans(killed, "connect-worker-rebalance-metrics")
    assert (rebalances["leader-name"], rebalances["rebalancing"]) == (killed.url, 0)
    assert len(_beans(killed, "connect-coordinator-metrics")) == 1
    killed.kill()
    assert not killed.is_running
    with source.open("a") as more:
        more.write("drei\n")
    connect.await_running("source", tasks=1)
    connect.await_running("sink", tasks=2)
    eventually(lambda: "drei" in sink.read_text().split())
    assert set(sink.read_text().split()) == {"eins", "zwei", "drei"}  # at least once

    killed.start()  # at the same port
    eventually(lambda: _owners(connect, "sink") == both)


def test_every_worker_serves_every_request(connect: ConnectCluster, tmp_path: Path) -> None:
    """The leader and the owners are found by one hop or two."""
    config = {"connector.class": "FileStreamSource", "file": str(tmp_path / "f"), "topic": "lines", "name": "any"}
    connect.put_connector("any", config)
    connect.await_running("any", tasks=1)
    for worker in connect.workers:
        assert worker.request("PUT", "/connectors/any/config", config)["name"] == "any"
        connect.await_running("any", tasks=1)
        assert worker.request("GET", "/connectors/any")["tasks"] == [{"connector": "any", "task": 0}]
        assert worker.request("POST", "/connectors/any/restart") is None
        assert worker.request("POST", "/connectors/any/tasks/0/restart") is None
        with pytest.raises(RestError, match="404: Unknown task: any-7"):
            worker.request("POST", "/connectors/any/tasks/7/restart")
        restarted = worker.request("POST", "/connectors/any/restart?includeTasks=true")
        assert [each["state"] for each in (restarted["connector"], *restarted["tasks"])] == ["RESTARTING"] * 2
        connect.await_running("any", tasks=1)
    assert connect.request("GET", "/connectors/any/offsets") == {"offsets": []}
    connect.pause_connector("any")
    connect.await_state("any", "PAUSED", tasks=1)
    connect.resume_connector("any")
    connect.await_running("any", tasks=1)
    connect.delete_connector("any")
    connect.await_no_status("any")
    with pytest.raises(RestError, match="404: Connector any not found"):
        connect.delete_connector("any")


def test_a_stopped_connector_reads_from_where_it_is_told(connect: ConnectCluster, tmp_path: Path) -> None:
    source, sink = tmp_path / "again.txt", tmp_path / "sink.txt"
    source.write_text("eins\nzwei\n")
    connect.put_connector("again", {"connector.class": "FileStreamSource", "file": source, "topic": "again"})
    connect.put_connector("told", {"connector.class": "FileStreamSink", "file": sink, "topics": "again"})
    eventually(lambda: sink.exists() and sink.read_text() == "eins\nzwei\n")
    with pytest.raises(RestError, match="400: Connectors must be in the STOPPED state"):
        connect.request("DELETE", "/connectors/told/offsets")
    for name in ("again", "told"):
        connect.stop_connector(name)
        connect.await_state(name, "STOPPED", tasks=0)

    partition = {"kafka_topic": "again", "kafka_partition": 0}
    asked = connect.workers[-1]  # forwards it, if it does not lead
    eventually(lambda: connect.request("GET", "/connectors/told/offsets")["offsets"][0]["partition"] == partition)
    change = {"offsets": [{"partition": partition, "offset": {"kafka_offset": 1}}]}
    done = {"message": "The offsets for this connector have been altered successfully"}
    assert asked.request("PATCH", "/connectors/told/offsets", change) == done
    assert connect.request("GET", "/connectors/told/offsets") == change
    assert sink_lags(connect.cluster.bootstrap_servers, ["told", "none"]) == {"told": 1}
    connect.resume_connector("told")
    eventually(lambda: sink.read_text() == "eins\nzwei\nzwei\n")

    connect.stop_connector("told")
    done = {"message": "The offsets for this connector have been reset successfully"}
    for name in ("again", "told"):
        assert connect.request("DELETE", f"/connectors/{name}/offsets") == done
        assert connect.request("GET", f"/connectors/{name}/offsets") == {"offsets": []}
        connect.resume_connector(name)
    eventually(lambda: sink.read_text() == "eins\nzwei\nzwei\n" + 2 * "eins\nzwei\n")
    for name in ("again", "told"):
        connect.delete_connector(name)


@dataclass
class _Replay:
    """Asks the workers in turn, so that each request is forwarded if it has to be."""

    clients: list[Client]
    asked: int = 0

    def is_answered(self, row: dict[str, Any]) -> bool:
        """Whether the next worker gives Kafka's answer to a row. False while it rebalances, or its status is old."""
        client = self.clients[self.asked % 2]
        expected = _expected(row, f"http://{client.host}:{client.port}/connectors")
        if row["path"] == "/":
            expected[1].update(client.ask("GET", "/")[1])  # our own release and commit
        answered = _answer(client, row)
        is_stale = answered[0] == HTTPStatus.CONFLICT and "stale configuration" in answered[1]["message"]
        if answered != expected and (is_stale or row["method"] == "GET"):
            return False
        assert answered == expected, row
        self.asked += 1
        return True


def test_each_request_has_the_answer_of_kafka(connect: ConnectCluster, tmp_path: Path) -> None:
    """The recorded requests to two real workers, in their order."""
    connect.cluster.create_topic("connect-test", 2)
    rows = json.loads(json.dumps(SAMPLE["distributed"]).replace("FOLDER", str(tmp_path)))
    with ExitStack() as stack:
        replay = _Replay([stack.enter_context(closing(Client(worker.connect))) for worker in connect.workers])
        for row in rows:
            eventually(partial(replay.is_answered, row), str(row))


def test_a_worker_that_is_held_is_replaced_and_comes_back(connect: ConnectCluster, tmp_path: Path) -> None:
    config = {"connector.class": "FileStreamSource", "file": tmp_path / "f", "topic": "lines"}
    for name in ("a", "b"):
        connect.put_connector(name, config)
        connect.await_running(name, tasks=1)
    held = next(worker for worker in connect.workers if worker is not connect.workers[0])
    held.pause()
    others = {worker.id for worker in connect.workers} - {held.id}

    def owners() -> set[str]:
        return _owners(connect, "a") | _owners(connect, "b")

    eventually(lambda: owners() == others)
    held.resume()
    eventually(lambda: held.id in owners())


def test_a_worker_that_is_not_running_says_so(connect: ConnectCluster) -> None:
    never = ConnectWorker("never", {})
    with pytest.raises(RuntimeError, match="worker never is not running"):
        never.kill()
    never.stop()
    with pytest.raises(RuntimeError, match="already running"):
        connect.workers[0].start()
    with pytest.raises(TypeError, match="workers"):
        ConnectCluster(connect.cluster, workers="two")  # type: ignore[arg-type]


def test_a_level_is_set_on_all_workers(connect: ConnectCluster) -> None:
    """Both are in this process, whose loggers they share: the first one that reads the record changes the level."""
    name = "level_of_all_workers"
    assert connect.workers[1].request("PUT", f"/admin/loggers/{name}?scope=cluster", {"level": "DEBUG"}) is None

    def levels() -> list[dict[str, Any]]:
        every = [worker.request("GET", "/admin/loggers") for worker in connect.workers]
        return [each[name] for each in every if name in each]

    eventually(lambda: any(each["last_modified"] for each in levels()), levels)
    assert [each["level"] for each in levels()] == ["DEBUG"] * 2


def test_workers_name_the_cluster(connect: ConnectCluster) -> None:
    ids = {worker.request("GET", "/")["kafka_cluster_id"] for worker in connect.workers}
    assert len(ids) == 1
    assert len(ids.pop()) == 22  # a UUID in base 64
