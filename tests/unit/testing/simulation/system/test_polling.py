"""The world's ``select.poll``: sockets know of it only while it polls."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kafka_lite.testing.simulation.endpoint import Endpoint
from kafka_lite.testing.simulation.event_log import EventLog
from kafka_lite.testing.simulation.scheduler import Owner, Scheduler
from kafka_lite.testing.simulation.system.kernel import Kernel
from kafka_lite.testing.simulation.system.polling import HUP, IN, select_module


def polled(scenario: Any) -> tuple[list[Any], Endpoint]:
    """Call ``scenario(select, endpoint, descriptor)`` in a thread; return its result, and the endpoint."""
    kernel = Kernel()
    kernel.scheduler = Scheduler(Random(1), EventLog())
    endpoint = Endpoint(None, "here")  # type: ignore[arg-type]  # no network: nothing is sent
    endpoint.is_connected = True
    fd, results = kernel.open_socket(endpoint), []

    def run() -> None:
        results.append(scenario(select_module(kernel), endpoint, fd))
        kernel.scheduler.stop()

    kernel.scheduler.at(5_000_000, endpoint.arrive, b"x")
    kernel.scheduler.spawn(Owner("process"), "thread", run)
    kernel.scheduler.run()
    return results, endpoint


def test_polls_that_were_dropped_are_not_called_any_more() -> None:
    def scenario(select: Any, endpoint: Endpoint, fd: int) -> list[Any]:
        seen = []
        for timeout_ms in (1, 1, 100):
            poll = select.poll()
            poll.register(fd, IN)
            seen.append(poll.poll(timeout_ms))
            assert endpoint.watchers == []
        return [*seen, fd]

    ((*empty, found, fd),), endpoint = polled(scenario)
    assert (empty, found) == ([[], []], [(fd, IN)])
    assert endpoint.watchers == []


def test_a_poll_sees_what_came_before_it_and_between_two_of_its_calls() -> None:
    def scenario(select: Any, endpoint: Endpoint, fd: int) -> list[Any]:
        poll = select.poll()
        poll.register(fd, IN)
        before = poll.poll(1)
        endpoint.reset()
        between = poll.poll(1)
        poll.unregister(fd)
        with pytest.raises(FileNotFoundError):
            poll.unregister(fd)
        return [before, [events & (IN | HUP) for _, events in between], poll.poll(1)]

    results, _ = polled(scenario)
    assert results == [[[], [IN | HUP], []]]
