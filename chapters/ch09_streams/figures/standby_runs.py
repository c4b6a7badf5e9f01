"""A recorded run of Streams: a standby task takes over. Book 9.1.3.

It runs the word count of ``examples``, node by node, at two instances with ``num.standby.replicas=1``.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

from chapters.ch09_streams.figures.streams_runs import (
    APPLICATION_ID,
    CHANGELOG,
    INSTANCES,
    WAIT_MS,
    Instance,
    instance_of,
    names_of,
    watch_task,
    watch_thread_states,
)
from examples.word_count.topology import TEXT, WORD_COUNTS
from kafka_learn.recording.recorded_run import Detail, Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import wait_until
from kafka_learn.recording.watches import watch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams import kafka_streams
from kafka_lite.streams.tasks.processor_state_manager import ProcessorStateManager
from kafka_lite.streams.tasks.standby_task import StandbyTask
from kafka_lite.streams.tasks.stream_task import StreamTask
from kafka_lite.streams.tasks.task_manager import TaskManager
from kafka_lite.testing.cluster import Cluster

LINE = "to be or not to be that is the question"
SPLITS, COUNTS = "0_0", "1_0"
"""The two tasks: the first has no state."""


def standby_takes_over() -> RecordedRun:
    """Instance 2 counts ten words and leaves. Instance 1 has followed its changelog, and restores nothing."""
    folder = Path(tempfile.mkdtemp(prefix="kafka-lite-run-"))
    ids = (UUID(int=number) for number in (1, 4))  # the assignment depends on them
    try:
        with (
            Recording(_watches(), title="A standby takes over", paused=True) as recording,
            Cluster({"group.initial.rebalance.delay.ms": 0}) as cluster,
            patch.object(kafka_streams, "uuid4", lambda: next(ids)),
        ):
            for topic in (TEXT, WORD_COUNTS):
                cluster.create_topic(topic, 1)
            stays, leaves = (_instance(name, cluster, folder) for name in INSTANCES)
            with stays.streams, leaves.streams:
                stays.streams.start()
                wait_until(lambda: stays.tasks == {SPLITS, COUNTS}, WAIT_MS)
                leaves.streams.start()
                wait_until(lambda: (stays.tasks, leaves.tasks) == ({SPLITS}, {COUNTS}), WAIT_MS)
                with recording.running():
                    cluster.produce(TEXT, LINE, timestamp_ms=1000)
                    wait_until(lambda: _followed(stays) == len(LINE.split()), WAIT_MS)
                    leaves.streams.close()
                    wait_until(lambda: stays.tasks == {SPLITS, COUNTS}, WAIT_MS)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return recording.run.recorded_in(__name__, "standby_takes_over", lanes=(INSTANCES[0], CHANGELOG, INSTANCES[1]))


def _instance(name: str, cluster: Cluster, folder: Path) -> Instance:
    return Instance(name, cluster.bootstrap_servers, folder, **{"num.standby.replicas": 1})


def _followed(instance: Instance) -> int:
    """How many records of the changelog its standby task has."""
    following = list(instance.thread._tasks.standbys.following.values())
    return sum(position or 0 for task in following for position in task.positions.values())


# ── what is watched ───────────────────────────────────────────────────────────────────────────────────────────────────


def _watches() -> list[Watch]:
    def suspended(call: Call) -> Detail:
        return {"tasks": names_of(call.subject.active) or "–"}

    def assigned(call: Call) -> Detail:
        active, standby = call.argument("assigned"), call.argument("standby") or {}
        return {"tasks": names_of(active), "standby": names_of(standby) or "–"}

    return [
        *watch_thread_states(),
        *watch(TaskManager.suspend, show=suspended, who=instance_of),
        *watch(TaskManager.assign, show=assigned, who=instance_of),
        watch_task(StreamTask.close_state_manager, "active", "closed"),
        watch_task(StandbyTask.hand_over, "standby", "handed over"),
        watch_task(StreamTask.initialize, "created", "active"),
        _watch_following(),
        _watch_restoring(),
    ]


def _watch_following() -> Watch:
    """One arrow from the changelog to the standby task, when it has everything: how often it polls is chance."""

    def updated(call: Call) -> None:
        partition = call.argument("partition")
        position = call.subject.positions[partition]
        if position == len(LINE.split()):
            _arrow(call, "follow", partition, position)

    return Watch.of(StandbyTask.update, after=updated)


def _watch_restoring() -> Watch:
    """An arrow from the changelog to the instance, with the number of records that the standby task lacked."""

    def restored(call: Call) -> None:
        partition = call.argument("partition")
        _arrow(call, "restore", partition, call.result - call.subject._standby_positions.get(partition, 0))

    return Watch.of(ProcessorStateManager._restore_from, after=restored)


def _arrow(call: Call, what: str, partition: TopicPartition, records: int) -> None:
    number = call.recording.new_number()
    label = f"{what} {partition.topic.removeprefix(f'{APPLICATION_ID}-')}-{partition.partition}"
    call.emit(Kind.PUT, CHANGELOG, label, {"says": f"{records} records"}, number=number)
    call.emit(Kind.TAKE, instance_of(call), label, number=number)


RUNS: dict[str, Callable[[], RecordedRun]] = {"standby-takes-over": standby_takes_over}
