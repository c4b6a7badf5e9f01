"""The times of a request's passage through the broker, and the request that follows it on its connection."""

from __future__ import annotations

import threading

import pytest

from kafka_lite.common.security.kafka_principal import ANONYMOUS
from kafka_lite.network.request import Request, RequestTimes
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.headers import RequestHeader


@pytest.fixture
def request_() -> Request:
    header = RequestHeader(api_key=12, api_version=0, correlation_id=7, client_id="me")
    return Request(0, "conn", "PLAINTEXT", "PLAINTEXT", "127.0.0.1", header, HeartbeatRequest(), 30, 100.0)


def test_the_phases_of_a_request_that_waited_in_a_purgatory(request_: Request) -> None:
    request_.request_dequeue_time_ms = 101
    request_.api_local_complete_time_ms = 103
    request_.api_remote_complete_time_ms = 107
    request_.response_complete_time_ms = 115
    request_.response_dequeue_time_ms = 131
    assert request_.times(163) == RequestTimes(1, 2, 4, 8, 16, 32, 63)


def test_a_request_that_did_not_wait_has_no_remote_time(request_: Request) -> None:
    request_.request_dequeue_time_ms = 101
    request_.api_local_complete_time_ms = 103
    request_.response_complete_time_ms = 103
    request_.response_dequeue_time_ms = 104
    times = request_.times(105)
    assert (times.local_ms, times.remote_ms, times.throttle_ms) == (2, 0, 0)


@pytest.mark.parametrize("local_mark", [-1.0, 110.0], ids=["missing", "late"])
def test_no_phase_is_negative_if_another_thread_was_faster(request_: Request, local_mark: float) -> None:
    request_.request_dequeue_time_ms = 101
    request_.api_local_complete_time_ms = local_mark
    request_.api_remote_complete_time_ms = 103
    request_.response_complete_time_ms = 103
    request_.response_dequeue_time_ms = 104
    times = request_.times(105)
    assert times.remote_ms == 0
    assert min(getattr(times, name) for name in RequestTimes.__annotations__) >= 0
    assert times.total_ms == 5


def test_a_new_request_is_anonymous_and_has_no_marks(request_: Request) -> None:
    assert request_.principal == ANONYMOUS
    assert {
        request_.request_dequeue_time_ms,
        request_.api_local_complete_time_ms,
        request_.api_remote_complete_time_ms,
        request_.response_complete_time_ms,
        request_.response_dequeue_time_ms,
    } == {-1}
    assert request_.take_following() is None


def test_only_one_caller_gets_the_following_request(request_: Request) -> None:
    header = RequestHeader(api_key=12, api_version=0, correlation_id=8, client_id="me")
    following = Request(0, "conn", "PLAINTEXT", "PLAINTEXT", "127.0.0.1", header, HeartbeatRequest(), 30, 101.0)
    request_.follow_with(following)
    taken: list[Request | None] = []
    threads = [threading.Thread(target=lambda: taken.append(request_.take_following())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each for each in taken if each is not None] == [following]
    assert len(taken) == 4


def test_a_callback_runs_when_the_client_leaves_or_at_once_if_it_has(request_: Request) -> None:
    told: list[str] = []
    request_.when_client_leaves(lambda: told.append("first"))
    request_.when_client_leaves(lambda: told.append("second"))
    assert not request_.client_has_left
    request_.note_client_left()
    assert (request_.client_has_left, told) == (True, ["second"])
    request_.when_client_leaves(lambda: told.append("late"))
    assert told == ["second", "late"]
    request_.when_client_leaves(None)
    request_.note_client_left()
    assert told == ["second", "late"]
