"""Task 4: the clock of the wheels."""

import pytest


@pytest.mark.points(3, task=4)
def test_the_time_of_a_wheel_is_the_start_of_a_tick(wheel_at):
    """Ticks of 4 ms"""
    wheel, _ = wheel_at(8, tick_ms=4)
    wheel.advance_clock(11)
    assert wheel.current_time_ms == 8, f"11 lies in the tick 8-11: the wheel stays at 8, not {wheel.current_time_ms}"
    wheel.advance_clock(12)
    assert wheel.current_time_ms == 12, f"12 is the first millisecond of the next tick, not {wheel.current_time_ms}"
    wheel.advance_clock(18)
    assert wheel.current_time_ms == 16, f"18 lies in the tick that begins at 16, not at {wheel.current_time_ms}"


@pytest.mark.points(3, task=4)
def test_the_clock_never_goes_back(wheel_at):
    """A time in the past"""
    wheel, _ = wheel_at(100)
    wheel.advance_clock(50)
    assert wheel.current_time_ms == 100, f"the clock never goes back, to {wheel.current_time_ms}"


@pytest.mark.points(4, task=4)
def test_the_coarser_wheels_advance_too(entry, wheel_at):
    """Three levels"""
    wheel, _ = wheel_at(9)
    wheel.add(entry(41))
    wheel.advance_clock(32)
    second = wheel._overflow_wheel
    third = second._overflow_wheel
    times = [wheel.current_time_ms, second.current_time_ms, third.current_time_ms]
    assert times[1:] != [8, 0], "the coarser wheel stands still while the fine one advances"
    assert times == [32, 32, 32], f"at 32 all three wheels are at 32, not at {times}"
    wheel.advance_clock(38)
    times = [wheel.current_time_ms, second.current_time_ms, third.current_time_ms]
    assert times == [38, 36, 32], f"at 38 the ticks began at 38, 36 and 32, not at {times}"
