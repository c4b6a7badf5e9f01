"""The timing wheels by themselves, without clock and threads."""

from __future__ import annotations

import heapq

from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.purgatory.timer import TimerTask
from kafka_lite.common.purgatory.timing_wheel import TimerTaskEntry, TimerTaskList, TimingWheel


class Task(TimerTask):
    def run(self) -> None:
        raise AssertionError("a wheel runs nothing")


def entry(expiration_ms: int) -> TimerTaskEntry:
    return TimerTaskEntry(Task(0), expiration_ms)


def wheel_at(start_ms: int, size: int = 4) -> tuple[TimingWheel, list[TimerTaskList]]:
    armed: list[TimerTaskList] = []
    return TimingWheel(1, size, start_ms, armed.append), armed


def test_buckets_match_the_figure() -> None:
    wheel, armed = wheel_at(9)
    for due_ms in (10, 14, 41):
        assert wheel.add(entry(due_ms))
    assert [bucket.expiration_ms for bucket in armed] == [10, 12, 32]


def test_a_wheel_reaches_up_to_one_turn_and_begins_with_a_whole_tick() -> None:
    wheel, armed = wheel_at(9)
    for due_ms in (12, 13):
        assert wheel.add(entry(due_ms))
    assert [bucket.expiration_ms for bucket in armed] == [12, 12], "13 is in [12-15], of level 2"
    assert armed[0] is not armed[1]
    assert TimingWheel(4, 4, 9, armed.append).current_time_ms == 8


def test_an_entry_can_be_cancelled_after_its_bucket_was_emptied() -> None:
    wheel, armed = wheel_at(9)
    due = entry(11)
    wheel.add(due)
    assert armed[0].flush() == [due]
    due.cancel()
    assert due.cancelled


def test_an_expired_task_is_not_added() -> None:
    wheel, armed = wheel_at(9)
    assert not wheel.add(entry(9))
    assert not wheel.add(entry(3))
    assert armed == []


def test_a_cancelled_entry_is_not_added() -> None:
    wheel, _ = wheel_at(9)
    cancelled = entry(12)
    cancelled.cancel()
    assert not wheel.add(cancelled)


def test_cancel_removes_the_entry_from_its_bucket() -> None:
    wheel, armed = wheel_at(9)
    first, second = entry(11), entry(11)
    wheel.add(first)
    wheel.add(second)
    first.cancel()
    assert armed[0].flush() == [second]


def test_a_bucket_is_queued_once_per_turn() -> None:
    wheel, armed = wheel_at(0)
    wheel.add(entry(3))
    wheel.add(entry(3))
    assert len(armed) == 1
    armed[0].flush()
    wheel.advance_clock(3)
    wheel.add(entry(6))
    wheel.add(entry(3 + 4 - 1))
    assert [bucket.expiration_ms for bucket in armed] == [-1, 6]


def test_task_41_moves_down_the_wheels_until_due() -> None:
    wheel, armed = wheel_at(9)
    task = entry(41)
    wheel.add(task)
    path = []
    while True:
        bucket = armed.pop()
        path.append(bucket.expiration_ms)
        wheel.advance_clock(bucket.expiration_ms)
        (again,) = bucket.flush()
        if not wheel.add(again):
            break
    assert path == [32, 40, 41]


def test_the_clock_never_goes_back() -> None:
    wheel, _ = wheel_at(100)
    wheel.advance_clock(50)
    assert wheel.current_time_ms == 100


@given(
    start=st.integers(0, 10_000),
    size=st.integers(2, 20),
    delays=st.lists(st.tuples(st.integers(0, 50_000), st.booleans()), max_size=40),
)
def test_each_task_is_due_exactly_at_its_time(start: int, size: int, delays: list[tuple[int, bool]]) -> None:
    heap: list[tuple[int, int, TimerTaskList]] = []
    numbers = iter(range(1_000_000))
    wheel = TimingWheel(1, size, start, lambda b: heapq.heappush(heap, (b.expiration_ms, next(numbers), b)))
    entries = [(entry(start + delay), cancel) for delay, cancel in delays]
    due: dict[TimerTaskEntry, int] = {}
    for task, cancel in entries:
        if not wheel.add(task):
            due[task] = start
        elif cancel:
            task.cancel()
    while heap:
        time_ms, _, bucket = heapq.heappop(heap)
        assert time_ms >= wheel.current_time_ms
        wheel.advance_clock(time_ms)
        for task in bucket.flush():
            if not wheel.add(task):
                due[task] = time_ms
    assert due == {task: task.expiration_ms for task, cancel in entries if not cancel or task.expiration_ms == start}
