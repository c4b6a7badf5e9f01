"""Task 2: which bucket?"""

import pytest


@pytest.mark.points(4, task=2)
def test_an_expired_task_is_not_added(entry, wheel_at):
    """Due, or cancelled: False"""
    wheel, armed = wheel_at(9)
    assert wheel.add(entry(9)) is False, "due at 9, and it is 9: add must return False"
    assert wheel.add(entry(3)) is False, "due at 3, and it is 9: add must return False"
    cancelled = entry(11)
    cancelled.cancel()
    assert wheel.add(cancelled) is False, "a cancelled entry goes into no bucket: add must return False"
    assert armed == [], "a task that is not added arms no bucket"


@pytest.mark.points(4, task=2)
def test_the_current_tick_has_begun(entry, wheel_at):
    """A tick of 4 ms, at its start"""
    wheel, _ = wheel_at(8, tick_ms=4)
    assert wheel.add(entry(10)) is False, (
        "10 lies in the tick 8-11, which has begun: its bucket has expired, and would be checked one turn later"
    )
    assert wheel.add(entry(12)) is True, "12 is the first millisecond of the next tick: there is a bucket for it"


@pytest.mark.points(3, task=2)
def test_the_bucket_of_a_tick(entry, wheel_at):
    """Ticks and slots"""
    wheel, armed = wheel_at(8, tick_ms=4)
    one, other = entry(14), entry(15)
    wheel.add(one)
    assert one.bucket is not None, "add must put the entry into a bucket"
    assert armed, "the bucket of a new tick must be armed: self._on_bucket_armed(bucket)"
    assert armed[0].expiration_ms == 12, f"14 lies in 12-15, which begins at 12, not at {armed[0].expiration_ms}"
    wheel.add(other)
    assert other.bucket is one.bucket, "14 and 15 lie in the same tick of 4 ms, and so in one bucket"
    assert len(armed) == 1, "the second task of a tick is no change: its bucket was already armed"


@pytest.mark.points(1, task=2)
def test_a_bucket_that_is_empty_again(entry, wheel_at):
    """The only task of a tick is cancelled, then another one is added"""
    wheel, armed = wheel_at(8, tick_ms=4)
    cancelled = entry(14)
    wheel.add(cancelled)
    cancelled.cancel()
    wheel.add(entry(15))
    assert len(armed) == 1, (
        "the task due at 14 was cancelled, then one due at 15 was added: their bucket was already armed for this tick, "
        f"and is not armed again because it was empty; it was armed {len(armed)} times"
    )


@pytest.mark.points(4, task=2)
def test_two_ticks_never_share_a_bucket(entry, wheel_at):
    """All of a turn, while the clock advances"""
    wheel, _ = wheel_at(9)
    found = {}
    for due_ms in (10, 11, 12):
        found[due_ms] = entry(due_ms)
        wheel.add(found[due_ms])
    wheel.current_time_ms = 10
    found[13] = entry(13)
    wheel.add(found[13])
    sharing = [due_ms for due_ms in (10, 11, 12) if found[due_ms].bucket is found[13].bucket]
    assert not sharing, (
        f"at 9, {sharing[0]} was added, at 10, 13 was: they share a bucket. Count ticks from 0, not from now"
    )


@pytest.mark.points(4, task=2)
def test_after_the_last_bucket(entry, wheel_at):
    """One whole turn ahead"""
    wheel, _ = wheel_at(8)
    inside, beyond = entry(11), entry(12)
    wheel.add(inside)
    assert wheel._overflow_wheel is None, "11 lies in the last of the buckets 8, 9, 10, 11: no coarser wheel is needed"
    wheel.add(beyond)
    assert beyond.bucket not in wheel._buckets, "12 is exactly one turn ahead: its slot is that of the current tick, 8"
