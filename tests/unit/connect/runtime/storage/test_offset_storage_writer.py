from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import pytest

from kafka_lite.connect.api.errors import ConnectError, DataError
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from kafka_lite.connect.runtime.storage.offset_backing_store import Offsets, SetCallback
from kafka_lite.connect.runtime.storage.offset_storage_writer import OffsetStorageWriter
from tests.support.connect_stores import PlainJson

A, B = {"file": "a"}, {"file": "b"}


class SlowStore(MemoryOffsetBackingStore):
    """Completes a write when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[dict[bytes | None, bytes | None]] = []
        self.callbacks: list[SetCallback] = []

    def set(self, values: Offsets, callback: SetCallback | None = None) -> Future[None]:
        assert callback is not None
        self.writes.append(dict(values))
        self.callbacks.append(callback)
        return Future()


class Flusher:
    """A writer on a slow store, and the outcomes of its flushes."""

    def __init__(self) -> None:
        self.store = SlowStore()
        self.writer = OffsetStorageWriter(self.store, "src", PlainJson(), PlainJson())
        self.outcomes: list[BaseException | None] = []

    def flush(self) -> bool:
        if self.writer.begin_flush():
            self.writer.do_flush(self.outcomes.append)
            return True
        return False

    @property
    def last(self) -> dict[str, str | None]:
        return {(key or b"").decode(): value and value.decode() for key, value in self.store.writes[-1].items()}


@pytest.fixture
def flusher() -> Flusher:
    return Flusher()


def test_the_last_offset_of_each_partition_is_stored(flusher: Flusher) -> None:
    flusher.writer.offset(A, {"position": 1})
    flusher.writer.offset(A, {"position": 2})
    flusher.writer.offset(B, None)
    assert flusher.flush()
    assert flusher.last == {'["src",{"file":"a"}]': '{"position":2}', '["src",{"file":"b"}]': None}
    flusher.store.callbacks[-1](None)
    assert flusher.outcomes == [None]
    assert not flusher.flush()


def test_the_order_of_a_partitions_keys_does_not_matter(flusher: Flusher) -> None:
    flusher.writer.offset({"db": "x", "table": "y"}, {"id": 1})
    flusher.writer.offset({"table": "y", "db": "x"}, {"id": 2})
    flusher.flush()
    assert list(flusher.last.values()) == ['{"id":2}']


def test_offsets_during_a_flush_belong_to_the_next_one(flusher: Flusher) -> None:
    flusher.writer.offset(A, {"position": 1})
    flusher.flush()
    flusher.writer.offset(A, {"position": 2})
    with pytest.raises(ConnectError, match="already flushing"):
        flusher.writer.begin_flush()
    flusher.store.callbacks[-1](None)
    flusher.flush()
    assert flusher.last == {'["src",{"file":"a"}]': '{"position":2}'}


def test_a_failed_flush_is_merged_back_and_newer_offsets_win(flusher: Flusher) -> None:
    flusher.writer.offset(A, {"position": 1})
    flusher.writer.offset(B, {"position": 1})
    flusher.flush()
    flusher.writer.offset(A, {"position": 2})
    flusher.store.callbacks[-1](ConnectError("lost"))
    assert [str(each) for each in flusher.outcomes] == ["lost"]
    flusher.flush()
    assert flusher.last == {'["src",{"file":"a"}]': '{"position":2}', '["src",{"file":"b"}]': '{"position":1}'}


def test_the_outcome_of_a_cancelled_flush_is_ignored(flusher: Flusher) -> None:
    flusher.writer.offset(A, {"position": 1})
    flusher.flush()
    flusher.writer.cancel_flush()
    flusher.flush()
    late, current = flusher.store.callbacks
    late(None)
    assert flusher.outcomes == []
    with pytest.raises(ConnectError, match="already flushing"):
        flusher.writer.begin_flush()
    current(None)
    assert flusher.outcomes == [None]
    assert not flusher.flush()


def test_a_flush_that_was_not_begun_is_cancelled_without_effect(flusher: Flusher) -> None:
    flusher.writer.cancel_flush()
    assert not flusher.flush()


@pytest.mark.parametrize(
    ("partition", "offset", "problem"),
    [
        ({1: "a"}, {}, "only use String keys"),
        (A, {"list": [1]}, "field list contains list"),
        ({"map": {}}, {}, "field map contains dict"),
        (A, [1], "must be specified as a Map"),
    ],
)
def test_offsets_that_cannot_be_serialized(
    flusher: Flusher, partition: Mapping[str, Any], offset: Any, problem: str
) -> None:
    flusher.writer.offset(partition, offset)
    assert flusher.writer.begin_flush()
    assert flusher.writer.do_flush(flusher.outcomes.append) is None
    (error,) = flusher.outcomes
    assert isinstance(error, DataError)
    assert problem in str(error)
    flusher.writer.cancel_flush()
    assert flusher.writer.begin_flush()  # it is still there
