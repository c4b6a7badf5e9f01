"""Kafka's system tests of Connect in which workers are bounced, with each worker in a process of its own.

Kafka 0.10.2 and 3.9: tests/kafkatest/tests/connect/connect_distributed_test.py. (Its other scenarios are in
``test_connect_system_scenarios``.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.connect_process import ConnectProcess, WorkerProcesses
from tests.support.eventually import eventually

pytestmark = [pytest.mark.soak, pytest.mark.nightly]

WORKERS, TASKS = 3, 3
SESSION = ("session.timeout.ms", "consumer.session.timeout.ms")
DIE, LEAVE = dict.fromkeys(SESSION, "4000"), dict.fromkeys(SESSION, "60000")
"""Workers that are killed are missed after seconds. Those that leave should not be missed before, on a busy machine."""
BOUNCES = pytest.mark.parametrize(
    ("group", "clean"), [(LEAVE, True), (DIE, False)], indirect=["group"], ids=["clean", "hard"]
)
SEVERAL = 20
"""Records that come through between two bounces, from each task."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(
        {
            "group.min.session.timeout.ms": 1000,
            "group.max.session.timeout.ms": 60_000,
            "group.initial.rebalance.delay.ms": 0,
        }
    ) as cluster:
        yield cluster


@pytest.fixture
def group(cluster: Cluster, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[WorkerProcesses]:
    with WorkerProcesses(tmp_path, cluster.bootstrap_servers, WORKERS, request.param) as group:
        yield group


def _bounce(group: WorkerProcesses, worker: ConnectProcess, clean: bool, tasks: Mapping[str, int]) -> None:
    """End a worker, start it again, and wait until everything runs."""
    group.end(worker, clean=clean)
    worker.start()
    worker.await_membership()
    for name, count in tasks.items():
        group.await_state(name, "RUNNING", count)


@BOUNCES
def test_bounce(cluster: Cluster, group: WorkerProcesses, clean: bool) -> None:
    """All workers in turn. Every number arrives, and after clean bounces exactly once."""
    cluster.create_topic("numbers", 3)
    source = {"connector.class": "VerifiableSource", "topic": "numbers", "throughput": "100", "tasks.max": str(TASKS)}
    sink = {"connector.class": "VerifiableSink", "topics": "numbers", "tasks.max": str(TASKS)}
    group.ask("PUT", "/connectors/source/config", source)
    group.ask("PUT", "/connectors/sink/config", sink)
    for worker in group.workers:
        group.await_more(TASKS, SEVERAL)
        _bounce(group, worker, clean, {"source": TASKS, "sink": TASKS})
    group.ask("PUT", "/connectors/source/stop")
    group.await_state("source", "STOPPED", 0)

    group.await_all_flushed()
    for flag in ("committed", "flushed"):
        found = group.numbers(flag)
        assert set(found) == set(range(TASKS))
        for task, numbers in found.items():
            assert set(numbers) >= set(range(max(numbers))), (flag, task)
            assert not clean or max(Counter(numbers).values()) == 1, (flag, task)


@BOUNCES
def test_file_source_and_sink(cluster: Cluster, group: WorkerProcesses, tmp_path: Path, clean: bool) -> None:
    """Lines are appended between, before and after the bounces of all workers; the last one is of all at once."""
    cluster.create_topic("lines", 1)
    read, written = tmp_path / "source.txt", tmp_path / "sink.txt"
    lines: list[str] = []

    def append(count: int) -> None:
        more = [f"line {len(lines) + number}" for number in range(count)]
        lines.extend(more)
        with read.open("a") as file:
            file.write("".join(f"{line}\n" for line in more))

    def found() -> list[str]:
        return written.read_text().splitlines() if written.exists() else []

    append(5)
    group.ask(
        "PUT", "/connectors/in/config", {"connector.class": "FileStreamSource", "file": str(read), "topic": "lines"}
    )
    group.ask(
        "PUT", "/connectors/out/config", {"connector.class": "FileStreamSink", "file": str(written), "topics": "lines"}
    )
    for worker in group.workers:
        eventually(lambda: set(found()) == set(lines), found)
        append(5)
        _bounce(group, worker, clean, {"in": 1, "out": 1})
        append(5)
    for worker in group.workers:
        group.end(worker, clean=clean)
    append(5)
    group.start()
    eventually(lambda: set(found()) == set(lines), found)
    in_order = list(dict.fromkeys(found()))
    assert in_order == lines
    assert not clean or found() == lines


@pytest.mark.parametrize("group", [DIE], indirect=True)
def test_pause_state_persistent(cluster: Cluster, group: WorkerProcesses) -> None:
    """A pause outlives the worker whose task pauses, and a restart of all of them, after which it can be resumed."""
    cluster.create_topic("numbers", 1)
    config = {"connector.class": "VerifiableSource", "topic": "numbers", "throughput": "100", "tasks.max": "1"}
    group.ask("PUT", "/connectors/source/config", config)
    group.await_state("source", "RUNNING", 1)
    eventually(lambda: cluster.records("numbers"))
    group.ask("PUT", "/connectors/source/pause")
    group.await_state("source", "PAUSED", 1)
    count = len(cluster.records("numbers"))

    (owner_id,) = {at for _, at in group.status("source", group.workers[0])[1:]}
    owner = next(worker for worker in group.workers if worker.id == owner_id)
    group.end(owner, clean=False)
    group.await_state("source", "PAUSED", 1)  # on another worker

    for worker in group.workers:
        group.end(worker, clean=False)
    group.start()
    group.await_state("source", "PAUSED", 1)
    assert len(cluster.records("numbers")) == count

    group.ask("PUT", "/connectors/source/resume")
    group.await_state("source", "RUNNING", 1)
    eventually(lambda: len(cluster.records("numbers")) > count)


LOGGER = "kafka_lite.connect.runtime.worker"


@pytest.mark.parametrize("group", [DIE], indirect=True)
def test_dynamic_logging(group: WorkerProcesses) -> None:
    """A level is set on one worker, then on all; one that starts later has that of its configuration."""
    one, *others = group.workers

    def levels() -> list[tuple[str, bool]]:
        found = [worker.ask("GET", f"/admin/loggers/{LOGGER}")[1] for worker in group.workers]
        return [(each["level"], each["last_modified"] is not None) for each in found]

    assert levels() == [("INFO", False)] * WORKERS
    assert one.ask("PUT", f"/admin/loggers/{LOGGER}?scope=worker", {"level": "DEBUG"}) == (200, [LOGGER])
    assert levels() == [("DEBUG", True), *[("INFO", False)] * len(others)]
    assert others[0].ask("PUT", f"/admin/loggers/{LOGGER}?scope=cluster", {"level": "WARN"}) == (204, None)
    eventually(lambda: levels() == [("WARN", True)] * WORKERS, levels)
    group.end(one, clean=False)
    one.start()
    one.await_membership()
    assert levels() == [("INFO", False), *[("WARN", True)] * len(others)]
