"""When heartbeats are due, and when timeouts expire."""

from __future__ import annotations

import threading

import pytest

from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.consumer.group.heartbeat import Heartbeat
from kafka_lite.consumer.group.heartbeat_thread import HeartbeatThread
from tests.support.patience import patient_s


@pytest.fixture
def heartbeat() -> Heartbeat:
    heartbeat = Heartbeat(session_timeout_ms=300, interval_ms=100, max_poll_interval_ms=900, retry_backoff_ms=10)
    heartbeat.reset_timeouts(0)
    return heartbeat


def test_a_heartbeat_is_due_an_interval_after_the_last(heartbeat: Heartbeat) -> None:
    assert heartbeat.time_to_next_heartbeat_ms(40) == 60
    assert not heartbeat.should_heartbeat(99)
    assert heartbeat.should_heartbeat(100)
    heartbeat.sent(110)
    assert heartbeat.time_to_next_heartbeat_ms(150) == 60
    assert heartbeat.time_to_next_heartbeat_ms(999) == 0


def test_a_failed_heartbeat_is_repeated_after_the_backoff(heartbeat: Heartbeat) -> None:
    heartbeat.sent(100)
    heartbeat.failed()
    assert heartbeat.time_to_next_heartbeat_ms(103) == 7
    heartbeat.sent(110)
    assert heartbeat.time_to_next_heartbeat_ms(110) == 100


def test_the_session_starts_with_the_last_response(heartbeat: Heartbeat) -> None:
    heartbeat.sent(200)
    assert not heartbeat.session_timeout_expired(300)
    assert heartbeat.session_timeout_expired(301)
    heartbeat.received(250)
    assert not heartbeat.session_timeout_expired(550)
    assert heartbeat.session_timeout_expired(551)


def test_the_poll_timeout_expires_without_polls(heartbeat: Heartbeat) -> None:
    heartbeat.poll(500)
    assert heartbeat.time_to_poll_timeout_ms(600) == 800
    assert not heartbeat.poll_timeout_expired(1400)
    assert heartbeat.poll_timeout_expired(1401)


def test_an_interval_as_long_as_the_session_is_refused() -> None:
    with pytest.raises(ValueError, match="session"):
        Heartbeat(100, 100, 900, 10)


class Owner:
    def __init__(self, *turns: float | Exception | None) -> None:
        self.turns = list(turns)
        self.done = threading.Event()

    def heartbeat_turn(self) -> float | None:
        turn = self.turns.pop(0)
        if not self.turns:
            self.done.set()
        if isinstance(turn, Exception):
            raise turn
        return turn


def started(owner: Owner) -> tuple[HeartbeatThread, threading.Condition]:
    condition = threading.Condition(threading.RLock())
    thread = HeartbeatThread("heartbeat", owner, condition, SYSTEM_TIME)
    thread.start()
    return thread, condition


def test_the_thread_runs_while_it_is_enabled() -> None:
    owner = Owner(0, 1, None)
    thread, condition = started(owner)
    assert not owner.done.is_set()
    with condition:
        thread.enable()
    assert owner.done.wait(patient_s(30))
    with condition:
        assert not thread.is_enabled
    thread.shutdown(30)
    assert not thread.is_alive()
    assert thread.failure is None


def test_the_error_that_ends_the_thread_is_kept() -> None:
    owner = Owner(ValueError("no"))
    thread, condition = started(owner)
    with condition:
        thread.enable()
    thread.join(patient_s(30))
    assert isinstance(thread.failure, ValueError)
