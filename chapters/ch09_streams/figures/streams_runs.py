"""Recorded runs of Streams: a record's way through a topology, and a rebalance that moves a task. Book 9.1.

Both run the word count of ``examples``, node by node.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

from examples.word_count.topology import TEXT, WORD_COUNTS, node_by_node
from kafka_learn.recording.recorded_run import Detail, Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import wait_until
from kafka_learn.recording.watches import watch
from kafka_lite.common.serdes import Serdes
from kafka_lite.streams import kafka_streams
from kafka_lite.streams.assignment.stream_partition_assignor import StreamPartitionAssignor
from kafka_lite.streams.kafka_streams import KafkaStreams, State
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode
from kafka_lite.streams.processor.internals.topology.sink_node import SinkNode
from kafka_lite.streams.processor.internals.topology.source_node import SourceNode
from kafka_lite.streams.state.change_logging_key_value_bytes_store import StoreChangeLogger
from kafka_lite.streams.state.serializing_key_value_store import SerializingKeyValueStore
from kafka_lite.streams.tasks.processor_state_manager import ProcessorStateManager
from kafka_lite.streams.tasks.stream_task import StreamTask
from kafka_lite.streams.tasks.task_manager import TaskManager
from kafka_lite.streams.threads.stream_thread import StreamThread
from kafka_lite.streams.topology_test_driver import TopologyTestDriver
from kafka_lite.testing.cluster import Cluster

APPLICATION_ID = "word-count"
NODES = ("lines", "split", "to-words", "words", "count", "counted")
STORE, CHANGELOG = "store", "changelog"
CHANGELOG_TOPIC = f"{APPLICATION_ID}-counts-changelog"
WAIT_MS = 60_000


# ── a record's way through a topology ─────────────────────────────────────────────────────────────────────────────────


def _key_and_value(call: Call) -> Detail:
    key, value = call.argument("key"), call.argument("value")
    return {"record": str(value) if key is None else f"{key}: {value}"}


def record_through_topology() -> RecordedRun:
    """The line "to be" in a TopologyTestDriver: two tasks, a repartition topic between them, a store."""
    watches = [
        *watch(StreamTask._process, StreamTask.commit, show=lambda call: {"task": str(call.subject.id)}),
        *watch(
            SourceNode.process,
            ProcessorNode.process,
            SinkNode.process,
            show=_key_and_value,
            who=lambda call: str(call.subject.name),
        ),
        *watch(SerializingKeyValueStore.get, show=("key",), who=STORE),
        *watch(SerializingKeyValueStore.put, show=_key_and_value, who=STORE),
        *watch(StoreChangeLogger.log_change, show=(), who=CHANGELOG),
    ]
    with (
        Recording(watches, title="A record's way through a topology", paused=True) as recording,
        TopologyTestDriver(node_by_node(), application_id=APPLICATION_ID, value_serde=Serdes.string()) as driver,
        recording.running(),
    ):
        driver.pipe_input(TEXT, None, "to be", timestamp=1000)
    lanes = ("StreamTask", *NODES[:5], STORE, CHANGELOG, NODES[5])
    return recording.run.recorded_in(__name__, "record_through_topology", lanes=lanes)


# ── a value moves to another group ────────────────────────────────────────────────────────────────────────────────────

CITIES = {
    "KSTREAM-SOURCE-0000000000": "users",
    "KTABLE-SOURCE-0000000001": "table",
    "KTABLE-SELECT-0000000002": "by city",
    "KSTREAM-SINK-0000000003": "to topic",
    "KSTREAM-SOURCE-0000000004": "from topic",
    "KTABLE-AGGREGATE-0000000005": "count",
}
"""The nodes of the run by their names in the topology."""


def _node(call: Call) -> str:
    name = str(call.subject.name)
    return CITIES.get(name, name)


def _store(call: Call) -> str:
    return f"store {call.subject.name}"


def users_by_city() -> KStreamBuilder:
    """Users with their cities, counted by city."""
    builder = KStreamBuilder()
    users: KTable[str, str] = builder.table("users", "Users")
    users.group_by(lambda user, city: (city, user)).count("ByCity")
    return builder


def repartition() -> RecordedRun:
    """Ann moves from Rome to Oslo: one record becomes two in the repartition topic, to subtract and to add."""
    watches = [
        *watch(
            StreamTask._process,
            show=lambda call: {"task": str(call.subject.id)},
            who=lambda call: f"task {call.subject.id}",
        ),
        *watch(SourceNode.process, ProcessorNode.process, SinkNode.process, show=_key_and_value, who=_node),
        *watch(SerializingKeyValueStore.get, show=("key",), who=_store),
        *watch(SerializingKeyValueStore.put, show=_key_and_value, who=_store),
    ]
    with (
        Recording(watches, title="A value moves to another group", paused=True) as recording,
        TopologyTestDriver(
            users_by_city(), application_id="app", key_serde=Serdes.string(), value_serde=Serdes.string()
        ) as driver,
    ):
        for user in ("Ann", "Bob"):
            driver.pipe_input("users", user, "Rome", timestamp=1000)
        with recording.running():
            driver.pipe_input("users", "Ann", "Oslo", timestamp=2000)
    nodes = [*CITIES.values()]
    lanes = ("task 0_0", *nodes[:2], "store Users", *nodes[2:4], "task 1_0", *nodes[4:], "store ByCity")
    return recording.run.recorded_in(__name__, "repartition", lanes=lanes)


# ── a task moves ──────────────────────────────────────────────────────────────────────────────────────────────────────

INSTANCES = ("instance 1", "instance 2")
SETTLED = "all tasks are running"


def instance_of(_call: Call) -> str:
    """The instance to which the current thread belongs."""
    return threading.current_thread().name


def _watch_rebalances() -> list[Watch]:
    def tasks(call: Call) -> Detail:
        assigned = call.argument("assigned")
        return {"tasks": " ".join(map(str, sorted(assigned)))}

    return [
        *watch_thread_states(),
        *watch(TaskManager.suspend, show=lambda call: {"tasks": names_of(call.subject.active)}, who=instance_of),
        *watch(TaskManager.assign, show=tasks, who=instance_of),
        *watch(StreamPartitionAssignor.assign, show=(), who=instance_of),
        watch_task(StreamTask.close_state_manager, "suspended", "closed"),
        watch_task(StreamTask.initialize, "created", "active"),
        _watch_restoring(),
    ]


def watch_task(change: Callable[..., object], before: str, after: str) -> Watch:
    """A change of a task's state, which a method makes."""

    def changed(call: Call) -> None:
        states = {"before": before, "after": after}
        call.emit(Kind.STATE, instance_of(call), f"{instance_of(call)}, task {call.subject.id}", states)

    return Watch.of(change, after=changed)


def names_of(tasks: Iterable[object]) -> str:
    """Task ids in order."""
    return " ".join(sorted(map(str, tasks)))


def watch_thread_states() -> list[Watch]:
    """The changes of the stream threads' states."""

    def before(call: Call) -> None:
        call.scratch = call.subject.state
        call.hold_place()

    def after(call: Call) -> None:
        old, new = call.scratch, call.subject.state
        if old is not new:
            call.emit(Kind.STATE, instance_of(call), instance_of(call), {"before": old.name, "after": new.name})

    return [Watch.of(StreamThread._set_state, before, after)]


def _watch_restoring() -> Watch:
    """An arrow from the changelog to the instance, with the number of records."""

    def restored(call: Call) -> None:
        number = call.recording.new_number()
        partition = call.argument("partition")
        what = f"restore {partition.topic.removeprefix(f'{APPLICATION_ID}-')}-{partition.partition}"
        call.emit(Kind.PUT, CHANGELOG, what, {"says": f"{call.result} records"}, number=number)
        call.emit(Kind.TAKE, instance_of(call), what, number=number)

    return Watch.of(ProcessorStateManager._restore_from, after=restored)


class Instance:
    """An instance with one thread, named after it."""

    def __init__(self, name: str, bootstrap_servers: str, folder: Path, **configs: object) -> None:
        self.streams = KafkaStreams(
            node_by_node(),
            {
                "application.id": APPLICATION_ID,
                "bootstrap.servers": bootstrap_servers,
                "client.id": name.replace(" ", "-"),
                "state.dir": str(folder / name.replace(" ", "-")),
                "commit.interval.ms": 50,
                "linger.ms": 0,
                "heartbeat.interval.ms": 100,
                "internal.leave.group.on.close": True,
                **configs,
            },
        )
        (self.thread,) = self.streams._threads
        self.thread.name = name

    @property
    def tasks(self) -> set[str]:
        """The running tasks."""
        return {str(task) for task in dict(self.thread._tasks.active)} if self.streams.state is State.RUNNING else set()


def task_moves() -> RecordedRun:
    """A second instance starts. Two of the four tasks move to it, one with its counts."""
    folder = Path(tempfile.mkdtemp(prefix="kafka-lite-run-"))
    ids = (UUID(int=number) for number in (1, 4))  # the assignment depends on them
    everything = {"0_0", "0_1", "1_0", "1_1"}
    try:
        with (
            Recording(_watch_rebalances(), title="A task moves with its state", paused=True) as recording,
            Cluster({"group.initial.rebalance.delay.ms": 0}) as cluster,
            patch.object(kafka_streams, "uuid4", lambda: next(ids)),
        ):
            cluster.create_topic(TEXT, 2)
            cluster.create_topic(WORD_COUNTS, 1)
            first = Instance(INSTANCES[0], cluster.bootstrap_servers, folder)
            with first.streams:
                first.streams.start()
                wait_until(lambda: first.tasks == everything, WAIT_MS)  # or a rebalance might process records again
                cluster.produce(TEXT, "to be or not to be that is the question", partition=0, timestamp_ms=1000)
                wait_until(lambda: len(cluster.records(WORD_COUNTS)) == 10, WAIT_MS)
                second = Instance(INSTANCES[1], cluster.bootstrap_servers, folder)
                with second.streams, recording.running():
                    second.streams.start()
                    wait_until(lambda: _shared(first, second) == everything, WAIT_MS)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return recording.run.recorded_in(__name__, "task_moves", lanes=(INSTANCES[0], CHANGELOG, INSTANCES[1]))


def _shared(*instances: Instance) -> set[str]:
    """All tasks, if each instance has some."""
    tasks = [instance.tasks for instance in instances]
    return set().union(*tasks) if all(tasks) else set()


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "record-through-topology": record_through_topology,
    "repartition": repartition,
    "task-moves": task_moves,
}
