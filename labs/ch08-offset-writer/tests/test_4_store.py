"""Task 4: what was set aside is stored."""

import pytest

from kafka_lite.connect.api.errors import DataError
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from kafka_lite.connect.runtime.storage.offset_storage_writer import OffsetStorageWriter

A, B = {"file": "a"}, {"file": "b"}


def flush(writer, heard):
    assert writer.begin_flush()
    return writer.do_flush(heard.append)


@pytest.mark.points(7, task=4)
def test_the_bytes_of_the_offsets(writer, store, heard):
    """Two partitions of the connector x"""
    writer.offset(A, {"row": 5})
    writer.offset(B, {"row": 1})
    future = flush(writer, heard)
    stored = store.sets[0].values
    assert stored == {b'["x",{"file":"a"}]': b'{"row":5}', b'["x",{"file":"b"}]': b'{"row":1}'}, (
        f"the key has the connector's name and the partition, the value is the offset; yours: {stored}"
    )
    assert future is store.sets[0].future, "return the future of the store: the caller waits for it"
    assert not heard, "the write has not ended: nothing to report"
    store.end(0)
    assert heard == [None], f"a success is reported as None, once; yours: {heard}"


@pytest.mark.points(7, task=4)
def test_a_late_outcome_is_not_reported(writer, store, heard):
    """The first flush is given up, the second one has begun"""
    writer.offset(A, {"row": 5})
    flush(writer, heard)
    writer.cancel_flush()
    writer.offset(A, {"row": 7})
    flush(writer, heard)
    assert store.texts() == {"a": 7}, f"the second flush stores 7, not {store.texts()}"
    store.end(0, OSError("full"))
    assert not heard, f"the first flush was given up: nobody waits for it any more; reported: {heard}"
    assert writer._to_flush, "that outcome belongs to a flush that was given up: the second one goes on"
    store.end(1)
    assert heard == [None], f"the second flush has succeeded; reported: {heard}"
    writer.offset(A, {"row": 8})
    writer.begin_flush()
    writer.cancel_flush()
    try:
        writer.do_flush(heard.append)
    except AttributeError as error:
        pytest.fail(f"a flush may be given up before it is stored: then there is nothing to store ({error})")
    assert store.texts() == {}, f"the flush was given up before it was stored; yours stores {store.texts()}"


@pytest.mark.points(6, task=4)
def test_what_is_no_offset(writer, store, heard):
    """A value that JSON cannot be made of"""
    writer.offset(A, {"row": object()})
    try:
        future = flush(writer, heard)
    except DataError as error:
        pytest.fail(f"do not raise: the callback gets the error, and None is returned; {error}")
    assert future is None, "nothing is under way: return None"
    assert len(heard) == 1, f"the callback gets the error, once; it got {heard}"
    assert not store.sets, "nothing can be stored"


@pytest.mark.points(5, task=4)
def test_the_store_calls_back_at_once(converter, heard):
    """A store in memory, in the same thread"""
    writer = OffsetStorageWriter(MemoryOffsetBackingStore(), "x", converter, converter)
    for row in (1, 2):
        writer.offset(A, {"row": row})
        flush(writer, heard)
    assert heard == [None, None], (
        f"both flushes succeed; call the store without the lock, it may call back before it returns; yours: {heard}"
    )
