"""The world's ``_thread``: threads that are tasks, locks that let another one run, and what they leave at their end."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from kafka_lite.testing.simulation.event_log import EventLog
from kafka_lite.testing.simulation.scheduler import DeadlockError, Owner, Scheduler, SimulationError
from kafka_lite.testing.simulation.system.kernel import Kernel
from kafka_lite.testing.simulation.system.threads import MAIN_IDENT, ExceptHookArgs, Local, Threads

SECOND_NS = 1_000_000_000


class Process:
    """A process whose threads are started by a test, and its module ``_thread``."""

    def __init__(self, seed: int = 1, switch_every: int = 16) -> None:
        self.kernel = Kernel()
        self.kernel.scheduler = self.scheduler = Scheduler(Random(seed), EventLog(), switch_every)
        self.kernel.owner = Owner("process")
        self.threads = Threads(self.kernel)
        self.module: Any = self.threads.module()

    def run(self, *functions: Callable[[], object]) -> None:
        """Run these as threads, and the world for an hour."""
        for function in functions:
            self.module.start_new_thread(function, ())
        self.scheduler.run(until_ns=self.scheduler.now_ns + 3_600 * SECOND_NS)
        assert self.kernel.uncaught == []

    def sleep_s(self, duration_s: float) -> None:
        deadline_ns = self.scheduler.now_ns + int(duration_s * SECOND_NS)
        while self.scheduler.park(deadline_ns):
            pass

    @property
    def now_s(self) -> float:
        return self.scheduler.now_ns / SECOND_NS


@pytest.fixture
def process() -> Process:
    return Process()


KINDS = pytest.mark.parametrize("kind", ["allocate_lock", "RLock"])

# ── both kinds of lock ────────────────────────────────────────────────────────────────────────────────────────────


@KINDS
def test_a_lock_is_given_to_a_thread_that_waits_as_soon_as_it_is_released(process: Process, kind: str) -> None:
    lock, seen = getattr(process.module, kind)(), []

    def holder() -> None:
        with lock:
            process.sleep_s(3)

    def waiter() -> None:
        process.sleep_s(1)
        assert lock.acquire() is True
        seen.append(process.now_s)
        lock.release()

    process.run(holder, waiter)
    assert seen == [3]


@KINDS
def test_a_thread_need_not_wait_for_ever(process: Process, kind: str) -> None:
    lock, seen = getattr(process.module, kind)(), []

    def holder() -> None:
        lock.acquire()
        process.sleep_s(10)
        lock.release()

    def impatient() -> None:
        process.sleep_s(1)
        seen.append((lock.acquire(blocking=False), process.now_s))
        seen.append((lock.acquire(timeout=2.5), process.now_s))
        seen.append((lock.acquire(timeout=-1), process.now_s))

    process.run(holder, impatient)
    assert seen == [(False, 1), (False, 3.5), (True, 10)]


@KINDS
@pytest.mark.parametrize("seed", range(6))
def test_a_thread_that_gave_up_does_not_get_the_lock_later(seed: int, kind: str) -> None:
    process = Process(seed)
    lock, order = getattr(process.module, kind)(), []

    def holder() -> None:
        with lock:
            process.sleep_s(10)

    def gives_up() -> None:
        process.sleep_s(1)
        order.append(lock.acquire(timeout=1))

    def patient() -> None:
        process.sleep_s(1)
        with lock:
            order.append(process.now_s)

    process.run(holder, gives_up, patient)
    assert order == [False, 10]


@KINDS
def test_one_waiting_thread_after_the_other_gets_the_lock_in_an_order_of_the_seed(kind: str) -> None:
    def order(seed: int) -> str:
        process, taken = Process(seed), []
        lock = getattr(process.module, kind)()

        def holder() -> None:
            with lock:
                process.sleep_s(1)

        def waiter(name: str) -> None:
            process.sleep_s(0.1 * "-abc".index(name))
            with lock:
                taken.append(name)

        process.run(holder, *(lambda name=name: waiter(name) for name in "abc"))
        return "".join(taken)

    orders = [order(seed) for seed in range(12)]
    assert {"".join(sorted(each)) for each in orders} == {"abc"}
    assert len(set(orders)) > 2
    assert order(3) == orders[3]


@KINDS
def test_another_thread_may_run_wherever_a_lock_is_touched(kind: str) -> None:
    def turns(switch_every: int) -> list[str]:
        process, turns = Process(switch_every=switch_every), []
        locks = {name: getattr(process.module, kind)() for name in "ab"}

        def work(name: str) -> None:
            for _ in range(5):
                with locks[name]:
                    turns.append(name)

        process.run(lambda: work("a"), lambda: work("b"))
        return turns

    assert len(list(itertools.groupby(turns(switch_every=10_000)))) == 2
    assert len(list(itertools.groupby(turns(switch_every=1)))) > 2


@KINDS
def test_a_lock_of_a_forked_process_is_free(process: Process, kind: str) -> None:
    lock = getattr(process.module, kind)()

    def take_twice() -> None:
        lock.acquire()
        lock._at_fork_reinit()
        assert lock.acquire(blocking=False)

    process.run(take_twice)


def test_hashes_of_locks_are_the_same_in_every_run() -> None:
    def hashes() -> list[int]:
        module = Process().module
        locks = [module.allocate_lock(), module.RLock(), module.allocate_lock()]
        return [hash(lock) for lock in (*locks, locks[0])]

    first = hashes()
    assert first == hashes()
    assert (len(set(first[:3])), first[3]) == (3, first[0])


# ── a plain lock ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_lock_is_released_by_any_thread_and_only_if_it_is_taken(process: Process) -> None:
    lock = process.module.allocate_lock()
    assert (lock.locked(), repr(lock)) == (False, "<unlocked lock of process>")
    lock.acquire()
    assert (lock.locked(), repr(lock)) == (True, "<locked lock of process>")
    process.run(lock.release)
    assert not lock.locked()
    with pytest.raises(RuntimeError, match="release unlocked lock"):
        lock.release()


def test_a_lock_is_not_taken_twice_by_its_thread(process: Process) -> None:
    lock = process.module.allocate_lock()

    def take_twice() -> None:
        assert lock.acquire()
        assert not lock.acquire(timeout=1)

    process.run(take_twice)


def test_nothing_can_wait_while_modules_are_imported(process: Process) -> None:
    lock = process.module.allocate_lock()
    lock.acquire()
    with pytest.raises(SimulationError, match="blocks outside a task"):
        lock.acquire()


# ── a reentrant lock ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reentrant_lock_is_free_once_it_is_released_as_often_as_it_was_taken(process: Process) -> None:
    lock, seen = process.module.RLock(), []

    def holder() -> None:
        with lock, lock:
            seen.append(lock._recursion_count())
            process.sleep_s(1)
        process.sleep_s(1)

    def watcher() -> None:
        process.sleep_s(0.5)
        seen.append((lock.acquire(blocking=False), lock._is_owned(), lock._recursion_count()))
        process.sleep_s(1)
        seen.append((lock.acquire(blocking=False), lock._is_owned(), lock._recursion_count()))

    process.run(holder, watcher)
    assert seen == [2, (False, False, 0), (True, True, 1)]


def test_a_reentrant_lock_is_released_by_its_owner_only(process: Process) -> None:
    lock = process.module.RLock()

    def thief() -> None:
        with pytest.raises(RuntimeError, match="cannot release un-acquired lock"):
            lock.release()

    process.run(thief)
    lock.acquire()
    process.run(thief)
    lock.release()
    with pytest.raises(RuntimeError, match="cannot release un-acquired lock"):
        lock.release()


def test_a_condition_lets_go_of_a_lock_and_takes_it_as_often_as_before(process: Process) -> None:
    lock, seen = process.module.RLock(), []

    def waits_for_a_condition() -> None:
        with lock, lock:
            saved = lock._release_save()
            process.sleep_s(2)
            lock._acquire_restore(saved)
            seen.append((process.now_s, lock._recursion_count()))
        seen.append(lock._is_owned())

    def notifies() -> None:
        process.sleep_s(1)
        with lock:
            process.sleep_s(4)

    process.run(waits_for_a_condition, notifies)
    assert seen == [(5, 2), False]
    with pytest.raises(RuntimeError, match="cannot release un-acquired lock"):
        lock._release_save()


# ── threads ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_thread_has_an_ident_as_long_as_it_runs(process: Process) -> None:
    seen: list[int] = []
    module = process.module
    assert module.get_ident() == MAIN_IDENT
    started = [module.start_new_thread(lambda: seen.append(module.get_ident()), ()) for _ in range(3)]
    assert module._count() == 3
    process.run()
    assert sorted(seen) == started
    assert len({MAIN_IDENT, *started}) == 4
    assert module._count() == 0


def test_arguments_reach_the_function(process: Process) -> None:
    seen: list[object] = []

    def function(*args: object, **kwargs: object) -> None:
        seen.append((args, kwargs))

    process.module.start_new_thread(function, (1, "two"), {"three": 3})
    process.run()
    assert seen == [((1, "two"), {"three": 3})]


def test_a_thread_has_the_name_of_its_thread_object_or_function(process: Process) -> None:
    class NamedThread:
        name = "fetcher-0"

        def run(self) -> None:
            process.scheduler.park()

    def replicate() -> None:
        process.scheduler.park()

    for function in (NamedThread().run, replicate):
        process.module.start_new_thread(function, ())
    with pytest.raises(DeadlockError, match=r"process/fetcher-0#\d+ .* process/replicate#"):
        process.scheduler.run()


def test_an_exception_ends_its_thread_alone_and_is_kept(process: Process) -> None:
    seen: list[float] = []

    def fails() -> None:
        raise ValueError("no such offset")

    def works() -> None:
        process.sleep_s(5)
        seen.append(process.now_s)

    def exits() -> None:
        raise SystemExit(3)

    for function in (fails, works, exits):
        process.module.start_new_thread(function, ())
    process.scheduler.run(until_ns=10 * SECOND_NS)
    assert seen == [5]
    (report,) = process.kernel.uncaught
    assert report.startswith("process: thread 2 ended with an exception\nTraceback")
    assert "ValueError: no such offset" in report


def test_an_exception_that_threading_reports_has_the_name_of_the_thread(process: Process) -> None:
    class NamedThread:
        name = "expiration-reaper"

    failure = ValueError("too late")
    hook = process.module._excepthook
    args = process.module._ExceptHookArgs([ValueError, failure, None, NamedThread()])
    assert isinstance(args, ExceptHookArgs)
    assert (args.exc_type, args.exc_value, args.exc_traceback, args.thread.name) == (
        ValueError, failure, None, "expiration-reaper",
    )  # fmt: skip
    hook(args)
    hook(process.module._ExceptHookArgs([SystemExit, SystemExit(1), None, None]))
    hook(process.module._ExceptHookArgs([ValueError, failure, None, None]))
    named, unnamed = process.kernel.uncaught
    assert named == "process: expiration-reaper ended with an exception\nValueError: too late\n"
    assert unnamed.startswith("process: a thread ended")


def test_the_lock_of_a_threads_end_is_released_then(process: Process) -> None:
    locks, seen = [], []

    def thread() -> None:
        locks.append(process.module._set_sentinel())
        locks[0].acquire()
        process.sleep_s(2)

    def joins() -> None:
        process.sleep_s(1)
        seen.append((locks[0].locked(), locks[0].acquire(), process.now_s))

    process.run(thread, joins)
    assert seen == [(True, True, 2)]


def test_a_lock_made_by_a_thread_of_another_process_does_not_end_with_it(process: Process) -> None:
    locks: list[Any] = []

    def imports_modules() -> None:
        locks.append(process.module._set_sentinel())
        locks[0].acquire()

    process.scheduler.spawn(Owner("scenario"), "importing", imports_modules)
    process.run()
    assert locks[0].locked()
    assert not process.module._set_sentinel().locked()


# ── threads of Python 3.13 ────────────────────────────────────────────────────────────────────────────────────────


def test_a_thread_is_joined_by_its_handle(process: Process) -> None:
    module, seen = process.module, []
    handle = module._ThreadHandle()
    assert module.start_joinable_thread(lambda: process.sleep_s(4), handle) is handle

    def joins() -> None:
        assert handle.join(1.5) is None
        seen.append((process.now_s, handle.is_done()))
        handle.join(-1)
        seen.append((process.now_s, handle.is_done()))
        handle.join()

    process.run(joins, handle.join)
    assert seen == [(1.5, False), (4, True)]
    assert handle.ident > MAIN_IDENT


def test_a_handle_is_made_if_there_is_none(process: Process) -> None:
    module, idents = process.module, []
    handle = module.start_joinable_thread(lambda: idents.append(module.get_ident()))
    process.run(handle.join)
    assert idents == [handle.ident]
    running = module._make_thread_handle(7)
    assert (running.ident, running.is_done()) == (7, False)


def test_a_process_waits_at_its_end_for_all_threads_but_daemons(process: Process) -> None:
    module, seen = process.module, []
    module.start_joinable_thread(lambda: process.sleep_s(2), daemon=False)
    module.start_joinable_thread(lambda: process.sleep_s(3), daemon=False)
    module.start_joinable_thread(lambda: process.sleep_s(100), daemon=True)

    def main() -> None:
        module._shutdown()
        seen.append(process.now_s)

    process.run(main)
    assert seen == [3]


# ── attributes of a thread ────────────────────────────────────────────────────────────────────────────────────────


def test_each_thread_sees_attributes_of_its_own(process: Process) -> None:
    kind: Any = type("_local", (Local,), {"kernel": process.kernel})
    local, seen = kind(), []
    local.value = "main"

    def thread(value: str) -> None:
        seen.append(hasattr(local, "value"))
        local.value = value
        process.sleep_s(1)
        seen.append(local.value)
        del local.value
        seen.append(hasattr(local, "value"))

    process.run(lambda: thread("a"), lambda: thread("b"))
    assert seen[:2] == [False, False]
    assert sorted(map(str, seen[2:])) == ["False", "False", "a", "b"]
    assert local.value == "main"
    with pytest.raises(AttributeError):
        del local.other


def test_a_local_with_arguments_is_initialized_again_in_each_thread(process: Process) -> None:
    class Buffers(Local):
        kernel = process.kernel

        def __init__(self, size: int, *, name: str) -> None:
            self.size, self.name, self.used = size, name, 0

    local, seen = Buffers(16, name="read"), []
    local.used = 3

    def thread() -> None:
        seen.append((local.size, local.name, local.used))
        local.used = 5
        seen.append(local.used)

    process.run(thread)
    assert seen == [(16, "read", 0), 5]
    assert local.used == 3
