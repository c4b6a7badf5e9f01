from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.errors import ConnectError, DataError
from kafka_lite.connect.file.file_stream_sink_connector import FileStreamSinkConnector
from kafka_lite.connect.file.file_stream_source_connector import FileStreamSourceConnector
from kafka_lite.connect.runtime.herder_errors import BadRequestError
from kafka_lite.connect.runtime.offset_modification import (
    Offsets,
    modify_sink_offsets,
    modify_source_offsets,
    parse_sink_offsets,
)
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from tests.support.connect_groups import FakeGroupAdmin
from tests.support.connect_plugins import IdleSinkConnector, IdleSourceConnector
from tests.support.connect_stores import PlainJson

A1, A2, B = b'["a",{"db":"x","table":"1"}]', b'["a",{"db":"x","table":"2"}]', b'["b",{"db":"x","table":"1"}]'


def _store() -> MemoryOffsetBackingStore:
    store = MemoryOffsetBackingStore()
    store.set({A1: b'{"at":1}', A2: b'{"at":2}', B: b'{"at":3}'})
    return store


def _modify(store: MemoryOffsetBackingStore, offsets: Offsets | None, connector: Any = None) -> str:
    plugin = connector or IdleSourceConnector()
    return modify_source_offsets(store, "a", (PlainJson(), PlainJson()), plugin, {}, offsets)


def test_the_offsets_of_a_source_are_set_under_the_keys_that_are_stored() -> None:
    store = _store()
    # The user writes the keys of the partition in another order; the store compares bytes.
    message = _modify(store, [({"table": "1", "db": "x"}, {"at": 9}), ({"db": "y"}, {"at": 4})])
    assert store.all().result(0) == {
        A1: b'{"at":9}', A2: b'{"at":2}', B: b'{"at":3}', b'["a",{"db":"y"}]': b'{"at":4}',
    }  # fmt: skip
    assert message.startswith("The Connect framework-managed offsets for this connector have been altered successfully")
    assert message.endswith("manually altered in the system that the connector uses.")


def test_a_reset_forgets_all_offsets_of_this_source_only() -> None:
    store = _store()
    assert "have been reset successfully. However" in _modify(store, None)
    assert store.all().result(0) == {A1: None, A2: None, B: b'{"at":3}'}
    _modify(store, None)  # there is nothing left
    assert store.all().result(0) == {A1: None, A2: None, B: b'{"at":3}'}


class Checking(IdleSourceConnector):
    """Notes what it is asked for."""

    def __init__(self, answer: bool | Exception) -> None:
        super().__init__()
        self.answer = answer
        self.asked: list[Any] = []

    def alter_offsets(
        self, connector_config: Mapping[str, str], offsets: Sequence[tuple[dict[str, Any], dict[str, Any] | None]]
    ) -> bool:
        self.asked.append(list(offsets))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_the_connector_checks_the_offsets_before_they_are_stored() -> None:
    store, connector = _store(), Checking(True)
    assert _modify(store, None, connector) == "The offsets for this connector have been reset successfully"
    assert connector.asked == [[({"db": "x", "table": "1"}, None), ({"db": "x", "table": "2"}, None)]]
    before = _store().all().result(0)
    for error, message in (
        (NotImplementedError(), "doesn't support external modification of offsets"),
        (ConnectError("no such table"), "no such table"),
    ):
        store = _store()
        with pytest.raises(ConnectError, match=message):
            _modify(store, [({"db": "x"}, {"at": 1})], Checking(error))
        assert store.all().result(0) == before


@pytest.mark.parametrize(
    ("partition", "offset", "error"),
    [(None, {"at": 1}, BadRequestError), ({"a": []}, {"at": 1}, DataError), ({"a": 1}, {"at": {}}, DataError)],
)
def test_wrong_offsets_of_a_source_are_refused(partition: Any, offset: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        _modify(_store(), [(partition, offset)])


def test_a_store_that_fails_or_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(MemoryOffsetBackingStore):
        def set(self, values: Any, callback: Any = None) -> Future[None]:
            answer: Future[None] = Future()
            if fails:
                answer.set_exception(OSError("disk full"))
            return answer

    fails = True
    with pytest.raises(ConnectError, match="Failed to modify offsets for source connector a"):
        _modify(Failing(), [({"db": "x"}, {"at": 1})])
    fails = False
    monkeypatch.setattr("kafka_lite.connect.runtime.offset_modification.WRITE_TIMEOUT_S", 0)
    with pytest.raises(ConnectError, match="Timed out while attempting to modify offsets for source connector a"):
        _modify(Failing(), [({"db": "x"}, {"at": 1})])


# ── sinks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _at(partition: object, topic: object = "t") -> dict[str, object]:
    return {"kafka_topic": topic, "kafka_partition": partition}


def _modify_sink(admin: FakeGroupAdmin, offsets: Offsets | None, connector: Any = None) -> str:
    group: Any = admin
    return modify_sink_offsets(group, "connect-s", "s", connector or FileStreamSinkConnector(), {}, offsets)


def test_the_offsets_of_a_sink_are_committed_and_deleted_in_its_group() -> None:
    admin = FakeGroupAdmin({("t", 0): 5, ("t", 1): 6, ("u", 0): 7})
    message = _modify_sink(admin, [(_at("0"), {"kafka_offset": "12"}), (_at(1), None)])
    assert message == "The offsets for this connector have been altered successfully"
    assert admin.offsets == {TopicPartition("t", 0): 12, TopicPartition("u", 0): 7}
    assert "framework-managed" in _modify_sink(admin, None, IdleSinkConnector())
    assert admin.offsets == {}
    _modify_sink(admin, None)  # the group is gone already


@pytest.mark.parametrize("error", [Errors.UNKNOWN_MEMBER_ID, Errors.NON_EMPTY_GROUP, Errors.GROUP_SUBSCRIBED_TO_TOPIC])
def test_a_group_with_members_refuses_changes(error: Errors) -> None:
    admin = FakeGroupAdmin({("t", 0): 5})
    admin.error = error
    with pytest.raises(ConnectError, match="Failed to alter consumer group offsets for connector s either because"):
        _modify_sink(admin, [(_at(0), None)])
    with pytest.raises(ConnectError, match="Failed to reset consumer group offsets for connector s either because"):
        _modify_sink(admin, None)
    admin.error = Errors.GROUP_AUTHORIZATION_FAILED
    with pytest.raises(ConnectError, match="connector s: GROUP_AUTHORIZATION_FAILED"):
        _modify_sink(admin, None)


@pytest.mark.parametrize(
    ("partition", "offset", "problem"),
    [
        (None, None, "cannot be null or missing"),
        ({"kafka_topic": "t"}, None, "must contain the keys 'kafka_topic' and 'kafka_partition'"),
        (_at(0, None), None, "Kafka topic names must be valid strings and may not be null"),
        (_at(None), None, "Kafka partitions must be valid numbers and may not be null"),
        (_at("1.5"), None, "Failed to parse the following Kafka partition value in the provided offsets: '1.5'"),
        (_at(1 << 31), None, "Partition values for sink connectors need to be integers"),
        (_at(0), {"offset": 1}, "should either be null or contain the key 'kafka_offset'"),
        (_at(0), {"kafka_offset": True}, "Offset values for sink connectors need to be integers"),
        (_at(0), {"kafka_offset": 1 << 63}, "Offset values for sink connectors need to be integers"),
    ],
)
def test_wrong_offsets_of_a_sink_are_refused(partition: Any, offset: Any, problem: str) -> None:
    with pytest.raises(BadRequestError, match=problem):
        parse_sink_offsets([(partition, offset)])


# ── the connectors of files ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("partition", "offset", "problem"),
    [
        ({"filename": "f"}, {}, "either be null or contain the key 'position'"),
        ({"filename": "f"}, {"position": "4"}, "expected to be a Long value"),
        ({"filename": "f"}, {"position": -1}, "non-negative"),
        ({"file": "f"}, {"position": 1}, "contain the key 'filename'"),
    ],
)
def test_a_position_in_a_file_is_checked(partition: Any, offset: Any, problem: str) -> None:
    connector = FileStreamSourceConnector()
    with pytest.raises(ConnectError, match=problem):
        connector.alter_offsets({"file": "f"}, [(partition, offset)])
    assert connector.alter_offsets({"file": "f"}, [({"filename": "f"}, {"position": 7}), ({"any": 1}, None)])
    with pytest.raises(ConnectError, match="'file' configuration is unspecified"):
        connector.alter_offsets({}, [])
