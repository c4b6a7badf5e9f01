"""Delayed operations complete exactly once and are never forgotten."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator
from time import sleep

import pytest

from kafka_lite.common.purgatory.delayed_operation import (
    IDLE_REAPER_WAIT_MS,
    REAPER_WAIT_MS,
    DelayedOperation,
    DelayedOperationPurgatory,
    ExpiredOperationReaper,
    Watchers,
)
from kafka_lite.common.purgatory.timer import SystemTimer, TimerTask
from kafka_lite.common.time import MockTime
from tests.support.eventually import eventually
from tests.support.patience import patient_s


class Operation(DelayedOperation):
    """Waits until ``completable`` is set."""

    def __init__(self, delay_ms: float = 10_000) -> None:
        super().__init__(delay_ms)
        self.completable = False
        self.completions = 0
        self.expirations = 0
        self.tries = 0

    def try_complete(self) -> bool:
        self.tries += 1
        return self.completable and self.force_complete()

    def on_complete(self) -> None:
        self.completions += 1

    def on_expiration(self) -> None:
        self.expirations += 1


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def purgatory(time: MockTime) -> DelayedOperationPurgatory[Operation]:
    return DelayedOperationPurgatory("test", reaper_enabled=False, time=time)


Purgatory = DelayedOperationPurgatory[Operation]


def test_an_operation_that_can_complete_at_once_is_not_watched(purgatory: Purgatory) -> None:
    operation = Operation()
    operation.completable = True
    assert purgatory.try_complete_else_watch(operation, ["a"])
    assert operation.completions == 1
    assert (purgatory.watched, purgatory.delayed) == (0, 0)


def test_an_event_completes_the_operations_that_watch_its_key(purgatory: Purgatory) -> None:
    first, second = Operation(), Operation()
    assert not purgatory.try_complete_else_watch(first, ["a"])
    assert not purgatory.try_complete_else_watch(second, ["b"])
    first.completable = second.completable = True
    assert purgatory.check_and_complete("a") == 1
    assert (first.completions, second.completions) == (1, 0)
    assert purgatory.delayed == 1
    assert purgatory.check_and_complete("a") == 0
    assert purgatory.check_and_complete("unknown") == 0


def test_an_event_that_completes_nothing_leaves_the_operation_watched(purgatory: Purgatory) -> None:
    operation = Operation()
    purgatory.try_complete_else_watch(operation, ["a"])
    assert purgatory.check_and_complete("a") == 0
    assert (purgatory.watched, purgatory.delayed) == (1, 1)


def test_the_reaper_expires_operations_after_their_timeout(purgatory: Purgatory) -> None:
    operation, longer = Operation(100), Operation(1_000)
    purgatory.try_complete_else_watch(operation, ["a"])
    purgatory.try_complete_else_watch(longer, ["a"])
    purgatory.advance_clock(99)
    assert not operation.is_completed
    purgatory.advance_clock(1)
    assert (operation.completions, operation.expirations) == (1, 1)
    assert not longer.is_completed


def test_a_completed_operation_does_not_expire(purgatory: Purgatory) -> None:
    operation = Operation(100)
    purgatory.try_complete_else_watch(operation, ["a"])
    operation.completable = True
    purgatory.check_and_complete("a")
    purgatory.advance_clock(1_000)
    assert (operation.completions, operation.expirations) == (1, 0)


def test_force_complete_returns_true_once() -> None:
    operation = Operation()
    assert [operation.force_complete() for _ in range(3)] == [True, False, False]
    assert operation.completions == 1


def test_an_operation_that_completes_just_before_its_time_is_up_does_not_expire() -> None:
    operation = Operation()
    operation.force_complete()
    operation.run()  # the timer had taken it before it could be cancelled
    assert (operation.completions, operation.expirations) == (1, 0)


def test_one_more_check_is_enough_for_an_event_during_a_check() -> None:
    class Nested(Operation):
        def try_complete(self) -> bool:
            assert self.tries < 5, "it would go on forever"
            if self.tries == 0:
                self.tries += 1
                assert not self.safe_try_complete(), "as another thread would"
                return False
            return super().try_complete()

    operation = Nested()
    assert not operation.safe_try_complete()
    assert operation.tries == 2


def test_a_check_that_fails_does_not_stop_later_ones() -> None:
    class Failing(Operation):
        def try_complete(self) -> bool:
            if self.tries == 0:
                self.tries += 1
                raise OSError("the log is gone")
            return super().try_complete()

    operation = Failing()
    with pytest.raises(OSError, match="the log is gone"):
        operation.safe_try_complete()
    operation.completable = True
    assert operation.safe_try_complete()


def test_completed_operations_leave_a_watch_list() -> None:
    watchers, done, waiting = Watchers[Operation](), Operation(), Operation()
    for operation in (done, waiting):
        watchers.watch(operation)
    done.force_complete()
    assert watchers.purge_completed() == 1
    assert watchers.purge_completed() == 0
    assert len(watchers) == 1


def test_an_operation_that_completes_while_it_is_added_watches_no_further_key(purgatory: Purgatory) -> None:
    operation = Operation()

    class Key:
        def __hash__(self) -> int:
            operation.force_complete()  # an event comes right after it was looked at
            return 1

    assert not purgatory.try_complete_else_watch(operation, [Key(), "b"])
    assert (purgatory.watched, purgatory.delayed, operation.tries) == (1, 0, 1)


def test_an_operation_needs_a_watch_key(purgatory: Purgatory) -> None:
    with pytest.raises(ValueError, match="only expire"):
        purgatory.try_complete_else_watch(Operation(), [])


def test_the_second_check_sees_an_event_before_the_watch(purgatory: Purgatory) -> None:
    class Between(Operation):
        def try_complete(self) -> bool:
            result = super().try_complete()
            self.completable = True  # the event comes right after the first check, when no list has the operation
            return result

    operation = Between()
    assert purgatory.try_complete_else_watch(operation, ["a"])
    assert operation.tries == 2
    assert purgatory.delayed == 0


def test_completed_operations_are_purged_from_their_other_keys(time: MockTime) -> None:
    purgatory: Purgatory = DelayedOperationPurgatory("test", purge_interval=10, reaper_enabled=False, time=time)
    waiting = Operation()
    purgatory.try_complete_else_watch(waiting, ["b"])
    for number in range(11):
        operation = Operation()
        purgatory.try_complete_else_watch(operation, [f"a{number}", "b"])
        operation.completable = True
        purgatory.check_and_complete(f"a{number}")
        purgatory.advance_clock(0)
        assert purgatory.watched == (number + 2 if number < 10 else 1)
    assert not waiting.is_completed
    operation = Operation()
    purgatory.try_complete_else_watch(operation, ["a", "b"])
    operation.completable = True
    purgatory.check_and_complete("a")
    purgatory.advance_clock(0)
    assert purgatory.watched == 2, "the estimate has begun again"


def test_keys_without_operations_take_no_memory(time: MockTime) -> None:
    purgatory: Purgatory = DelayedOperationPurgatory("test", purge_interval=10, reaper_enabled=False, time=time)
    for number in range(11):
        operation = Operation()
        purgatory.try_complete_else_watch(operation, [f"a{number}", f"b{number}"])
        operation.completable = True
        purgatory.check_and_complete(f"a{number}")
        assert len(purgatory._watchers) == number + 1, "those of the other keys"
    purgatory.advance_clock(0)
    assert not purgatory._watchers


def test_an_operation_that_completes_before_it_is_in_the_timer_is_taken_out(time: MockTime) -> None:
    class Late(SystemTimer):
        def add(self, task: TimerTask) -> None:
            assert isinstance(task, Operation)
            task.force_complete()  # an event comes first
            super().add(task)

    purgatory: Purgatory = DelayedOperationPurgatory("test", timer=Late(time=time), reaper_enabled=False)
    assert not purgatory.try_complete_else_watch(Operation(), ["a"])
    assert purgatory.delayed == 0


def test_a_reaper_that_sleeps_is_woken_up_to_purge() -> None:
    """The timer is empty, and because of the first operation the reaper sleeps for an hour."""
    purgatory: Purgatory = DelayedOperationPurgatory("test", purge_interval=10)
    try:
        for number in range(20):
            operation = Operation(3_600_000)
            purgatory.try_complete_else_watch(operation, [f"a{number}", "quiet"])
            operation.completable = True
            purgatory.check_and_complete(f"a{number}")
        eventually(lambda: purgatory.watched <= 11, "the purge woke the reaper", timeout_s=IDLE_REAPER_WAIT_MS / 2_000)
    finally:
        purgatory.shutdown()


def test_a_thread_that_meets_a_running_check_makes_it_check_again(purgatory: Purgatory) -> None:
    inside, go_on = threading.Event(), threading.Event()

    class Slow(Operation):
        def try_complete(self) -> bool:
            if self.tries == 2:  # the check after the two of try_complete_else_watch
                self.tries += 1
                inside.set()
                assert go_on.wait(patient_s(30))
                return False  # it checked before the event
            return super().try_complete()

    operation = Slow()
    purgatory.try_complete_else_watch(operation, ["a"])
    checker = threading.Thread(target=purgatory.check_and_complete, args=("a",))
    checker.start()
    assert inside.wait(patient_s(30))
    operation.completable = True
    assert purgatory.check_and_complete("a") == 0  # neither blocks on the other thread nor loses the event
    go_on.set()
    checker.join(patient_s(30))
    assert operation.completions == 1


def test_a_completion_may_trigger_events_for_the_same_key(purgatory: Purgatory) -> None:
    class Chain(Operation):
        def on_complete(self) -> None:
            super().on_complete()
            purgatory.check_and_complete("a")

    operations = [Chain() for _ in range(5)]
    for operation in operations:
        purgatory.try_complete_else_watch(operation, ["a"])
    for operation in operations:
        operation.completable = True
    purgatory.check_and_complete("a")
    assert [operation.completions for operation in operations] == [1] * 5
    assert purgatory.watched == 0


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    """Make the interpreter switch threads as often as it can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def in_threads(*targets: Callable[[], None]) -> None:
    start = threading.Barrier(len(targets))

    def run(target: Callable[[], None]) -> None:
        start.wait()
        target()

    threads = [threading.Thread(target=run, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patient_s(60))
    assert not any(thread.is_alive() for thread in threads), "deadlock"


@pytest.mark.usefixtures("frequent_switches")
def test_no_event_is_lost() -> None:
    """Each operation needs two events, which come from two threads while a third one watches it.

    Each event occurs once, so an operation that misses its last one would wait until it expires, which here is never.
    """
    rounds = 500
    purgatory: Purgatory = DelayedOperationPurgatory("stress", purge_interval=50)
    next_round = threading.Barrier(3)

    class NeedsTwoEvents(Operation):
        def __init__(self) -> None:
            super().__init__(3_600_000)
            self.events: list[int] = []

        def try_complete(self) -> bool:
            seen = len(self.events)
            sleep(0)  # let other threads run between check and decision, so that the check may be outdated
            return seen == 2 and self.force_complete()

    operations = [NeedsTwoEvents() for _ in range(rounds)]

    def announce(seed: int) -> None:
        pauses = random.Random(seed)
        for number, operation in enumerate(operations):
            next_round.wait()
            for _ in range(pauses.randrange(4)):
                sleep(0)
            operation.events.append(seed)
            purgatory.check_and_complete(number)

    def wait() -> None:
        for number, operation in enumerate(operations):
            next_round.wait()
            purgatory.try_complete_else_watch(operation, [number, "another key"])

    in_threads(lambda: announce(1), lambda: announce(2), wait)
    assert [operation.completions for operation in operations] == [1] * rounds
    assert purgatory.delayed == 0
    purgatory.shutdown()


@pytest.mark.usefixtures("frequent_switches")
def test_completion_and_expiration_race_and_one_wins() -> None:
    purgatory: Purgatory = DelayedOperationPurgatory("stress", purge_interval=50)
    operations = [Operation(random.Random(number).uniform(0, 5)) for number in range(1_000)]

    def complete() -> None:
        for number, operation in enumerate(operations):
            operation.completable = True
            purgatory.check_and_complete(number % 7)

    def wait() -> None:
        for number, operation in enumerate(operations):
            purgatory.try_complete_else_watch(operation, [number % 7, number % 5])

    in_threads(wait, complete, complete)
    while purgatory.delayed:
        threading.Event().wait(0.005)
    purgatory.shutdown()
    assert [operation.completions for operation in operations] == [1] * len(operations)
    assert all(operation.expirations <= operation.completions for operation in operations)


def test_the_reaper_stops_at_once() -> None:
    purgatory: Purgatory = DelayedOperationPurgatory("Produce", broker_id=7)
    names = [thread.name for thread in threading.enumerate()]
    assert "ExpirationReaper-7-Produce" in names
    purgatory.shutdown()
    assert "ExpirationReaper-7-Produce" not in [thread.name for thread in threading.enumerate()]


def test_an_idle_reaper_sleeps_until_an_operation_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    asleep = threading.Event()

    def advance_clock(self: Purgatory, timeout_ms: float) -> None:
        waits.append(timeout_ms)
        asleep.set()
        really(self, timeout_ms)

    really = DelayedOperationPurgatory.advance_clock
    monkeypatch.setattr(DelayedOperationPurgatory, "advance_clock", advance_clock)
    purgatory: Purgatory = DelayedOperationPurgatory("test")
    assert asleep.wait(patient_s(30))
    expired = threading.Event()
    operation = Operation(delay_ms=10)
    operation.on_expiration = expired.set  # type: ignore[method-assign]
    purgatory.try_complete_else_watch(operation, ["a"])
    assert expired.wait(patient_s(30)), "half of the reaper's own timeout"
    purgatory.shutdown()
    assert waits[0] == IDLE_REAPER_WAIT_MS


def test_a_reaper_looks_five_times_a_second_while_an_operation_is_delayed(
    purgatory: Purgatory, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(purgatory, "advance_clock", waits.append)
    reaper = ExpiredOperationReaper("reaper", purgatory, SystemTimer())
    reaper.do_work()
    purgatory.try_complete_else_watch(Operation(), ["a"])
    reaper.do_work()
    assert waits == [IDLE_REAPER_WAIT_MS, REAPER_WAIT_MS]


def test_an_operation_that_is_complete_is_not_completed_by_another_check() -> None:
    operation = Operation()
    operation.completable = True
    assert operation.safe_try_complete()
    assert not operation.safe_try_complete()
    assert operation.tries == 1


def test_the_reaper_is_that_of_broker_0_by_default() -> None:
    purgatory: Purgatory = DelayedOperationPurgatory("Fetch")
    try:
        assert "ExpirationReaper-0-Fetch" in [thread.name for thread in threading.enumerate()]
    finally:
        purgatory.shutdown()
