"""From bytes to batches: where iteration ends, and which sizes are corrupt."""

from __future__ import annotations

import pytest

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import CorruptRecordError
from kafka_lite.record.records import (
    batch_size,
    batches,
    first_batch,
    has_matching_magic,
    last_wrapper,
    records,
    valid_bytes,
)


def test_iteration_ends_at_an_incomplete_batch() -> None:
    whole = memory_records(2, CompressionType.NONE, [(b"k", b"v")])
    for cut in range(1, len(whole)):
        assert valid_bytes(whole + whole[:cut]) == len(whole)
    assert valid_bytes(whole * 3) == 3 * len(whole)


@pytest.mark.parametrize("size", [0, 13, -1, -(2**31)])
def test_an_impossible_size_is_corrupt(size: int) -> None:
    data = bytes(8) + size.to_bytes(4, "big", signed=True) + bytes(30)
    with pytest.raises(CorruptRecordError, match="less than the minimum"):
        list(batches(data))


def test_sizes_above_the_limit_are_corrupt() -> None:
    data = memory_records(2, CompressionType.NONE, [(b"k", bytes(200))])
    assert batch_size(data, 0, len(data)) == len(data)
    with pytest.raises(CorruptRecordError, match="exceeds"):
        list(batches(data, max_message_bytes=100))


def mixed(*magics: int, compression: CompressionType = CompressionType.NONE) -> bytes:
    return b"".join(memory_records(magic, compression, [(b"k", b"v")], timestamp=1) for magic in magics)


def test_batches_of_several_formats_follow_each_other() -> None:
    data = mixed(0, 1, 2)
    assert [batch.magic for batch in batches(data)] == [0, 1, 2]
    assert [batch.magic for batch in batches(data, len(mixed(0)))] == [1, 2]
    assert [record.value for record in records(data)] == [b"v"] * 3
    assert not has_matching_magic(data, 2)
    assert has_matching_magic(mixed(2, 2), 2)


def test_only_complete_batches_count() -> None:
    whole = mixed(2, 1)
    for cut in range(1, len(mixed(1))):
        assert valid_bytes(whole[:-cut]) == len(mixed(2))
    assert valid_bytes(whole) == len(whole)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_the_first_batch_is_the_one_that_iteration_yields(magic: int) -> None:
    data = mixed(magic, 2)
    first = first_batch(data)
    assert first is not None
    assert bytes(first.view) == bytes(next(batches(data)).view) == mixed(magic)
    assert first_batch(data, len(data)) is None
    assert first_batch(mixed(magic)[:-1]) is None


def test_the_last_wrapper_of_a_set_is_found_without_reading_it() -> None:
    wrapper = mixed(1, compression=CompressionType.GZIP)
    found = last_wrapper(wrapper + mixed(1) + wrapper + mixed(1, 1))
    assert found is not None
    assert bytes(found.view) == wrapper
    assert last_wrapper(mixed(1, 1)) is None
    assert last_wrapper(mixed(1) + wrapper[:-1]) is None, "it is incomplete"


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_what_mutants_have_shown_of_sizes(magic: int) -> None:
    data = memory_records(magic, CompressionType.NONE, [(b"k", b"v")])
    length = int.from_bytes(data[8:12], "big")
    assert batch_size(data) == len(data)
    assert batch_size(data, max_message_bytes=length) == len(data)
    with pytest.raises(CorruptRecordError, match="exceeds"):
        batch_size(data, max_message_bytes=length - 1)


def test_a_header_up_to_the_magic_alone_is_looked_at() -> None:
    """A size that is impossible is an error then, and with a byte less the end."""
    corrupt = bytes(17)
    for look in (first_batch, last_wrapper, lambda data: list(batches(data))):
        with pytest.raises(CorruptRecordError):
            look(corrupt)
        assert not look(corrupt[:-1])


def test_the_last_wrapper_before_an_incomplete_message_is_found() -> None:
    wrapper = memory_records(1, CompressionType.GZIP, [(b"k", b"v")] * 3, timestamp=1)
    plain = memory_records(1, CompressionType.NONE, [(b"k", b"v")], timestamp=1)
    found = last_wrapper(plain + wrapper + plain + wrapper[:-1])
    assert found is not None
    assert bytes(found.view) == wrapper
    assert last_wrapper(plain) is None


def test_a_view_of_a_buffer_is_used_as_it_is_and_other_buffers_are_not_copied() -> None:
    data = bytearray(memory_records(2, CompressionType.NONE, [(b"k", b"v")]))
    for buffer in (data, memoryview(data)):
        [batch] = batches(buffer)
        assert batch.view.obj is data
        batch.set_last_offset(77)
        assert int.from_bytes(data[:8], "big") == 77
