from __future__ import annotations

import math

import pytest

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.distributed.herder_requests import HerderRequests


@pytest.fixture
def woken() -> list[str]:
    return []


@pytest.fixture
def requests(woken: list[str]) -> HerderRequests:
    return HerderRequests(lambda: woken.append("up"))


def _run_due(requests: HerderRequests, now_ms: float) -> None:
    while (request := requests.take_due(now_ms)) is not None:
        request.run()


def test_requests_run_by_time_and_then_in_the_order_of_arrival(requests: HerderRequests) -> None:
    ran: list[str] = []
    for name, at_ms in (("later", 250), ("first", 0), ("second", 0)):
        requests.add(lambda name=name: ran.append(name), at_ms)  # type: ignore[misc]
    _run_due(requests, 249)
    assert ran == ["first", "second"]
    assert requests.time_to_next_ms(249) == 1
    _run_due(requests, 250)
    assert ran == ["first", "second", "later"]
    assert requests.time_to_next_ms(250) == math.inf


def test_the_herder_is_woken_for_a_request_before_all_others(requests: HerderRequests, woken: list[str]) -> None:
    requests.add(lambda: None, 10)
    requests.add(lambda: None, 20)
    assert woken == ["up"]
    requests.add(lambda: None, 5)
    assert woken == ["up", "up"]


def test_the_caller_gets_the_result_or_the_error(requests: HerderRequests) -> None:
    result, error = requests.add(lambda: 7, 0), requests.add(lambda: list[int]()[0], 0)
    assert not result.done()
    _run_due(requests, 0)
    assert result.result(0) == 7
    assert isinstance(error.exception(0), IndexError)


def test_a_cancelled_request_is_not_made(requests: HerderRequests) -> None:
    ran: list[str] = []
    requests.add(lambda: ran.append("cancelled"), 0).cancel()
    _run_due(requests, 0)
    assert not ran


def test_a_worker_that_stops_refuses_what_waits_and_what_comes(requests: HerderRequests) -> None:
    waiting = requests.add(lambda: None, 0)
    requests.close()
    late = requests.add(lambda: None, 0)
    for refused in (waiting, late):
        with pytest.raises(ConnectError, match="Worker is shutting down"):
            refused.result(0)
    assert requests.take_due(0) is None
