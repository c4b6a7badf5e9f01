"""Instances with ``num.standby.replicas``: what a task that moves to its standby has to restore."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.processor.state_store import StateRestoreCallback
from kafka_lite.streams.tasks.processor_state_manager import ProcessorStateManager
from kafka_lite.streams.tasks.task_manager import TaskManager
from kafka_lite.testing.cluster import Cluster
from tests.support.counted_text import PARTITIONS, Text, counts_in
from tests.support.eventually import eventually
from tests.support.word_count import CHANGELOG, COUNTS, TEXT, configs_of, partition_count, start_process

STANDBY = {"num_standby_replicas": 1, "heartbeat_interval_ms": 100, "internal_leave_group_on_close": True}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}) as running:
        running.create_topic(TEXT, PARTITIONS)
        running.create_topic(COUNTS, 2)
        yield running


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """For each store that an active task of this process restores: the partition, and the number of records."""
    found: list[tuple[int, int]] = []
    original = ProcessorStateManager._restore_from

    def counted(
        self: ProcessorStateManager, partition: TopicPartition, persistent: bool, restore: StateRestoreCallback
    ) -> int:
        records = 0

        def count(key: bytes, value: bytes | None) -> None:
            nonlocal records
            records += 1
            restore(key, value)

        end = original(self, partition, persistent, count)
        found.append((partition.partition, records))
        return end

    monkeypatch.setattr(ProcessorStateManager, "_restore_from", counted)
    return found


def tasks_of(streams: KafkaStreams) -> TaskManager:
    (thread,) = streams._threads
    return thread._tasks


def followed(streams: KafkaStreams, cluster: Cluster) -> set[int]:
    """The partitions of the changelog that an instance follows, if it has read all of each and has the other ones.

    Every task has a store, so each of two instances follows at least one.
    """
    tasks = tasks_of(streams)
    active = {task.id.partition for task in list(tasks.active.values()) if task.store("store") is not None}
    found: set[int] = set()
    for task in list(tasks.standbys.following.values()):
        ((partition, position),) = task.positions.items()
        if all(record.offset < (position or 0) for record in cluster.records(CHANGELOG, partition.partition)):
            found.add(partition.partition)
    return found if found | active == set(range(PARTITIONS)) else set()


def counted(cluster: Cluster) -> Counter[str]:
    """The sums of the partitions' last counts, as far as they are in the changelog."""
    if CHANGELOG not in cluster.topics:
        return Counter()
    return sum((counts_in(cluster, CHANGELOG, number) for number in range(PARTITIONS)), Counter[str]())


@pytest.mark.parametrize(
    "guarantee", ["at_least_once", "exactly_once", pytest.param("exactly_once_v2", marks=pytest.mark.soak)]
)
def test_a_task_that_moves_to_its_standby_restores_nothing(
    cluster: Cluster, tmp_path: Path, restored: list[tuple[int, int]], guarantee: str
) -> None:
    text = Text(cluster)
    text.write(20)
    configs = {**STANDBY, "processing_guarantee": guarantee}
    with (
        KafkaStreams(partition_count(), configs_of(cluster.bootstrap_servers, tmp_path / "stays", **configs)) as stays,
        KafkaStreams(
            partition_count(), configs_of(cluster.bootstrap_servers, tmp_path / "leaves", **configs)
        ) as leaves,
    ):
        stays.start()
        leaves.start()
        eventually(lambda: counted(cluster) == text.counts)
        moving = eventually(lambda: followed(stays, cluster), "the standby has everything")
        restored.clear()
        leaves.close()
        eventually(lambda: {number for number, _ in restored} >= moving, "all tasks have moved")
        assert {records for number, records in restored if number in moving} == {0}
        text.write(20)
        eventually(lambda: counted(cluster) == text.counts)


@pytest.mark.soak  # waits for the session of the killed process
def test_the_standby_of_a_killed_process_restores_nothing(
    cluster: Cluster, tmp_path: Path, restored: list[tuple[int, int]]
) -> None:
    text = Text(cluster)
    text.write(20)
    configs = configs_of(cluster.bootstrap_servers, tmp_path / "stays", **STANDBY)
    killed = configs_of(cluster.bootstrap_servers, tmp_path / "killed", **STANDBY, session_timeout_ms=6000)
    with KafkaStreams(partition_count(), configs) as stays:
        stays.start()
        with start_process(killed, "partition_count") as process:
            try:
                eventually(text.lines_are_committed)
                moving = eventually(lambda: followed(stays, cluster), "the standby has everything")
                restored.clear()
            finally:
                process.kill()
        eventually(lambda: {number for number, _ in restored} >= moving, "all tasks have moved")
        assert {records for number, records in restored if number in moving} == {0}
        text.write(20)
        eventually(text.lines_are_committed)
    assert counted(cluster) == text.counts
