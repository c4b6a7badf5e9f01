"""Other threads end a processor's poll: nothing waits for the poll's timeout."""

from __future__ import annotations

import threading

import pytest

from kafka_lite.network import processor
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from tests.support.network import (
    connect,
    echo_correlation_id,
    needs_plain_package,
    read_correlation_id,
    request_frame,
    running_server,
)


@needs_plain_package
def test_connections_and_responses_from_other_threads_end_a_poll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Polls last 40 s here, longer than the 30 s for which the clients' sockets wait."""
    monkeypatch.setattr(processor, "POLL_TIMEOUT_MS", 40_000.0)

    def handle(request: Request, channel: RequestChannel) -> None:
        answer = threading.Timer(request.header.correlation_id % 3 / 1000, echo_correlation_id, (request, channel))
        answer.start()

    with running_server(handle) as server:
        for first in range(0, 60, 6):
            with connect(server) as client, connect(server) as other:
                client.sendall(b"".join(request_frame(number) for number in range(first, first + 6)))
                other.sendall(request_frame(first))
                assert read_correlation_id(other) == first
                assert [read_correlation_id(client) for _ in range(6)] == list(range(first, first + 6))
