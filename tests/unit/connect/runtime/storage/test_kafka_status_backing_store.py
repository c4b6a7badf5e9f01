import logging

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.status import ConnectorStatus, State, TaskStatus, TopicStatus
from kafka_lite.connect.runtime.storage.kafka_status_backing_store import KafkaStatusBackingStore
from tests.support.connect_samples import two_workers
from tests.support.connect_stores import FakeTopic, PlainJson

TASK = ConnectorTaskId("my-source", 0)
RETRIABLE, FATAL = ApiError(Errors.NOT_LEADER_OR_FOLLOWER), ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)


def _store(topic: FakeTopic) -> KafkaStatusBackingStore:
    store = KafkaStatusBackingStore("connect-status", PlainJson(), topic.new_log)
    store.start()
    return store


@pytest.fixture
def topic() -> FakeTopic:
    return FakeTopic()


def test_the_records_of_real_workers_are_written_again(topic: FakeTopic) -> None:
    recorded = two_workers()["connect-status"]
    topic.records = [(key.encode(), value and value.encode()) for key, value in recorded]
    known = _store(topic)
    again = FakeTopic()
    writer = _store(again)
    for connector in sorted(known.connectors()):
        status = known.connector(connector)
        assert status is not None
        writer.put(status)
        for task in known.tasks(connector):
            writer.put(task)
    last = dict(recorded)
    assert again.texts() == [(key, last[key]) for key, _ in again.texts()]


def test_a_status_is_known_once_it_has_been_read_back(topic: FakeTopic) -> None:
    store = _store(topic)
    status = TaskStatus(TASK, State.FAILED, "w:1", 3, "Traceback …")
    store.put(status)
    assert store.task(TASK) is None
    assert _store(topic).task(TASK) == status
    assert topic.texts() == [
        (
            "status-task-my-source-0",
            '{"state":"FAILED","trace":"Traceback …","worker_id":"w:1","generation":3}',
        )
    ]


def test_a_deleted_connector_takes_its_tasks_along(topic: FakeTopic) -> None:
    store = _store(topic)
    store.put(ConnectorStatus("my-source", State.RUNNING, "w:1", 3))
    store.put(TaskStatus(TASK, State.RUNNING, "w:1", 3))
    assert _store(topic).connectors() == {"my-source"}
    store.put(ConnectorStatus("my-source", State.DESTROYED, "w:1", 3))
    assert topic.texts()[-1] == ("status-connector-my-source", None)
    after = _store(topic)
    assert (after.connectors(), after.tasks("my-source"), after.task(TASK)) == (set(), [], None)
    assert after.connector("my-source") is None


def test_a_safe_write_does_not_hide_the_new_owner(topic: FakeTopic) -> None:
    _store(topic).put(TaskStatus(TASK, State.RUNNING, "new:1", 5))
    late = _store(topic)
    late.put_safe(TaskStatus(TASK, State.UNASSIGNED, "old:1", 4))
    assert len(topic.records) == 1
    late.put(TaskStatus(TASK, State.RUNNING, "old:1", 4))  # a plain write is not checked
    assert len(topic.records) == 2


def test_a_failed_write_is_repeated(topic: FakeTopic) -> None:
    topic.errors = [RETRIABLE, RETRIABLE]
    _store(topic).put_safe(ConnectorStatus("a", State.UNASSIGNED, "w:1", 3))
    assert [key for key, _ in topic.texts()] == ["status-connector-a"]


def test_an_error_that_is_not_retriable_is_logged(topic: FakeTopic, caplog: pytest.LogCaptureFixture) -> None:
    topic.errors = [FATAL]
    with caplog.at_level(logging.ERROR):
        _store(topic).put(ConnectorStatus("a", State.RUNNING, "w:1", 3))
    assert topic.records == []
    assert "Failed to write status update" in caplog.text


def test_a_failed_write_gives_way_to_a_newer_one(topic: FakeTopic) -> None:
    store = _store(topic)
    topic.errors, topic.holds_callbacks = [RETRIABLE], True
    store.put_safe(ConnectorStatus("a", State.FAILED, "w:1", 3))
    store.put_safe(ConnectorStatus("a", State.UNASSIGNED, "w:1", 3))
    failed, _ = topic.held
    failed()
    assert [(value or "")[:21] for _, value in topic.texts()] == ['{"state":"UNASSIGNED"']


def test_a_failed_write_of_an_old_generation_is_not_repeated(topic: FakeTopic) -> None:
    store = _store(topic)
    topic.errors, topic.holds_callbacks = [RETRIABLE], True
    store.put(ConnectorStatus("a", State.RUNNING, "w:1", 3))
    store.put(ConnectorStatus("b", State.RUNNING, "w:1", 4))
    topic.held[0]()
    assert [key for key, _ in topic.texts()] == ["status-connector-b"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b"{}"),
        (b"status-connector-", b"{}"),
        (b"status-task-a", b"{}"),
        (b"status-topic-t:connector-a", b"{}"),
        (b"status-connector-a", b"not json"),
        (b"status-connector-a", b"[]"),
        (b"status-connector-a", b'{"state":"ELSEWHERE","trace":null,"worker_id":"w","generation":1}'),
        (b"status-task-a-0", b'{"state":"RUNNING"}'),
        (b"\xff", b"{}"),
    ],
)
def test_garbage_is_logged_and_ignored(
    topic: FakeTopic, key: bytes | None, value: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    topic.records = [(key, value)]
    with caplog.at_level(logging.WARNING):
        store = _store(topic)
    assert (store.connectors(), store.tasks("a")) == (set(), [])
    assert len(caplog.records) == 1


USED = TopicStatus("t-1", TASK, 1_500_000_000_000)
USED_RECORD = (
    "status-topic-t-1:connector-my-source",
    '{"topic":{"name":"t-1","connector":"my-source","task":0,"discoverTimestamp":1500000000000}}',
)


def test_a_topic_that_a_connector_uses_is_written_once(topic: FakeTopic) -> None:
    store = _store(topic)
    store.put_topic(USED)
    store.put_topic(TopicStatus("t-1", ConnectorTaskId("my-source", 1), 7))  # another task, before it is read back
    assert topic.texts() == [USED_RECORD]
    assert store.topic("my-source", "t-1") is None
    known = _store(topic)
    known.put_topic(TopicStatus("a", ConnectorTaskId("other", 0), 7))
    assert known.topic("my-source", "t-1") == USED
    assert (known.topics("my-source"), known.topics("none")) == ([USED], [])


def test_a_topic_can_be_forgotten_and_found_again(topic: FakeTopic) -> None:
    store = _store(topic)
    store.put_topic(USED)
    again = _store(topic)
    again.remove_topic("my-source", "t-1")
    assert topic.texts()[-1] == (USED_RECORD[0], None)
    after = _store(topic)
    assert (after.topics("my-source"), after.topic("my-source", "t-1")) == ([], None)
    after.put_topic(USED)
    assert topic.texts()[-1] == USED_RECORD


def test_a_topics_record_is_sent_again_unless_the_error_is_final(
    topic: FakeTopic, caplog: pytest.LogCaptureFixture
) -> None:
    topic.errors = [RETRIABLE, FATAL]
    store = _store(topic)
    store.put_topic(USED)
    assert topic.texts() == []
    assert "Failed to write status update" in caplog.text
    store.put_topic(USED)
    assert topic.texts() == [USED_RECORD]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("status-topic-t", b"{}"),
        ("status-topic-:connector-a", b"{}"),
        ("status-topic-t:connector-", b"{}"),
        ("status-topic-t:connector-a", b"{"),
        ("status-topic-t:connector-a", b"[]"),
        ("status-topic-t:connector-a", b'{"topic":3}'),
        ("status-topic-t:connector-a", b'{"topic":{"name":"t","connector":"a","task":"x","discoverTimestamp":1}}'),
    ],
)
def test_a_topics_record_that_makes_no_sense_is_logged(
    topic: FakeTopic, caplog: pytest.LogCaptureFixture, key: str, value: bytes
) -> None:
    topic.records = [(key.encode(), value)]
    store = _store(topic)
    assert (store.topics("a"), store.topics("")) == ([], [])
    assert key in caplog.text
