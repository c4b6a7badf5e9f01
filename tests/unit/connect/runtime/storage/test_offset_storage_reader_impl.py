import logging
from concurrent.futures import Future
from typing import Any

import pytest

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from kafka_lite.connect.runtime.storage.offset_storage_reader_impl import OffsetStorageReaderImpl
from kafka_lite.connect.runtime.storage.offset_storage_writer import OffsetStorageWriter
from tests.support.connect_stores import PlainJson

A, B = {"file": "a"}, {"file": "ü"}


def _reader(store: MemoryOffsetBackingStore) -> OffsetStorageReaderImpl:
    return OffsetStorageReaderImpl(store, "src", PlainJson(), PlainJson())


def test_what_a_writer_stored_is_read() -> None:
    store = MemoryOffsetBackingStore()
    writer = OffsetStorageWriter(store, "src", PlainJson(), PlainJson())
    writer.offset(A, {"position": 1})
    writer.offset(B, {"position": 2, "name": "ü", "gone": None})
    writer.begin_flush()
    writer.do_flush(lambda error: None)

    assert _reader(store).offset(A) == {"position": 1}
    assert _reader(store).offsets([B, {"file": "c"}, A]) == [
        {"position": 2, "name": "ü", "gone": None}, None, {"position": 1},
    ]  # fmt: skip


def test_another_connectors_offsets_are_not_seen() -> None:
    store = MemoryOffsetBackingStore()
    store.set({b'["other",{"file":"a"}]': b'{"position":1}'})
    assert _reader(store).offset(A) is None


@pytest.mark.parametrize("value", [b"not json", b"[1]", b'{"a":{"b":1}}'])
def test_an_offset_that_cannot_be_read_counts_as_none(value: bytes, caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryOffsetBackingStore()
    store.set({b'["src",{"file":"a"}]': value})
    with caplog.at_level(logging.ERROR):
        assert _reader(store).offset(A) is None
    assert "CRITICAL: Failed to deserialize offset data" in caplog.text


def test_a_partition_that_cannot_be_serialized_has_no_offset(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        assert _reader(MemoryOffsetBackingStore()).offsets([{"list": [1]}, A]) == [None, None]
    assert "CRITICAL: Failed to serialize partition key" in caplog.text


def test_a_store_that_fails() -> None:
    class BrokenStore(MemoryOffsetBackingStore):
        def get(self, keys: Any) -> Future[dict[bytes | None, bytes | None]]:
            future: Future[dict[bytes | None, bytes | None]] = Future()
            future.set_exception(ConnectError("the log was stopped"))
            return future

    with pytest.raises(ConnectError, match="Failed to fetch offsets"):
        _reader(BrokenStore()).offset(A)
