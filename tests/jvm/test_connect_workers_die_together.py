"""kill -9 of a worker of either language in one group, while verifiable connectors run: no number is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.connect_process import ConnectProcess, WorkerProcesses
from tests.support.eventually import eventually
from tests.support.java_connect import JARS, VERIFIABLE, JavaWorker, verifiable_connectors

pytestmark = [pytest.mark.jvm, pytest.mark.soak]

OLD = "0.10.2.2"
SOON = dict.fromkeys(("session.timeout.ms", "consumer.session.timeout.ms"), "4000")
SOURCE_TASKS, SINK_TASKS = 3, 2
TASKS = {"source": SOURCE_TASKS, "sink": SINK_TASKS}
SEVERAL = 20
"""Numbers of each task of the source that come through before, between and after the deaths."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster({"group.min.session.timeout.ms": 1000, "group.initial.rebalance.delay.ms": 0}) as cluster:
        yield cluster


# Workers of 0.10.2 join a group with ours in test_connect_workers_together.py; who dies is the same here.
@pytest.fixture(params=[pytest.param(each, marks=pytest.mark.nightly if each == OLD else []) for each in JARS])
def group(request: pytest.FixtureRequest, cluster: Cluster, tmp_path: Path) -> Iterator[WorkerProcesses]:
    """One worker of each language. 3.9.1 rebalances eagerly, as ours do."""
    version: str = request.param
    props = SOON if version == OLD else SOON | {"connect.protocol": "eager"}
    more = verifiable_connectors(version, tmp_path / "services")
    java = JavaWorker(version, cluster.bootstrap_servers, tmp_path, more=more, props=props)
    with WorkerProcesses(tmp_path, cluster.bootstrap_servers, 1, SOON, [java]) as group:
        yield group


def _share(group: WorkerProcesses) -> bool:
    """Whether each worker runs something, and everything runs."""
    found = [each for name, count in TASKS.items() for each in _running(group, name, count)]
    return len(found) == len(TASKS) + sum(TASKS.values()) and set(found) == {worker.id for worker in group.workers}


def _running(group: WorkerProcesses, name: str, tasks: int) -> list[str]:
    """The workers of a connector and its tasks; empty unless all of them run."""
    reports = group.status(name, group.workers[0])
    return [at for _, at in reports] if [state for state, _ in reports] == ["RUNNING"] * (1 + tasks) else []


def _kill_and_restart(group: WorkerProcesses, worker: ConnectProcess) -> None:
    """kill -9. The other worker takes over everything, and gives a part of it back."""
    group.end(worker, clean=False)
    for name, count in TASKS.items():
        group.await_state(name, "RUNNING", count)
    group.await_more(SOURCE_TASKS, SEVERAL)
    worker.start()
    worker.await_membership()
    eventually(lambda: _share(group), lambda: [group.status(name, group.workers[0]) for name in TASKS])
    group.await_more(SOURCE_TASKS, SEVERAL)


def test_no_number_is_lost_when_either_worker_dies(cluster: Cluster, group: WorkerProcesses) -> None:
    """After the first death ours leads, and after the second one Java's."""
    cluster.create_topic("numbers", 3)
    source = {"topic": "numbers", "throughput": "50", "tasks.max": str(SOURCE_TASKS)}
    sink = {"topics": "numbers", "tasks.max": str(SINK_TASKS)}
    ours, java = group.workers
    group.ask("PUT", "/connectors/source/config", {"connector.class": f"{VERIFIABLE}SourceConnector", **source})
    group.ask("PUT", "/connectors/sink/config", {"connector.class": f"{VERIFIABLE}SinkConnector", **sink})
    eventually(lambda: _share(group), lambda: [group.status(name, ours) for name in TASKS])
    group.await_more(SOURCE_TASKS, SEVERAL)
    _kill_and_restart(group, java)
    _kill_and_restart(group, ours)
    group.ask("PUT", "/connectors/source/pause")
    group.await_state("source", "PAUSED", SOURCE_TASKS)
    group.await_all_flushed()
    for flag in ("committed", "flushed"):
        found = group.numbers(flag)
        assert set(found) == set(range(SOURCE_TASKS))
        assert all(set(numbers) >= set(range(max(numbers))) for numbers in found.values()), flag
