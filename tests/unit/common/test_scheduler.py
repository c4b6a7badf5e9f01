"""Background tasks run on time, repeat in spite of errors, and stop at shutdown."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from kafka_lite.common.scheduler import KafkaScheduler, MockScheduler
from kafka_lite.common.time import MockTime
from tests.support.eventually import eventually
from tests.support.patience import patient_s

LONG_MAX = 2**63 - 1
"""What ``file.delete.delay.ms`` and other configurations may be set to: never."""


@pytest.fixture
def scheduler() -> Iterator[KafkaScheduler]:
    scheduler = KafkaScheduler(1, "test-scheduler-")
    scheduler.startup()
    yield scheduler
    scheduler.shutdown()


def test_a_task_that_is_never_due_does_not_block_the_others(scheduler: KafkaScheduler) -> None:
    scheduler.schedule("never", lambda: None, delay_ms=LONG_MAX)
    # The tasks before and after make sure that the thread has seen the far task and waits for it.
    for _ in range(2):
        done = threading.Event()
        scheduler.schedule("now", done.set)
        assert done.wait(patient_s(60)), "no thread is left to run tasks"


def test_a_periodic_task_repeats_after_an_error(scheduler: KafkaScheduler, caplog: pytest.LogCaptureFixture) -> None:
    third = threading.Event()
    runs: list[int] = []

    def fail() -> None:
        runs.append(1)
        if len(runs) == 3:
            third.set()
        raise OSError("disk on fire")

    scheduler.schedule("retention", fail, period_ms=0)
    assert third.wait(patient_s(60))
    assert "Error in scheduled task retention" in caplog.text


def test_shutdown_waits_for_the_running_task_and_drops_the_others(scheduler: KafkaScheduler) -> None:
    at_work, go_on = threading.Event(), threading.Event()
    ended: list[str] = []

    def slow() -> None:
        at_work.set()
        assert go_on.wait(patient_s(60))
        ended.append("slow")

    scheduler.schedule("slow", slow)
    scheduler.schedule("behind", lambda: ended.append("behind"))
    assert at_work.wait(patient_s(60))
    stopping = threading.Thread(target=scheduler.shutdown)
    stopping.start()
    eventually(lambda: not scheduler._running)
    go_on.set()
    stopping.join(patient_s(60))
    assert ended == ["slow"]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("test-scheduler-")]


def test_starting_twice_raises(scheduler: KafkaScheduler) -> None:
    with pytest.raises(RuntimeError, match="already been started"):
        scheduler.startup()


def test_a_scheduler_can_be_restarted(scheduler: KafkaScheduler) -> None:
    scheduler.shutdown()
    scheduler.startup()
    done = threading.Event()
    scheduler.schedule("now", done.set)
    assert done.wait(patient_s(60)), "no thread is left to run tasks"


def test_the_mock_scheduler_runs_tasks_when_its_clock_advances() -> None:
    time = MockTime()
    scheduler = MockScheduler(time)
    runs: list[str] = []
    scheduler.schedule("later", lambda: runs.append("later"), delay_ms=20)
    scheduler.schedule("often", lambda: runs.append("often"), delay_ms=10, period_ms=10)
    assert runs == []
    time.sleep(10)
    assert runs == ["often"]
    time.sleep(10)
    assert sorted(runs) == ["later", "often", "often"]
    time.sleep(100)
    assert runs.count("often") == 12
    scheduler.shutdown()
    time.sleep(100)
    assert runs.count("often") == 12


def test_added_threads_run_tasks_in_parallel(scheduler: KafkaScheduler) -> None:
    both = threading.Barrier(2)
    waited: list[int] = []

    def wait() -> None:
        both.wait(patient_s(60))
        waited.append(1)

    scheduler.schedule("one", wait)
    scheduler.schedule("other", wait)
    scheduler.resize(2)
    eventually(lambda: len(waited) == 2)


def test_removed_threads_end_after_their_tasks_and_the_others_continue(scheduler: KafkaScheduler) -> None:
    def threads() -> list[str]:
        return sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("test-scheduler-"))

    scheduler.resize(4)
    assert threads() == [f"test-scheduler-{number}" for number in range(4)]
    all_at_work, go_on = threading.Barrier(5), threading.Event()
    ended: list[int] = []

    def slow() -> None:
        all_at_work.wait(patient_s(60))
        assert go_on.wait(patient_s(60))
        ended.append(1)

    for _ in range(4):
        scheduler.schedule("slow", slow)
    all_at_work.wait(patient_s(60))
    scheduler.schedule("afterwards", lambda: ended.append(2))
    scheduler.resize(1)
    assert len(threads()) == 4
    go_on.set()
    eventually(lambda: ended == [1, 1, 1, 1, 2])
    eventually(lambda: len(threads()) == 1)
    scheduler.resize(2)
    assert len(threads()) == 2
    scheduler.shutdown()
    scheduler.resize(3)
    assert threads() == []


def test_removed_threads_that_have_nothing_to_do_end_at_once(scheduler: KafkaScheduler) -> None:
    scheduler.resize(4)
    all_at_work = threading.Barrier(5)

    def meet() -> None:
        all_at_work.wait(patient_s(60))

    for _ in range(4):
        scheduler.schedule("once", meet)
    all_at_work.wait(patient_s(60))
    eventually(lambda: scheduler.is_idle)
    scheduler.resize(1)
    eventually(lambda: [each.is_alive() for each in scheduler._threads].count(True) == 1)
