"""Locks of the standard library's own are no occasion to run another thread; those of programs are."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from kafka_lite.testing.simulation.event_log import EventLog
from kafka_lite.testing.simulation.scheduler import Owner, Scheduler
from kafka_lite.testing.simulation.system.modules import Modules


class CountingScheduler(Scheduler):
    """Counts how often a lock is touched."""

    touches = 0

    def touch(self) -> None:
        self.touches += 1


class Fixture:
    def __init__(self) -> None:
        self.modules = Modules(any_python=True)
        self.scheduler = self.modules.kernel.scheduler = CountingScheduler(Random(1), EventLog())
        self.threading, self.queue, self.logging = map(self.modules.load, ("threading", "queue", "logging"))

    def touches(self, work: Callable[[], object]) -> int:
        before = self.scheduler.touches
        work()
        return self.scheduler.touches - before


@pytest.fixture(scope="module")
def process() -> Fixture:
    return Fixture()


def taken(lock: Any) -> Callable[[], None]:
    def take() -> None:
        with lock:
            pass

    return take


@pytest.mark.parametrize("kind", ["Lock", "RLock", "Condition"])
def test_a_lock_of_a_program_counts(process: Fixture, kind: str) -> None:
    assert process.touches(taken(getattr(process.threading, kind)())) == 2


def test_events_and_queues_of_a_program_count(process: Fixture) -> None:
    assert process.touches(process.threading.Event().set) >= 2
    assert process.touches(lambda: process.queue.Queue().put("record")) >= 2


def test_locks_of_the_standard_library_are_quiet(process: Fixture) -> None:
    threading = process.threading
    for lock in (threading._active_limbo_lock, process.logging._lock, process.logging.Handler().lock):
        assert process.touches(taken(lock)) == 0
    assert process.touches(lambda: threading.Thread(target=print)._started.set()) == 0
    assert process.touches(lambda: process.logging.getLogger("kafka.test").info("nobody hears it")) == 0


def start_lock(process: Fixture) -> Any:
    """A plain lock that ``threading`` has made for itself."""
    return process.threading.Thread(target=print)._started._cond._lock


def test_a_quiet_lock_is_a_lock(process: Fixture) -> None:
    quiet = start_lock(process)
    assert isinstance(quiet, type(process.threading.Lock()))
    assert quiet.acquire()
    assert not quiet.acquire(blocking=False)
    quiet.release()
    with pytest.raises(RuntimeError, match="release unlocked lock"):
        quiet.release()


def test_a_quiet_rlock_is_taken_again_by_its_owner_only(process: Fixture) -> None:
    lock = process.logging._lock
    with lock:
        taken(lock)()
        assert lock._is_owned()
    assert not lock._is_owned()
    with pytest.raises(RuntimeError, match="cannot release un-acquired lock"):
        lock.release()


@pytest.mark.parametrize("lock_of", [start_lock, lambda process: process.logging._lock])
def test_a_thread_waits_for_a_quiet_lock_until_it_is_released(lock_of: Callable[[Fixture], Any]) -> None:
    process = Fixture()
    lock, scheduler, order = lock_of(process), process.scheduler, []

    def holder() -> None:
        with lock:
            order.append("taken")
            scheduler.park(scheduler.now_ns + 10**9)
            order.append("released")

    def waiter() -> None:
        scheduler.park(scheduler.now_ns + 10**6)
        with lock:
            order.append(f"taken again at {scheduler.now_ns // 10**9} s")
        scheduler.stop()

    process.modules.kernel.owner = Owner("process")
    for work in (holder, waiter):
        scheduler.spawn(process.modules.kernel.owner, work.__name__, work)
    scheduler.run()
    assert order == ["taken", "released", "taken again at 1 s"]
