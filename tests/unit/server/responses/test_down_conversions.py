"""Conversions run one after the other, and neither their callers nor a stop wait for those behind."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from kafka_lite.server.responses.down_conversions import ConversionThread, DownConversions
from tests.support.eventually import eventually
from tests.support.patience import patient_s

NAME = "down-conversion of a test"


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == NAME]


def test_without_old_consumers_there_is_no_thread() -> None:
    conversions = DownConversions(NAME)
    assert not threads()
    conversions.shutdown()


def test_one_at_a_time_in_order_and_in_another_thread() -> None:
    conversions, done, running = DownConversions(NAME), [], threading.Semaphore(1)

    def task(number: int) -> None:
        assert running.acquire(blocking=False)
        assert threading.current_thread() in threads()
        done.append(number)
        running.release()

    for number in range(50):
        conversions.submit(partial(task, number))
    eventually(lambda: done == list(range(50)))
    assert len(threads()) == 1
    conversions.shutdown()
    assert not threads()


def test_an_error_does_not_end_the_thread(caplog: pytest.LogCaptureFixture) -> None:
    conversions, done = DownConversions(NAME), threading.Event()

    def failing() -> None:
        raise ValueError("a bug")

    conversions.submit(failing)
    conversions.submit(done.set)
    assert done.wait(patient_s(30))
    assert "A conversion failed" in caplog.text
    conversions.shutdown()


def test_a_stop_waits_for_the_conversion_in_progress_and_drops_the_others() -> None:
    conversions, begun, door, done = DownConversions(NAME), threading.Event(), threading.Event(), []

    def slow() -> None:
        begun.set()
        assert door.wait(patient_s(30))
        done.append("first")

    conversions.submit(slow)
    conversions.submit(lambda: done.append("second"))
    assert begun.wait(patient_s(30))
    stop = threading.Thread(target=conversions.shutdown)
    stop.start()
    (thread,) = threads()
    assert isinstance(thread, ConversionThread)
    eventually(lambda: not thread.is_running)
    door.set()
    stop.join(patient_s(30))
    assert (done, threads()) == (["first"], [])
    conversions.submit(lambda: done.append("third"))
    assert not threads()
