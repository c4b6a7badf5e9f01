"""Deadlines that move, and are looked at seldom."""

from __future__ import annotations

from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.coordinator.group.modern.member_timers import MemberTimer, MemberTimers

TIMER = MemberTimer("session", "g", "m")


def test_a_timer_expires_after_its_last_deadline() -> None:
    time = MockTime()
    timers, expired = MemberTimers(MockScheduler(time), time), list[float]()
    start = time.hi_res_ms()
    timers.schedule(TIMER, 100, lambda: expired.append(time.hi_res_ms() - start))
    time.sleep(60)
    timers.schedule(TIMER, 100, lambda: expired.append(time.hi_res_ms() - start))
    time.sleep(60)
    assert expired == []
    time.sleep(60)
    assert len(expired) == 1
    assert expired[0] >= 160
    time.sleep(500)
    assert len(expired) == 1


def test_a_timer_that_was_cancelled_does_nothing_and_can_be_set_again() -> None:
    time = MockTime()
    timers, expired = MemberTimers(MockScheduler(time), time), list[str]()
    timers.schedule(TIMER, 100, lambda: expired.append("first"))
    timers.cancel_member("g", "m")
    timers.schedule(TIMER, 200, lambda: expired.append("second"))
    time.sleep(150)
    assert expired == []
    time.sleep(100)
    assert expired == ["second"]
    timers.schedule(TIMER, 100, lambda: expired.append("third"))
    timers.cancel(TIMER)
    time.sleep(1000)
    assert expired == ["second"]
