"""Windows: which a time belongs to, what they refuse, and the bytes of windowed keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.murmur2 import murmur2, to_positive
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import SerializationError
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.windowed_serde import (
    SessionKeySerde,
    WindowedSerde,
    WindowedSerializer,
    WindowedStreamPartitioner,
)
from kafka_lite.streams.kstream.windows import TimeWindows, UnlimitedWindows, Windows
from kafka_lite.streams.windowed import (
    MAX_TIME,
    SessionWindow,
    TimeWindow,
    UnlimitedWindow,
    Window,
    Windowed,
)

DAY_MS = 24 * 60 * 60 * 1000


@given(size=st.integers(1, 40), part=st.floats(0, 1), timestamp=st.integers(0, 500))
def test_a_time_belongs_to_all_time_windows_that_contain_it(size: int, part: float, timestamp: int) -> None:
    advance = max(1, int(size * part))
    expected = [start for start in range(0, 600, advance) if start <= timestamp < start + size]
    windows = TimeWindows.of(size).advance_by(advance).windows_for(timestamp)
    assert list(windows) == expected
    assert list(windows.values()) == [TimeWindow(start, start + size) for start in expected]


def test_tumbling_windows_do_not_overlap() -> None:
    windows = TimeWindows.of(10)
    assert [list(windows.windows_for(timestamp)) for timestamp in (0, 9, 10, 25)] == [[0], [0], [10], [20]]


def test_the_unlimited_window_begins_at_its_start() -> None:
    windows = UnlimitedWindows.of().start_on(100)
    assert windows.windows_for(99) == {}
    assert windows.windows_for(100) == {100: UnlimitedWindow(100)} == windows.windows_for(10**15)
    assert (windows.size_ms, windows.maintain_ms) == (MAX_TIME, MAX_TIME)
    assert UnlimitedWindows.of().start_ms == 0


def test_windows_are_kept_for_a_day_but_never_less_than_their_size() -> None:
    assert TimeWindows.of(10).maintain_ms == DAY_MS
    assert TimeWindows.of(2 * DAY_MS).maintain_ms == 2 * DAY_MS
    assert TimeWindows.of(10).until(10).maintain_ms == 10
    assert TimeWindows.of(10).until(60).advance_by(5).maintain_ms == 60
    assert TimeWindows.of(10).size_ms == 10


@pytest.mark.parametrize(
    "declare",
    [
        lambda: TimeWindows.of(0),
        lambda: TimeWindows.of(10).advance_by(0),
        lambda: TimeWindows.of(10).advance_by(11),
        lambda: TimeWindows.of(10).until(9),
        lambda: UnlimitedWindows.of().start_on(-1),
        lambda: JoinWindows.of(-1),
        lambda: JoinWindows.of(5).before(-6),
        lambda: JoinWindows.of(5).after(-6),
        lambda: JoinWindows.of(5).until(9),
        lambda: TimeWindow(-1, 5),
        lambda: TimeWindow(6, 5),
    ],
)
def test_windows_that_make_no_sense_are_refused(declare: Callable[[], Windows | Window]) -> None:
    with pytest.raises(ValueError, match=r"-1|-6|0|5|9|11"):
        declare()


@given(st.tuples(*[st.integers(0, 10)] * 4))
def test_windows_overlap_if_they_have_a_time_in_common(bounds: tuple[int, int, int, int]) -> None:
    (a, b), (c, d) = sorted(bounds[:2]), sorted(bounds[2:])
    assert SessionWindow(a, b).overlap(SessionWindow(c, d)) == bool({*range(a, b + 1)} & {*range(c, d + 1)})
    assert TimeWindow(a, b + 1).overlap(TimeWindow(c, d + 1)) == bool({*range(a, b + 1)} & {*range(c, d + 1)})
    assert UnlimitedWindow(a).overlap(UnlimitedWindow(c))


def test_windows_of_different_kinds_are_neither_equal_nor_comparable() -> None:
    assert TimeWindow(1, 2) == TimeWindow(1, 2) != SessionWindow(1, 2)
    for window in (TimeWindow(1, 2), SessionWindow(1, 2), UnlimitedWindow(1)):
        with pytest.raises(TypeError, match=f"a {type(window).__name__} and a Other"):
            window.overlap(Other(1, 2))


class Other(Window):
    """A window of an application's own."""

    def overlap(self, other: Window) -> bool:
        raise NotImplementedError


@given(key=st.text(max_size=5), start=st.integers(0, MAX_TIME))
def test_a_windowed_key_is_its_bytes_and_the_start(key: str, start: int) -> None:
    serde = WindowedSerde(Serdes.string())
    raw = serde.serializer.serialize("topic", Windowed(key, TimeWindow(start, start + 1)))
    assert raw == key.encode() + start.to_bytes(8)
    assert serde.deserializer.deserialize("topic", raw) == Windowed(key, UnlimitedWindow(start))


@given(key=st.text(max_size=5), bounds=st.tuples(st.integers(0, MAX_TIME), st.integers(0, MAX_TIME)).map(sorted))
def test_the_key_of_a_session_is_its_bytes_the_end_and_the_start(key: str, bounds: list[int]) -> None:
    start, end = bounds
    serde = SessionKeySerde(Serdes.string())
    raw = serde.serializer.serialize("topic", Windowed(key, SessionWindow(start, end)))
    assert raw == key.encode() + end.to_bytes(8) + start.to_bytes(8)
    assert serde.deserializer.deserialize("topic", raw) == Windowed(key, SessionWindow(start, end))
    assert serde.serializer.serialize("topic", None) is None
    assert serde.deserializer.deserialize("topic", b"") is None
    with pytest.raises(SerializationError, match="15 bytes are too few"):
        serde.deserializer.deserialize("topic", bytes(15))


def test_windowed_keys_show_key_and_start() -> None:
    assert str(Windowed("k", TimeWindow(10, 20))) == "[k@10]"


def test_no_windowed_key_is_none() -> None:
    serde = WindowedSerde(Serdes.string())
    assert serde.serializer.serialize("topic", None) is None
    assert serde.deserializer.deserialize("topic", None) is None


def test_keys_without_a_window_are_not_serialized() -> None:
    serializer: WindowedSerializer[str] = WindowedSerializer(Serdes.string().serializer)
    with pytest.raises(SerializationError, match="topic: a str is not a Windowed key"):
        serializer.serialize("topic", "key")  # type: ignore[arg-type]
    with pytest.raises(SerializationError, match="cannot be None"):
        serializer.serialize("topic", Windowed(None, TimeWindow(0, 1)))  # type: ignore[arg-type]
    with pytest.raises(SerializationError, match="7 bytes are too few"):
        WindowedSerde(Serdes.string()).deserializer.deserialize("topic", b"1234567")


@given(key=st.text(max_size=5), starts=st.lists(st.integers(0, MAX_TIME), min_size=2), count=st.integers(1, 9))
def test_all_windows_of_a_key_go_to_its_partition(key: str, starts: list[int], count: int) -> None:
    partitioner = WindowedStreamPartitioner("topic", WindowedSerializer(Serdes.string().serializer))
    partitions = {partitioner(Windowed(key, UnlimitedWindow(start)), "value", count) for start in starts}
    assert partitions == {to_positive(murmur2(key.encode())) % count}


def test_join_windows_have_a_size_and_are_kept_for_a_day() -> None:
    windows = JoinWindows.of(10).before(3)
    assert (windows.before_ms, windows.after_ms, windows.size_ms, windows.maintain_ms) == (3, 10, 13, DAY_MS)
    assert windows.until(13).after(20).maintain_ms == 23
    with pytest.raises(TypeError, match="not supported by JoinWindows"):
        windows.windows_for(5)
