"""Task 3: which windows a store still has."""

import pytest

from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.state.windowed.in_memory_segment import InMemorySegment
from kafka_lite.streams.state.windowed.key_schema import MAX_TIME
from kafka_lite.streams.state.windowed.segments import Segments

MINUTE = 60_000


class Named(InMemorySegment):
    """A segment that knows its id, and whether it was destroyed."""

    def __init__(self, number, destroyed):
        super().__init__(8)
        self.number = number
        self._destroyed = destroyed

    def destroy(self):
        self._destroyed.append(self.number)


@pytest.fixture
def destroyed():
    """The ids of destroyed segments."""
    return []


@pytest.fixture
def segments(destroyed):
    """Three segments of a minute each."""
    return Segments(2 * MINUTE, 3, lambda number: Named(number, destroyed))


def found_by(segments, *minutes):
    """The id of each minute's segment, or None."""
    try:
        found = [segments.get_or_create(minute * MINUTE) for minute in minutes]
    except KeyError as error:
        pytest.fail(
            f"a time that has expired, or whose segment is not open yet, is no error: {minutes}, KeyError({error})"
        )
    return [None if each is None else each.number for each in found]


@pytest.mark.points(6, task=3)
def test_the_oldest_goes(segments, destroyed):
    """Minutes 1, 2, 3, 4: the fourth drops the first"""
    found = found_by(segments, 1, 2, 3)
    assert found == [1, 2, 3], f"a time in minute 1 belongs to segment 1, and so on: [1, 2, 3]; yours: {found}"
    assert destroyed == [], f"three segments are kept; yours has dropped {destroyed}"
    first = segments.get_or_create(3 * MINUTE + 59_999)
    assert first is segments.get_or_create(3 * MINUTE), "a segment that is open is returned, not opened again"
    found_by(segments, 4)
    assert destroyed == [1], f"a time in minute 4 drops minute 1, and nothing else; yours has dropped {destroyed}"


@pytest.mark.points(6, task=3)
def test_late_times(segments, destroyed):
    """Minute 7 first, then 4, 5 and 6"""
    found = found_by(segments, 7, 4, 5, 6)
    assert found == [7, None, 5, 6], (
        f"after minute 7 the store keeps 5, 6 and 7: a late time in 5 gets its segment, one in 4 has expired; {found}"
    )
    found = found_by(segments, 4, 8)
    assert found == [None, 8], f"late times do not set the clock back: 4 is still expired; yours: {found}"
    assert destroyed == [5], f"minute 8 drops minute 5; yours has dropped {destroyed}"


@pytest.mark.points(6, task=3)
def test_the_segments_of_a_range(segments):
    """Open ones only, both bounds included, oldest first"""
    found_by(segments, 7, 5, 6)

    def within(time_from, time_to):
        return [each.number for each in segments.segments(time_from, time_to)]

    assert within(0, MAX_TIME) == [5, 6, 7], f"oldest first, whatever came first; yours: {within(0, MAX_TIME)}"
    found = within(6 * MINUTE - 1, 7 * MINUTE)
    assert found == [5, 6, 7], f"both bounds are included: {found} is not 5, 6, 7"
    found = [within(6 * MINUTE, 6 * MINUTE + 1), within(0, 1)]
    assert found == [[6], []], f"6:00.000 to 6:00.001 is in segment 6 alone, and 0 to 1 in none that is open; {found}"


@pytest.mark.points(7, task=3)
def test_late_records(counted):
    """A count in minutes that are kept for two"""
    windows = TimeWindows.of(MINUTE).until(2 * MINUTE)
    times = [minute * MINUTE for minute in (5, 7, 5, 8, 5)]
    found = counted(windows, *(("a", time) for time in times))
    assert found == [["a@300000=1"], ["a@420000=1"], ["a@300000=2"], ["a@480000=1"], ["a@300000=1"]], (
        f"minute 5 is kept until a record of minute 8 comes; afterwards its count begins at 1 again; yours: {found}"
    )
