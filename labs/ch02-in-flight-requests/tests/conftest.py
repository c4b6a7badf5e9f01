"""Helpers that the tests of this lab share."""

import pytest

from kafka_lite.clients.client_request import ClientRequest, RequestBuilder
from kafka_lite.clients.in_flight_requests import InFlightRequest, InFlightRequests
from kafka_lite.network.send import NetworkSend
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest


class UnderWay(InFlightRequests):
    """Requests are identified by numbers here."""

    def put(self, number, node="1", sent_ms=0, has_left=True, timeout_ms=None):
        send = NetworkSend(node, [b"x"])
        send.remaining_bytes = 0 if has_left else 1
        request = ClientRequest(
            node, RequestBuilder.of(HeartbeatRequest()), number, "lab", sent_ms, request_timeout_ms=timeout_ms
        )
        self.add(InFlightRequest(request, 0, send, sent_ms))
        return self


@pytest.fixture
def new_queues():
    """``new_queues(limit=5)``; ``.put(number, node="1", sent_ms=0, has_left=True, timeout_ms=None)``."""

    def make(limit=5):
        return UnderWay(limit)

    return make


@pytest.fixture
def number_of():
    """The number of a request."""
    return lambda in_flight: in_flight.request.correlation_id


@pytest.fixture
def raises_lookup_error():
    """Whether the work raises LookupError."""

    def check(work):
        try:
            work()
        except LookupError:
            return True
        return False

    return check
