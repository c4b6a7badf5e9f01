from __future__ import annotations

import threading

import pytest

from kafka_lite.common.shutdownable_thread import ProcessKilledError, ShutdownableThread
from kafka_lite.testing.connect.worker_time import WorkerTime
from tests.support.patience import patient_s


class Clocked(ShutdownableThread):
    """Reads the clock again and again, and waits in between until it is told to shut down."""

    def __init__(self, time: WorkerTime) -> None:
        super().__init__("clocked")
        self.time = time
        self.read = threading.Semaphore(0)
        self.readings = 0

    def do_work(self) -> None:
        self.time.hi_res_ms()
        self.readings += 1
        self.read.release()
        self.pause(1)


@pytest.fixture
def time() -> WorkerTime:
    return WorkerTime()


def test_it_is_the_machines_clock(time: WorkerTime) -> None:
    before = time.hi_res_ms()
    time.sleep(1)
    assert time.hi_res_ms() - before >= 1
    condition = threading.Condition()
    with condition:
        assert not time.wait(condition, 1)
    assert time.milliseconds() > 0


def test_a_pause_holds_threads_until_they_are_resumed(time: WorkerTime) -> None:
    thread = Clocked(time)
    thread.start()
    assert thread.read.acquire(timeout=patient_s(60))
    time.pause()
    before = thread.readings
    thread.pause(50)
    assert thread.readings <= before + 1  # it may have been between its look at the clock and its count
    while thread.read.acquire(blocking=False):
        pass
    time.resume()
    assert thread.read.acquire(timeout=patient_s(60))
    thread.shutdown()


def test_a_kill_ends_threads_in_silence(time: WorkerTime, caplog: pytest.LogCaptureFixture) -> None:
    threads = [Clocked(time) for _ in range(2)]
    for thread in threads:
        thread.start()
        assert thread.read.acquire(timeout=patient_s(60))
    time.pause()  # they may be held
    assert time.kill(60)
    assert not any(thread.is_alive() for thread in threads)
    assert not caplog.records
    for call in (time.hi_res_ms, time.milliseconds, lambda: time.sleep(0)):
        with pytest.raises(ProcessKilledError):
            call()
