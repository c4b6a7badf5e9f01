"""A connection that a quota delays is muted after its response, also for requests that have already arrived."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from tests.support.eventually import eventually
from tests.support.network import connect, echo_correlation_id, read_correlation_id, request_frame, running_server
from tests.support.patience import patient_s

Quick = Callable[[Request], bool] | None
QUICK: list[Quick] = [None, lambda _: True]


class Throttling:
    """A handler that delays the connections of some requests until ``end``."""

    def __init__(self, throttled: set[int], end_first: bool = False) -> None:
        self.throttled, self.end_first = throttled, end_first
        self.handled: list[int] = []
        self.requests: dict[int, Request] = {}
        self.channel: RequestChannel | None = None
        self.completed: list[int] = []

    def __call__(self, request: Request, channel: RequestChannel) -> None:
        number = request.header.correlation_id
        self.channel, self.requests[number] = channel, request
        self.handled.append(number)
        if number in self.throttled:
            request.api_throttle_time_ms = 1.0
            channel.start_throttling(request)
            if self.end_first:
                channel.end_throttling(request)
        echo_correlation_id(request, channel)

    def end(self, number: int) -> None:
        assert self.channel is not None
        self.channel.end_throttling(self.requests[number])


@pytest.mark.parametrize("is_quick", QUICK)
def test_what_the_client_has_already_sent_waits_for_the_end_of_the_delay(is_quick: Quick) -> None:
    """Whether it came with the throttled request, in one chain, or afterwards."""
    handler = Throttling({1, 3})
    with running_server(handler, is_quick=is_quick) as server, connect(server) as client, connect(server) as other:
        client.sendall(request_frame(1) + request_frame(2))
        assert read_correlation_id(client) == 1
        client.sendall(request_frame(3) + request_frame(4))
        other.sendall(request_frame(100))
        assert read_correlation_id(other) == 100, "no other connection waits"
        assert handler.handled == [1, 100]
        handler.end(1)
        assert [read_correlation_id(client), read_correlation_id(client)] == [2, 3]
        other.sendall(request_frame(101))
        assert read_correlation_id(other) == 101
        assert handler.handled == [1, 100, 2, 3, 101]
        handler.end(3)
        assert read_correlation_id(client) == 4


@pytest.mark.parametrize("is_quick", QUICK)
def test_a_delay_that_is_over_before_the_response_delays_nothing(is_quick: Quick) -> None:
    handler = Throttling(set(range(20)), end_first=True)
    with running_server(handler, is_quick=is_quick) as server, connect(server) as client:
        client.sendall(b"".join(map(request_frame, range(20))))
        assert [read_correlation_id(client) for _ in range(20)] == list(range(20))


def test_a_client_that_leaves_during_its_delay_ends_its_request_once() -> None:
    handler = Throttling({1})
    completed: list[int] = []
    with running_server(handler) as server:
        channel = server.request_channel
        channel.add_completion_listener(lambda request, _: completed.append(request.header.correlation_id))
        client = connect(server)
        client.sendall(request_frame(1))
        assert read_correlation_id(client) == 1
        client.close()  # a muted connection is not read, so this is noticed afterwards
        handler.end(1)
        eventually(lambda: server.connection_count("127.0.0.1") == 0)
        handler.end(1)
        with connect(server) as other:
            other.sendall(request_frame(2))
            assert read_correlation_id(other) == 2
        eventually(lambda: completed == [1, 2])


def test_the_time_of_the_network_thread_is_handed_over_when_the_response_is_out() -> None:
    """The first request that asks for it has the selector measure it."""
    recorded: list[float] = []
    is_recorded = threading.Semaphore(0)

    def record(time_ms: float) -> None:
        recorded.append(time_ms)
        is_recorded.release()

    def handle(request: Request, channel: RequestChannel) -> None:
        request.record_network_thread_time = record
        echo_correlation_id(request, channel)

    with running_server(handle) as server, connect(server) as client:
        for number in range(2):
            client.sendall(request_frame(number))
            assert read_correlation_id(client) == number
            assert is_recorded.acquire(timeout=patient_s(30))
    assert recorded[0] == 0
    assert recorded[1] > 0
