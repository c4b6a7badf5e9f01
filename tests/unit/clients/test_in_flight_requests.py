"""Queues of requests in flight."""

from __future__ import annotations

import math

import pytest

from kafka_lite.clients.client_request import ClientRequest, RequestBuilder
from kafka_lite.clients.in_flight_requests import InFlightRequest, InFlightRequests
from kafka_lite.network.send import NetworkSend
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest


def request(number: int, node: str = "1", sent_ms: float = 0, left: bool = True) -> InFlightRequest:
    send = NetworkSend(node, [b"x"])
    send.remaining_bytes = 0 if left else 1
    builder = RequestBuilder.of(HeartbeatRequest())
    return InFlightRequest(ClientRequest(node, builder, number, "me", sent_ms), 0, send, sent_ms)


def numbers(requests: list[InFlightRequest]) -> list[int]:
    return [each.request.correlation_id for each in requests]


def test_responses_belong_to_the_oldest_request() -> None:
    in_flight = InFlightRequests(5)
    for number in (1, 2, 3):
        in_flight.add(request(number))
    assert in_flight.complete_next("1").request.correlation_id == 1
    assert in_flight.last_sent("1").request.correlation_id == 3
    assert in_flight.complete_last_sent("1").request.correlation_id == 3
    assert in_flight.count("1") == in_flight.count() == 1
    assert numbers(in_flight.clear_all("1")) == [2]
    with pytest.raises(LookupError):
        in_flight.complete_next("1")


def test_clearing_returns_the_oldest_first() -> None:
    in_flight = InFlightRequests(5)
    for number in (1, 2):
        in_flight.add(request(number))
    in_flight.add(request(3, "2"))
    assert numbers(in_flight.clear_all("1")) == [1, 2]
    assert in_flight.clear_all("1") == []
    assert in_flight.count() == 1


def test_can_send_more_checks_the_limit_and_the_last_send() -> None:
    in_flight = InFlightRequests(2)
    assert in_flight.can_send_more("1")
    in_flight.add(request(1, left=False))
    assert not in_flight.can_send_more("1"), "it is not completely sent yet"
    in_flight.clear_all("1")
    in_flight.add(request(1))
    assert in_flight.can_send_more("1")
    in_flight.add(request(2))
    assert not in_flight.can_send_more("1")
    assert in_flight.can_send_more("2")


def test_timed_out_requests() -> None:
    in_flight = InFlightRequests(5)
    assert in_flight.next_timeout_ms(0, 100) == math.inf
    in_flight.add(request(1, "1", sent_ms=0))
    in_flight.add(request(2, "1", sent_ms=50))
    in_flight.add(request(3, "2", sent_ms=60))
    assert in_flight.next_timeout_ms(30, 100) == 70
    assert in_flight.nodes_with_timed_out_requests(99, 100) == []
    assert in_flight.nodes_with_timed_out_requests(100, 100) == ["1"]
    assert in_flight.nodes_with_timed_out_requests(160, 100) == ["1", "2"]
    assert in_flight.next_timeout_ms(500, 100) == 0
