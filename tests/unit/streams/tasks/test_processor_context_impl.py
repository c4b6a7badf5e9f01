"""A processor sees its record, its stores and its children through the context, and nothing without a record."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.record_cache.processor_record_context import ProcessorRecordContext
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.processor_context_impl import ProcessorContextImpl
from kafka_lite.streams.tasks.task_environment import TaskEnvironment


class Task:
    """A node with the children ``left`` and ``right``, and the stores of its task."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []
        """What the children got."""
        self.commits = 0
        self.scheduled: list[tuple[str, int]] = []
        self.stores: dict[str, Any] = {"mine": object(), "other": object()}
        globals_: Any = {"global": object()}
        self.environment = TaskEnvironment("app", Serdes.string(), Serdes.string(), globals_)
        manager: Any = self
        collector: Any = None
        self.context = ProcessorContextImpl(
            TaskId(0, 1), self.environment, collector, manager, self._commit, self._schedule
        )
        self.parent = ProcessorNode("parent", None, ["mine"])
        for name in ("left", "right"):
            child = ProcessorNode(name, Child(self.seen, name))
            child.init(self.context)
            self.parent.add_child(child)

    def _commit(self) -> None:
        self.commits += 1

    def _schedule(self, node: ProcessorNode, interval_ms: int) -> None:
        self.scheduled.append((node.name, interval_ms))


class Child(Processor[Any, Any]):
    def __init__(self, seen: list[tuple[str, Any]], name: str) -> None:
        self._seen, self._name = seen, name

    def process(self, key: Any, value: Any) -> None:
        self._seen.append((self._name, value))
        if value == "fail":
            raise ValueError(value)


@pytest.fixture
def task() -> Task:
    return Task()


@pytest.mark.parametrize(
    ("child", "names"),
    [(None, ["left", "right"]), (1, ["right"]), (-1, ["right"]), ("left", ["left"]), ("nobody", [])],
)
def test_a_record_goes_to_all_children_or_to_one(task: Task, child: int | str | None, names: list[str]) -> None:
    task.context.current_node = task.parent
    task.context.forward("k", "v", child)
    assert task.seen == [(name, "v") for name in names]
    assert task.context.current_node is task.parent


def test_a_child_that_fails_leaves_the_node_current(task: Task) -> None:
    task.context.current_node = task.parent
    with pytest.raises(ValueError, match="fail"):
        task.context.forward("k", "fail")
    assert (task.context.current_node, task.seen) == (task.parent, [("left", "fail")])
    with pytest.raises(IndexError):
        task.context.forward("k", "v", 2)


def test_a_processor_uses_its_own_stores_and_global_ones(task: Task) -> None:
    with pytest.raises(TopologyBuilderError, match="Accessing from an unknown node"):
        task.context.get_state_store("mine")
    task.context.current_node = task.parent
    assert task.context.get_state_store("mine") is task.stores["mine"]
    assert task.context.get_state_store("global") is task.environment.global_stores["global"]
    with pytest.raises(TopologyBuilderError, match="Processor parent has no access to StateStore other"):
        task.context.get_state_store("other")


def test_commits_and_schedules_go_to_the_task(task: Task) -> None:
    task.context.commit()
    for action in (lambda: task.context.schedule(10), lambda: task.context.forward("k", "v")):
        with pytest.raises(RuntimeError, match="only while a processor is running"):
            action()
    task.context.current_node = task.parent
    task.context.schedule(10)
    assert (task.commits, task.scheduled) == (1, [("parent", 10)])


def test_the_current_record_is_that_of_the_task(task: Task) -> None:
    context = task.context
    with pytest.raises(RuntimeError, match="topic should only be accessed while a record is processed"):
        _ = context.topic
    context.record_context = ProcessorRecordContext(7, 5, 2, "in", ())
    assert (context.topic, context.partition, context.offset, context.timestamp, context.headers) == ("in", 2, 5, 7, ())
    context.record_context = ProcessorRecordContext(9)
    assert (context.topic, context.partition, context.offset, context.timestamp) == (None, -1, -1, 9)


def test_stores_are_registered_only_until_the_task_is_initialized(task: Task) -> None:
    task.context.initialized()
    store: Any = object()
    with pytest.raises(RuntimeError, match="Can only create state stores during initialization"):
        task.context.register(store, lambda *_: None)
