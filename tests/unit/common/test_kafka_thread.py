"""A thread that runs another object's turns."""

from __future__ import annotations

import threading

from kafka_learn.recording.recorder import actor_of
from kafka_lite.common.kafka_thread import KafkaThread
from tests.support.patience import patient_s


class Sleeper:
    """Each turn waits until it is woken up."""

    def __init__(self) -> None:
        self.woken = threading.Event()
        self.began = threading.Event()
        self.thread: threading.Thread | None = None

    def do_work(self) -> None:
        self.thread = threading.current_thread()
        self.began.set()
        self.woken.wait(patient_s(30))

    def wake_up(self) -> None:
        self.woken.set()


def test_it_runs_turns_and_wakes_up_the_last_one() -> None:
    sleeper = Sleeper()
    thread = KafkaThread("a-thread", sleeper)
    thread.start()
    assert sleeper.began.wait(patient_s(30))
    thread.shutdown()
    assert not thread.is_alive()
    assert sleeper.thread is thread
    assert thread.name == "a-thread"


def test_a_recording_names_it_after_the_object_it_runs() -> None:
    assert actor_of(KafkaThread("a-thread", Sleeper())) == "Sleeper"
