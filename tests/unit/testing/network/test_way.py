"""The bytes under way in one direction: when they arrive, and in which order. All times are given."""

from __future__ import annotations

import math

import pytest

from kafka_lite.testing.network.way import MAX_BYTES_UNDER_WAY, Stream, Way


def test_bytes_arrive_at_once_and_in_order() -> None:
    stream = Stream(Way())
    stream.take_in(b"one", 10)
    stream.take_in(b"two", 10)
    assert stream.due_part(10) == b"one"
    stream.delivered(3)
    assert stream.due_part(10) == b"two"
    stream.delivered(3)
    assert (stream.due_part(10), stream.due_ms(), stream.has_parts) == (None, math.inf, False)


def test_what_was_not_delivered_of_a_part_comes_next() -> None:
    stream = Stream(Way())
    stream.take_in(b"one", 0)
    stream.delivered(1)
    assert stream.due_part(0) == b"ne"


def test_nothing_arrives_while_the_way_is_cut_and_everything_afterwards() -> None:
    way = Way(is_cut=True)
    stream = Stream(way)
    stream.take_in(b"one", 0)
    assert (stream.due_part(1000), stream.due_ms()) == (None, math.inf)
    way.is_cut = False
    assert stream.due_part(1000) == b"one"


def test_a_delay_postpones_the_end_of_the_stream_too() -> None:
    stream = Stream(Way(delay_ms=100))
    stream.take_in(b"one", 0)
    stream.take_in(b"", 50)
    assert stream.due_part(99) is None
    assert stream.due_part(100) == b"one"
    stream.delivered(3)
    assert stream.due_part(149) is None
    assert stream.due_part(150) == b""


def test_a_limited_rate_spaces_the_parts() -> None:
    stream = Stream(Way(bytes_per_s=1000))
    stream.take_in(b"x" * 100, 0)
    stream.take_in(b"y" * 100, 0)
    assert stream.due_ms() == pytest.approx(100)
    stream.delivered(100)
    assert stream.due_ms() == pytest.approx(200)


def test_a_full_stream_takes_in_no_more_until_something_is_delivered() -> None:
    stream = Stream(Way(is_cut=True))
    stream.take_in(b"x" * MAX_BYTES_UNDER_WAY, 0)
    assert not stream.has_room
    stream.delivered(1)
    assert stream.has_room
