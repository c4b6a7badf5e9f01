"""Task 1: every change is a record."""

from types import SimpleNamespace

import pytest

from kafka_lite.streams.state.change_logging_key_value_bytes_store import (
    ChangeLoggingKeyValueBytesStore,
    StoreChangeLogger,
)
from kafka_lite.streams.state.in_memory_key_value_store import InMemoryKeyValueStore
from kafka_lite.streams.task_id import TaskId


class Context(SimpleNamespace):
    """The context of task 0_3; ``sent`` has what its collector got."""

    def __init__(self):
        super().__init__(application_id="app", task_id=TaskId(0, 3), timestamp=1234, sent=[], record_collector=self)

    def register(self, store, restore):
        """Nothing to restore."""

    def send(self, topic, key, value, partition, timestamp, key_serializer, value_serializer):
        raw = key_serializer.serialize(topic, key), value_serializer.serialize(topic, value)
        self.sent.append((topic, partition, timestamp, *raw))


@pytest.fixture
def context():
    return Context()


@pytest.fixture
def store(context):
    made = ChangeLoggingKeyValueBytesStore(InMemoryKeyValueStore("counts"))
    made.init(context, made)
    return made


def pairs(context):
    return [record[3:] for record in context.sent]


@pytest.mark.points(6, task=1)
def test_where_a_change_goes(context):
    """To the partition of the task, with the time of the current record"""
    StoreChangeLogger("counts", context).log_change(b"k", b"1")
    assert len(context.sent) == 1, f"one record for a change, not {len(context.sent)}"
    topic, partition, timestamp, *raw = context.sent[0]
    assert topic == "app-counts-changelog", f"the topic is app-counts-changelog, not {topic}"
    assert partition == 3, f"task 0_3 logs to partition 3, whatever the key is; not {partition}"
    assert timestamp == 1234, f"the time is that of the current record, 1234, not {timestamp}"
    assert raw == [b"k", b"1"], f"the record has the key and the value as they are in the store; yours: {raw}"


@pytest.mark.points(5, task=1)
def test_put(store, context):
    """A new value, another one, and None"""
    for value in (b"1", b"2", None):
        store.put(b"k", value)
        assert store.get(b"k") == value, f"the store has {value} after put; yours has {store.get(b'k')}"
    assert pairs(context) == [(b"k", b"1"), (b"k", b"2"), (b"k", None)], (
        f"each put is logged; you logged {pairs(context)}"
    )


@pytest.mark.points(5, task=1)
def test_put_if_absent(store, context):
    """Only the first one counts"""
    assert store.put_if_absent(b"k", b"1") is None, "returns the value that the key had: None"
    assert store.put_if_absent(b"k", b"2") == b"1", "returns the value that the key had: 1"
    assert store.get(b"k") == b"1", f"the key had a value, 1, which stays; yours has {store.get(b'k')}"
    assert pairs(context) == [(b"k", b"1")], f"the second call changes nothing, so it logs nothing: {pairs(context)}"
    store.put(b"empty", b"")
    found = store.put_if_absent(b"empty", b"1")
    assert found == b"", f"an empty value is a value: it is returned, and stays; yours returns {found}"
    assert pairs(context)[1:] == [(b"empty", b"")], f"and nothing more is logged; yours: {pairs(context)[1:]}"


@pytest.mark.points(3, task=1)
def test_delete(store, context):
    """A tombstone, in any case"""
    store.put(b"k", b"1")
    assert store.delete(b"k") == b"1", "returns the value that the key had"
    assert store.get(b"k") is None, f"the inner store deletes the key as well; yours still has {store.get(b'k')}"
    assert pairs(context)[1:] == [(b"k", None)], (
        f"a deletion is a record without a value; you logged {pairs(context)[1:]}"
    )
    store.put(b"empty", b"")
    found = store.delete(b"empty")
    assert found == b"", f"returns the value that the key had, also if that was empty; yours returns {found}"
    del context.sent[2:]
    assert store.delete(b"nothing") is None, "the key had no value: delete returns None"
    assert pairs(context)[2:] == [(b"nothing", None)], "a deletion is logged even if the key had no value"


@pytest.mark.points(3, task=1)
@pytest.mark.parametrize(
    "change", [lambda store: store.put(b"k", b"2"), lambda store: store.delete(b"k")], ids=["put", "delete"]
)
def test_the_store_comes_first(store, context, change):
    """A change that fails is not in the changelog"""
    in_the_store = []
    store.put(b"k", b"1")
    send = context.send

    def look(*arguments, **named):
        in_the_store.append(store.get(b"k"))
        send(*arguments, **named)

    context.send = look
    change(store)
    assert in_the_store != [b"1"], "the store first, then the changelog: yours has the old value while it logs the new"
