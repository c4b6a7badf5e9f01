"""Task 3: tasks beyond a wheel's range."""

import pytest


@pytest.mark.points(5, task=3)
def test_each_level_is_coarser(entry, wheel_at):
    """The figure of the docstring"""
    wheel, armed = wheel_at(9)
    try:
        for due_ms in (10, 14, 41):
            wheel.add(entry(due_ms))
    except RecursionError:
        pytest.fail("the coarser wheel is no coarser: one of its ticks must be one whole turn of this wheel")
    found = [bucket.expiration_ms for bucket in armed]
    assert found == [10, 12, 32], f"10, 14 and 41 lie in the buckets [10], [12-15], [32-47]; armed were {found}"


@pytest.mark.points(5, task=3)
def test_it_starts_at_the_time_of_this_wheel(entry, wheel_at):
    """A coarser wheel that is created late"""
    wheel, armed = wheel_at(1000)
    wheel.add(entry(1010))
    coarser = wheel._overflow_wheel
    assert coarser.current_time_ms == 1000, (
        f"the coarser wheel must start at this wheel's time, 1000, not at {coarser.current_time_ms}"
    )
    interval_ms = coarser._overflow().interval_ms
    assert interval_ms == 64, (
        f"every wheel has as many buckets as this one, 4: the third reaches 4 ticks of 16 ms, not {interval_ms} ms"
    )
    assert armed[0].expiration_ms == 1008, f"1010 lies in [1008-1011], not in a bucket from {armed[0].expiration_ms} on"


@pytest.mark.points(5, task=3)
def test_it_is_created_once(entry, wheel_at):
    """One coarser wheel, however often it is needed"""
    wheel, _ = wheel_at(9)
    first, second = entry(14), entry(15)
    wheel.add(first)
    coarser = wheel._overflow_wheel
    wheel.add(second)
    assert wheel._overflow_wheel is coarser, "a second coarser wheel was created, and the tasks of the first are lost"
    assert second.bucket is first.bucket, "14 and 15 lie in the same tick of the coarser wheel"
