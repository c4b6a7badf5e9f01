import json
from collections.abc import Sequence
from itertools import chain

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.storage import kafka_config_backing_store
from kafka_lite.connect.runtime.storage.kafka_config_backing_store import KafkaConfigBackingStore
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest
from kafka_lite.connect.runtime.target_state import TargetState
from tests.support.connect_samples import two_workers
from tests.support.connect_stores import FakeTopic, PlainJson


class Listener:
    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def on_connector_config_remove(self, connector: str) -> None:
        self.calls.append(("removed", connector))

    def on_connector_config_update(self, connector: str) -> None:
        self.calls.append(("updated", connector))

    def on_task_config_update(self, tasks: Sequence[ConnectorTaskId]) -> None:
        self.calls.append(("tasks", *map(str, tasks)))

    def on_connector_target_state_change(self, connector: str) -> None:
        self.calls.append(("target", connector))

    def on_restart_request(self, request: RestartRequest) -> None:
        self.calls.append(("restart", request.connector, str(request.only_failed), str(request.include_tasks)))

    def on_logging_level_update(self, name: str, level: str) -> None:
        self.calls.append(("level", name, level))


@pytest.fixture
def topic() -> FakeTopic:
    return FakeTopic()


def _store(topic: FakeTopic) -> KafkaConfigBackingStore:
    return KafkaConfigBackingStore("connect-configs", PlainJson(), topic.new_log)


def test_the_same_course_of_actions_writes_the_records_of_java(topic: FakeTopic) -> None:
    recorded = two_workers()["connect-configs"][:15]
    store = _store(topic)
    store.start()
    for record in recorded:
        _repeat(store, record, recorded)
    assert topic.texts() == [(key, value) for key, value in recorded]


def _repeat(store: KafkaConfigBackingStore, record: Sequence[str], records: Sequence[Sequence[str]]) -> None:
    key, value = record
    fields = json.loads(value)
    if key.startswith("connector-"):
        store.put_connector_config(key.removeprefix("connector-"), fields["properties"])
    elif key.startswith("target-state-"):
        store.put_target_state(key.removeprefix("target-state-"), TargetState[fields["state"]])
    elif key.startswith("commit-"):
        connector, before = key.removeprefix("commit-"), records[: list(records).index(record)]
        tasks = [json.loads(text)["properties"] for name, text in before if name.startswith(f"task-{connector}-")]
        store.put_task_configs(connector, tasks[-fields["tasks"] :])


def test_the_topic_has_one_partition(topic: FakeTopic) -> None:
    topic.partition_count = 2
    with pytest.raises(ConnectError) as refused:
        _store(topic).start()
    assert str(refused.value) == (
        "Topic 'connect-configs' supplied via the 'config.storage.topic' property is required to have a single "
        "partition in order to guarantee consistency of connector configurations, but found 2 partitions."
    )


def test_a_deletion_writes_two_tombstones(topic: FakeTopic) -> None:
    store = _store(topic)
    store.start()
    store.put_connector_config("a", {"name": "a"})
    assert "a" in store
    store.remove_connector_config("a")
    assert topic.texts()[1:] == [("connector-a", None), ("target-state-a", None)]
    assert ("a" in store, store.snapshot().offset) == (False, 3)


def test_a_commit_follows_when_all_task_configs_can_be_read(topic: FakeTopic) -> None:
    store = _store(topic)
    store.start()
    store.put_connector_config("a", {})
    store.put_task_configs("a", [{"n": "0"}, {"n": "1"}])
    store.put_task_configs("a", [])
    assert [key for key, _ in topic.texts()] == ["connector-a", "task-a-0", "task-a-1", "commit-a", "commit-a"]
    assert store.snapshot().tasks("a") == []


def test_every_worker_is_told_of_changes_after_its_start(topic: FakeTopic) -> None:
    leader, other = _store(topic), _store(topic)
    leader.start()
    leader.put_connector_config("old", {})
    listener = Listener()
    other.set_update_listener(listener)
    other.start()
    leader.put_connector_config("a", {})
    leader.put_task_configs("a", [{}])
    leader.put_target_state("a", TargetState.PAUSED)
    leader.remove_connector_config("old")
    other.refresh(0)
    assert listener.calls == [("updated", "a"), ("tasks", "a-0"), ("target", "a"), ("removed", "old")]
    assert other.snapshot() == leader.snapshot()


def test_a_restart_request_is_told_to_those_that_run(topic: FakeTopic) -> None:
    leader, other = _store(topic), _store(topic)
    listener, late = Listener(), Listener()
    other.set_update_listener(listener)
    leader.start()
    other.start()
    leader.put_restart_request(RestartRequest("a", only_failed=False, include_tasks=True))
    # The record that Kafka 3.9.1 has written in the sample connect-group-3.9.json.
    assert topic.texts() == [("restart-connector-a", '{"include-tasks":true,"only-failed":false}')]
    other.refresh(0)
    assert listener.calls == [("restart", "a", "False", "True")]
    assert (other.snapshot().connectors, other.snapshot().offset) == ([], 1)
    joins_later = _store(topic)
    joins_later.set_update_listener(late)
    joins_later.start()
    assert late.calls == []


def test_garbage_changes_nothing(topic: FakeTopic) -> None:
    store = _store(topic)
    store.start()
    topic.records += [(b"connector-a", b"not json"), (None, b"{}"), (b"\xff\xfe", b"{}"), (b"connector-b", b"{}")]
    store.refresh(0)
    assert (store.snapshot().connectors, store.snapshot().offset) == ([], 4)


def test_a_topic_that_does_not_answer(topic: FakeTopic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_config_backing_store, "READ_TO_END_TIMEOUT_MS", 0)
    store = _store(topic)
    store.start()
    topic.answers = False
    with pytest.raises(TimeoutError, match="0 ms were not enough"):
        store.refresh(0)
    with pytest.raises(ConnectError, match="Error writing connector configuration"):
        store.put_connector_config("a", {})
    store.stop()


def test_task_configs_are_not_removed(topic: FakeTopic) -> None:
    with pytest.raises(ConnectError, match="not currently supported"):
        _store(topic).remove_task_configs("a")


def test_all_records_of_the_recorded_life_are_understood(topic: FakeTopic, caplog: pytest.LogCaptureFixture) -> None:
    records = two_workers()["connect-configs"]
    topic.records = [(key.encode(), value and value.encode()) for key, value in records]
    store = _store(topic)
    store.start()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    assert store.snapshot().connectors == []
    assert {task.connector for task in store.snapshot().task_configs} == {
        key.removeprefix("commit-") for key in chain.from_iterable(records) if key and key.startswith("commit-")
    }


def test_a_level_is_told_to_the_workers_that_run(topic: FakeTopic) -> None:
    worker, other, listener = _store(topic), _store(topic), Listener()
    other.set_update_listener(listener)
    for store in (worker, other):
        store.start()
    worker.put_logger_level("kafka_lite.connect", "DEBUG")
    assert topic.texts() == [("logger-cluster-kafka_lite.connect", '{"level":"DEBUG"}')]
    other.refresh(1)
    assert listener.calls == [("level", "kafka_lite.connect", "DEBUG")]
    late, told = _store(topic), Listener()
    late.set_update_listener(told)
    late.start()  # the level was for those that ran when it was set
    assert told.calls == []


def test_a_level_that_cannot_be_written_is_an_error(topic: FakeTopic) -> None:
    store = _store(topic)
    store.start()
    topic.errors = [Errors.TOPIC_AUTHORIZATION_FAILED.exception()]
    with pytest.raises(ConnectError, match=r"^Error writing logger level to Kafka$"):
        store.put_logger_level("a", "DEBUG")
