import json
import logging
from typing import Any

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.storage.config_topic import (
    Change,
    ChangeKind,
    ConfigTopic,
    commit_tasks_key,
    connector_key,
    is_complete,
    logger_cluster_key,
    target_state_key,
    task_key,
)
from kafka_lite.connect.runtime.target_state import TargetState
from tests.support.connect_samples import two_workers

ID = ConnectorTaskId
OLD, NEW = {"v": "old"}, {"v": "new"}


class Topic(ConfigTopic):
    """Gives each record the next offset."""

    def write(self, key: str | None, value: object) -> Change | None:
        return self.apply(key, value, max(self.offset, 0))

    def write_task(self, number: int, config: Any) -> None:
        assert self.write(task_key(ID("foo", number)), {"properties": config}) is None

    def commit(self, count: int) -> Change | None:
        return self.write(commit_tasks_key("foo"), {"tasks": count})


@pytest.fixture
def topic() -> Topic:
    topic = Topic()
    topic.write(connector_key("foo"), {"properties": {"name": "foo"}})
    return topic


def test_the_records_of_real_workers() -> None:
    topic = Topic()
    records = two_workers()["connect-configs"]
    for offset, (key, value) in enumerate(records[:32]):
        topic.apply(key, None if value is None else json.loads(value), offset)
    state = topic.snapshot()
    assert state.offset == 32
    assert state.connectors == ["bad-sink", "file-sink", "file-source", "ver"]
    assert [len(state.tasks(name)) for name in state.connectors] == [1, 1, 1, 3]
    assert state.task_config(ID("file-source", 0)) == {
        "task.class": "org.apache.kafka.connect.file.FileStreamSourceTask",
        "topic": "connect-test",
        "file": "/data/c10/source.txt",
    }
    assert not state.inconsistent_connectors
    for offset, (key, value) in enumerate(records[32:], 32):
        topic.apply(key, None if value is None else json.loads(value), offset)
    assert (topic.snapshot().connectors, topic.snapshot().target_states) == ([], {})


@pytest.mark.parametrize(
    ("value", "state"),
    [
        ({"state": "PAUSED", "state.v2": "STOPPED"}, "STOPPED"),  # as Kafka 3.9.1 writes it
        ({"state": "PAUSED", "state.v2": "PAUSED"}, "PAUSED"),
        ({"state": "PAUSED", "state.v2": 7}, "PAUSED"),
        ({"state": "PAUSED", "state.v2": None}, "PAUSED"),
        ({"state": "PAUSED", "state.v2": "ELSEWHERE"}, "STARTED"),  # of a worker that is later still
    ],
)
def test_a_later_worker_says_the_state_twice(topic: Topic, value: object, state: str) -> None:
    topic.write(target_state_key("foo"), value)
    assert topic.snapshot().target_state("foo") is TargetState(state)


def test_task_configs_wait_for_their_commit(topic: Topic) -> None:
    topic.write_task(0, OLD)
    topic.write_task(1, OLD)
    assert topic.snapshot().tasks("foo") == []
    assert topic.commit(2) == Change(ChangeKind.TASKS_UPDATED, "foo", (ID("foo", 0), ID("foo", 1)))
    assert topic.snapshot().tasks("foo") == [ID("foo", 0), ID("foo", 1)]

    topic.write_task(0, NEW)
    assert topic.snapshot().all_task_configs("foo") == [OLD, OLD]
    topic.write_task(1, NEW)
    topic.commit(2)
    assert topic.snapshot().all_task_configs("foo") == [NEW, NEW]


def test_a_commit_that_lacks_a_config_makes_the_connector_inconsistent(topic: Topic) -> None:
    topic.write_task(1, OLD)  # compaction has removed task 0
    assert topic.commit(2) == Change(ChangeKind.TASKS_UPDATED, "foo")
    state = topic.snapshot()
    assert state.inconsistent_connectors == {"foo"}
    assert (state.tasks("foo"), state.task_count("foo")) == ([], 2)
    assert "foo" in state

    topic.write_task(0, NEW)  # the deferred config of task 1 is gone
    topic.commit(2)
    assert topic.snapshot().inconsistent_connectors == {"foo"}
    for number in range(2):
        topic.write_task(number, NEW)
    topic.commit(2)
    assert topic.snapshot().all_task_configs("foo") == [NEW, NEW]
    assert not topic.snapshot().inconsistent_connectors


def test_more_configs_than_the_commit_counts_come_from_compaction(topic: Topic) -> None:
    topic.write_task(1, OLD)
    topic.write_task(0, NEW)
    topic.commit(1)
    assert topic.snapshot().tasks("foo") == [ID("foo", 0)]


def test_a_connector_may_have_no_tasks(topic: Topic) -> None:
    topic.commit(0)
    assert topic.snapshot().tasks("foo") == []
    assert not topic.snapshot().inconsistent_connectors


@pytest.mark.parametrize(
    ("numbers", "count", "complete"),
    [(set(), 0, True), ({0, 1}, 2, True), ({0, 1, 2}, 2, True), ({1, 2}, 2, False), ({0}, 2, False)],
)
def test_is_complete(numbers: set[int], count: int, complete: bool) -> None:
    assert is_complete(numbers, count) is complete


def test_a_connector_is_started_unless_the_user_paused_it(topic: Topic) -> None:
    assert topic.snapshot().target_state("foo") is TargetState.STARTED
    change = topic.write(target_state_key("foo"), {"state": "PAUSED"})
    assert change == Change(ChangeKind.TARGET_STATE_CHANGED, "foo")
    topic.write(connector_key("foo"), {"properties": NEW})
    assert topic.snapshot().target_state("foo") is TargetState.PAUSED
    assert topic.write(target_state_key("foo"), None) is None
    assert topic.snapshot().target_state("foo") is TargetState.STARTED


def test_a_deleted_connector_leaves_its_tasks(topic: Topic) -> None:
    topic.write_task(0, OLD)
    topic.commit(1)
    assert topic.write(connector_key("foo"), None) == Change(ChangeKind.CONNECTOR_REMOVED, "foo")
    topic.write(target_state_key("foo"), None)
    assert ("foo" in topic, topic.snapshot().target_states) == (False, {})
    topic.write(connector_key("foo"), {"properties": NEW})
    assert topic.snapshot().all_task_configs("foo") == [OLD]


def test_a_snapshot_does_not_change(topic: Topic) -> None:
    before = topic.snapshot()
    topic.write(connector_key("bar"), {"properties": {}})
    topic.commit(0)
    assert (before.connectors, before.task_counts, before.offset) == (["foo"], {}, 1)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, {"properties": {}}),
        ("session-key", {"key": "…", "algorithm": "HmacSHA256"}),
        ("connector-foo", []),
        ("connector-foo", {"properties": [1]}),
        ("connector-foo", {"properties": {"tasks.max": 1}}),
        ("task-foo", {"properties": {}}),
        ("task-foo-0", None),
        ("task-foo-0", {"properties": "x"}),
        ("commit-foo", None),
        ("commit-foo", {"tasks": "1"}),
        ("commit-foo", {"tasks": -1}),
        ("commit-foo", {"tasks": True}),
        ("target-state-foo", []),
        ("target-state-foo", {"state": "ASLEEP"}),
        ("target-state-foo", {"state": []}),
    ],
)
def test_garbage_is_logged_and_ignored(
    topic: Topic, key: str | None, value: object, caplog: pytest.LogCaptureFixture
) -> None:
    before = topic.snapshot()
    with caplog.at_level(logging.ERROR):
        assert topic.write(key, value) is None
    assert len(caplog.records) == 1
    after = topic.snapshot()
    assert after.offset == before.offset + 1
    assert after.connector_configs == before.connector_configs
    assert after.target_states == before.target_states
    assert after.task_counts == before.task_counts


def test_a_level_leaves_no_state(topic: Topic, caplog: pytest.LogCaptureFixture) -> None:
    before = topic.snapshot()
    key = logger_cluster_key("a.b")
    assert topic.write(key, {"level": "debug"}) == Change(ChangeKind.LOGGER_LEVEL_SET, "a.b", level="debug")
    bad: list[Any] = [None, [], {}, {"level": 7}]
    assert [topic.write(key, value) for value in bad] == [None] * 4
    assert caplog.text.count("Ignoring logging level for namespace a.b: wrong format") == 4
    assert topic.snapshot().connector_configs == before.connector_configs
