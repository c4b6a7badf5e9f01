"""When heartbeats are due."""

from __future__ import annotations

import math

from kafka_lite.consumer.group.modern.heartbeat_request_state import HeartbeatRequestState


def requests() -> HeartbeatRequestState:
    return HeartbeatRequestState(max_poll_interval_ms=60_000, retry_backoff_ms=100)


def test_the_coordinator_says_how_often() -> None:
    state = requests()
    assert state.time_to_next_ms(1000, is_urgent=False) == 0
    state.sent(1000)
    assert state.time_to_next_ms(1010, is_urgent=True) == math.inf, "one at a time"
    state.succeeded(5000)
    assert state.time_to_next_ms(1010, is_urgent=False) == 4990
    assert state.time_to_next_ms(1010, is_urgent=True) == 0
    assert state.time_to_next_ms(7000, is_urgent=False) == 0


def test_failures_wait_longer_and_longer_even_if_it_is_urgent() -> None:
    state, waits = requests(), []
    for _ in range(6):
        state.sent(0)
        state.failed(0)
        waits.append(state.time_to_next_ms(0, is_urgent=True))
    assert waits == [100, 200, 400, 800, 1000, 1000]
    state.sent(0)
    state.succeeded(3000)
    state.sent(3000)
    state.failed(3000)
    assert state.time_to_next_ms(3000, is_urgent=False) == 100


def test_after_a_reset_the_next_one_is_due_at_once() -> None:
    state = requests()
    state.sent(0)
    state.failed(0)
    state.reset()
    assert state.time_to_next_ms(0, is_urgent=False) == 0


def test_the_user_must_poll_in_time() -> None:
    state = requests()
    assert (state.poll_timeout_expired(1e9), state.time_to_poll_timeout_ms(1e9)) == (False, math.inf)
    state.polled(1000)
    assert (state.poll_timeout_expired(61_000), state.time_to_poll_timeout_ms(31_000)) == (False, 30_000)
    assert (state.poll_timeout_expired(61_001), state.time_to_poll_timeout_ms(70_000)) == (True, 0)
