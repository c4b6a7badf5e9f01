"""What is done less often than for every record: turns of the loop, and caches that have no room."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.state.cached_state_store import CachedStateStore
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.standby_tasks import StandbyTasks
from kafka_lite.streams.tasks.task_manager import TaskManager


class Task:
    """A task with records that take ten milliseconds each."""

    def __init__(self, task_id: TaskId, time: MockTime, records: int, commit_at: int | None) -> None:
        self.id, self.partitions = task_id, frozenset({TopicPartition("t", task_id.partition)})
        self.num_buffered, self.commit_needed, self.requires_poll = records, False, True
        self.committed: list[int] = []
        """How many records were left at each commit."""
        self._time, self._commit_at = time, commit_at

    def process(self, now_ms: float = 0) -> bool:
        if self.num_buffered == 0:
            return False
        self._time.sleep(10)
        self.num_buffered -= 1
        self.commit_needed = self.num_buffered == self._commit_at
        return True

    is_idle = False

    def maybe_punctuate(self) -> bool:
        return False

    def commit(self) -> None:
        self.commit_needed = False
        self.committed.append(self.num_buffered)


def tasks_of(time: MockTime, *records: int, commit_at: int | None = None) -> tuple[TaskManager, list[Task]]:
    ids = [TaskId(0, number) for number in range(len(records))]
    made: dict[TaskId, Any] = {each: Task(each, time, records[each.partition], commit_at) for each in ids}
    manager = TaskManager(lambda task_id, *_: made[task_id], StandbyTasks(lambda *_: None, made[ids[0]]), time)
    manager.assign({task_id: task.partitions for task_id, task in made.items()})
    return manager, list(made.values())


def test_a_turn_processes_so_many_records_of_each_task() -> None:
    manager, tasks = tasks_of(MockTime(), 7, 2)
    assert manager.process(5) == 2
    assert [task.num_buffered for task in tasks] == [2, 0]
    assert manager.process(5) == 0


def test_the_thread_polls_if_any_task_has_room() -> None:
    manager, tasks = tasks_of(MockTime(), 7, 2)
    tasks[0].requires_poll = False
    assert manager.requires_poll
    tasks[1].requires_poll = False
    assert not manager.requires_poll


def test_a_turn_that_takes_long_processes_one_record_of_each_task() -> None:
    manager, tasks = tasks_of(MockTime(), 9, 9)
    assert manager.process(5, 25) == 14
    assert [task.num_buffered for task in tasks] == [6, 8], "the second task does not starve"
    manager.process(5, 0)
    assert [task.num_buffered for task in tasks] == [5, 7]


def test_a_commit_that_a_processor_requests_comes_after_its_record() -> None:
    manager, (task,) = tasks_of(MockTime(), 5, commit_at=3)
    manager.process(5)
    assert task.committed == [3]


@pytest.mark.parametrize(("size_bytes", "is_cached"), [(0, False), (1, True)])
def test_a_table_has_a_cache_only_if_caches_have_room(size_bytes: int, is_cached: bool) -> None:
    builder, string = KStreamBuilder().set_application_id("app"), Serdes.string()
    builder.stream("in", key_serde=string, value_serde=string).group_by_key().count("Counts")
    (store,) = builder.set_cache_size(size_bytes).build(0).state_stores
    assert isinstance(store, CachedStateStore)
    assert store.set_flush_listener(lambda *_: None) is is_cached
