"""Task 1: the windows of a time."""

import random

import pytest

from kafka_lite.streams.kstream.windows import TimeWindows, UnlimitedWindows


@pytest.mark.points(8, task=1)
def test_tumbling_windows():
    """Every time belongs to exactly one"""
    windows = TimeWindows.of(10)
    for timestamp, start in ((0, 0), (9, 0), (10, 10), (19, 10), (20, 20)):
        found = list(windows.windows_for(timestamp))
        assert found == [start], (
            f"size 10: the time {timestamp} belongs to the window from {start} alone, since the end of a window is "
            f"excluded; yours: {found}"
        )


@pytest.mark.points(8, task=1)
def test_hopping_windows():
    """Windows that overlap, in order of their starts"""
    windows = TimeWindows.of(10).advance_by(4)
    found = list(windows.windows_for(12))
    assert found == [4, 8, 12], (
        f"windows start at a multiple of the advance: 12 belongs to those from 4, 8 and 12; yours: {found}"
    )
    found = list(windows.windows_for(3))
    assert found == [0], f"no window starts before 0, so 3 belongs to the one from 0; yours: {found}"


@pytest.mark.points(4, task=1)
def test_bounds():
    """A window is as long as its size, however far it is to the next one"""
    (window,) = TimeWindows.of(10).advance_by(5).windows_for(2).values()
    assert (window.start, window.end) == (0, 10), (
        f"a window is as long as the size, 10, not the advance: [0, 10); yours is [{window.start}, {window.end})"
    )


@pytest.mark.points(4, task=1)
def test_unlimited_windows():
    """One window, which begins once"""
    windows = UnlimitedWindows.of().start_on(100)
    found = [list(windows.windows_for(timestamp)) for timestamp in (99, 100, 10**12)]
    assert found == [[], [100], [100]], f"from its start on, included, every time belongs to the one window; {found}"
    (window,) = UnlimitedWindows.of().start_on(100).windows_for(150).values()
    assert window.start == 100, f"the window starts where they all do, at 100, not at the time: yours at {window.start}"


@pytest.mark.points(6, task=1)
def test_every_size_and_advance():
    """Five hundred random times beside a search through all windows"""
    chance = random.Random(9)
    for _ in range(500):
        size = chance.randint(1, 20)
        advance, timestamp = chance.randint(1, size), chance.randint(0, 100)
        wanted = [start for start in range(0, 101, advance) if start <= timestamp < start + size]
        found = list(TimeWindows.of(size).advance_by(advance).windows_for(timestamp))
        assert found == wanted, f"size {size}, advance {advance}, time {timestamp}: {wanted}; yours: {found}"
