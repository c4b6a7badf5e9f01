import pytest

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore


def test_what_was_set_is_found() -> None:
    store, outcomes = MemoryOffsetBackingStore(), list[object]()
    store.start()
    assert store.set({b"a": b"1", b"b": None}, outcomes.append).result() is None
    assert store.get([b"a", b"b", b"c"]).result() == {b"a": b"1", b"b": None, b"c": None}
    store.stop()
    assert outcomes == [None]


def test_a_save_that_fails_fails_the_call() -> None:
    class FullStore(MemoryOffsetBackingStore):
        def _save(self) -> None:
            raise ConnectError("no space left")

    outcomes = list[object]()
    future = FullStore().set({b"a": b"1"}, outcomes.append)
    with pytest.raises(ConnectError, match="no space left"):
        future.result()
    assert [str(each) for each in outcomes] == ["no space left"]
