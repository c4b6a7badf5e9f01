"""Recorded runs of a group of workers: one new connector makes two rebalances, and a worker dies. Book 8.3.4.

Two workers on a broker. The first one leads, and its member id is the smaller one: so it gets the connector, and the
other one its task.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka_learn.recording.recorded_run import Detail, Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.watches import watch
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.connect.runtime.distributed.connect_protocol import Assignment
from kafka_lite.connect.runtime.distributed.herder_loop import HerderLoop
from kafka_lite.connect.runtime.storage.kafka_config_backing_store import KafkaConfigBackingStore
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.connect.connect_cluster import ConnectCluster

CONNECTOR = "lines"
WORKERS = ("worker 1", "worker 2")
CONFIG_TOPIC = "config topic"
SETTINGS = {"group.initial.rebalance.delay.ms": 0}
PROPS = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
}


class Workers:
    """Two workers in a group, the first of which leads."""

    def __init__(self, connect: ConnectCluster, folder: Path) -> None:
        self.connect = connect
        self._config = {"connector.class": "FileStreamSource", "file": str(folder / "lines.txt"), "topic": "lines"}
        self._names: dict[int, str] = {}
        for name in WORKERS:
            connect._props["client.id"] = name.replace(" ", "-")  # member ids begin with it
            loop = connect.add_worker().herder.loop
            self._names |= {id(loop): name, id(loop._configs): name}
        for worker in connect.workers:  # the first one has joined again with the second: it answers when that is over
            connect._await_worker(worker)

    def name_of(self, part: HerderLoop | KafkaConfigBackingStore) -> str:
        """``worker 1`` or ``worker 2``: that of a part of it."""
        return self._names[id(part)]

    def create_connector(self) -> None:
        """Create the connector, and wait until it and its task run."""
        self.connect.put_connector(CONNECTOR, self._config)
        self.connect.await_running(CONNECTOR, tasks=1)

    def kill_the_second(self) -> None:
        """Kill the worker that runs the task, and wait until the other one runs it."""
        self.connect.workers[1].kill()
        self.connect.await_running(CONNECTOR, tasks=1)


@contextmanager
def running_workers() -> Iterator[Workers]:
    """A broker and two workers."""
    with (
        quiet("kafka_lite"),
        tempfile.TemporaryDirectory(prefix="kafka-lite-run-") as folder,
        Cluster(SETTINGS) as cluster,
        ConnectCluster(cluster, 0, PROPS) as connect,
    ):
        cluster.create_topic("lines", 1)
        (Path(folder) / "lines.txt").write_text("one\n", encoding="utf-8")
        yield Workers(connect, Path(folder))


def new_connector() -> RecordedRun:
    """A connector with one task is created in a group of two workers."""
    found: list[Workers] = []
    with (
        Recording(*_watches(found), title="One new connector, two rebalances", paused=True) as recording,
        running_workers() as workers,
    ):
        found.append(workers)
        with recording.running():
            workers.create_connector()
    return recording.run.recorded_in(__name__, "new_connector", lanes=(WORKERS[0], CONFIG_TOPIC, WORKERS[1]))


def worker_dies() -> RecordedRun:
    """The worker that runs the task is killed. The group notices when its session is over."""
    found: list[Workers] = []
    with (
        Recording(*_watches(found), title="A worker dies", paused=True) as recording,
        running_workers() as workers,
    ):
        found.append(workers)
        workers.create_connector()
        with recording.running():
            recording.note("worker 2 is killed")
            workers.kill_the_second()
    return recording.run.recorded_in(__name__, "worker_dies", lanes=WORKERS[:1])


# ── what is watched ───────────────────────────────────────────────────────────────────────────────────────────────────


def _watches(workers: list[Workers]) -> list[Watch]:
    def worker(call: Call) -> str:
        return workers[0].name_of(call.subject)

    def written(call: Call) -> None:
        number, key = call.recording.new_number(), call.argument("key")
        call.emit(Kind.PUT, worker(call), key, number=number)
        call.emit(Kind.TAKE, CONFIG_TOPIC, key, number=number)

    return [
        *watch(HerderLoop.on_revoked, show=lambda _call: {}, who=worker),
        *watch(HerderLoop.on_assigned, show=_assigned, who=worker),
        Watch.of(KafkaConfigBackingStore._send, before=written),
    ]


def _assigned(call: Call) -> Detail:
    assignment: Assignment = call.argument("assignment")
    work = [*assignment.connectors, *map(str, assignment.tasks)]
    return {"work": ", ".join(work) or "–"}


RUNS: dict[str, Callable[[], RecordedRun]] = {"new-connector": new_connector, "worker-dies": worker_dies}
