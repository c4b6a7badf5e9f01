"""Frames in all the pieces in which a network can deliver them."""

from __future__ import annotations

import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.network.receive import (
    FIRST_ALLOCATION_BYTES,
    SECOND_ALLOCATION_BYTES,
    InvalidReceiveError,
    NetworkReceive,
)


def framed(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


@given(payload=st.binary(max_size=200), cuts=st.lists(st.integers(1, 50), max_size=300))
def test_a_frame_may_arrive_in_any_pieces(payload: bytes, cuts: list[int]) -> None:
    data = memoryview(framed(payload) + b"the next frame")
    receive = NetworkReceive("c")
    position = 0
    pieces = iter(cuts)
    while not receive.complete:
        position += receive.feed(data[position : position + next(pieces, 1000)])
    assert bytes(receive.payload) == payload
    assert position == 4 + len(payload)


@given(st.binary(max_size=64))
def test_the_payload_may_be_read_into_its_place(payload: bytes) -> None:
    receive = NetworkReceive("c")
    receive.feed(memoryview(framed(payload)[:4]))
    for byte in payload:
        receive.room()[:1] = bytes([byte])
        receive.advance(1)
    assert receive.complete
    assert bytes(receive.payload) == payload


@pytest.mark.parametrize("size", [-1, -(2**31), 101, 2**31 - 1])
def test_invalid_sizes_are_rejected(size: int) -> None:
    with pytest.raises(InvalidReceiveError, match=f"size = {size}"):
        NetworkReceive("c", max_size=100).feed(memoryview(struct.pack(">i", size)))


def test_an_announced_size_allocates_little() -> None:
    tracemalloc.start()
    receive = NetworkReceive("c")
    receive.feed(memoryview(struct.pack(">i", 2**31 - 1) + b"x"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * FIRST_ALLOCATION_BYTES


def test_the_buffer_grows_as_bytes_arrive_up_to_the_size() -> None:
    size = 3 * FIRST_ALLOCATION_BYTES + 5
    receive = NetworkReceive("c")
    receive.feed(memoryview(struct.pack(">i", size)))
    while not receive.complete:
        room = receive.room()
        room[:] = b"\7" * len(room)
        receive.advance(len(room))
        del room
    assert len(receive.payload) == size
    assert receive.payload[-1] == 7


def test_the_payload_can_be_changed_in_place() -> None:
    receive = NetworkReceive("c")
    receive.feed(memoryview(framed(b"abc")))
    receive.payload[0:1] = b"x"
    assert bytes(receive.payload) == b"xbc"


def test_a_frame_of_a_megabyte_is_moved_once() -> None:
    receive, sizes = NetworkReceive("c"), []
    receive.feed(memoryview(struct.pack(">i", SECOND_ALLOCATION_BYTES)))
    while not receive.complete:
        room = receive.room()
        sizes.append(len(room))
        receive.advance(len(room))
        del room
    assert sizes == [FIRST_ALLOCATION_BYTES, SECOND_ALLOCATION_BYTES - FIRST_ALLOCATION_BYTES]
