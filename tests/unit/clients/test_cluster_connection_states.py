"""States of connections, and their backoff."""

from __future__ import annotations

import math

import pytest

from kafka_lite.clients.cluster_connection_states import (
    ClusterConnectionStates,
    ConnectionState,
    IllegalConnectionStateError,
)


class NoJitter:
    def uniform(self, _low: float, _high: float) -> float:
        return 1


def states(setup_timeout_ms: float = math.inf) -> ClusterConnectionStates:
    return ClusterConnectionStates(100, 1000, setup_timeout_ms, NoJitter())  # type: ignore[arg-type]


def test_the_states_of_a_connection() -> None:
    connections = states()
    assert connections.can_connect("1", 0)
    connections.connecting("1", 0)
    assert connections.is_connecting("1")
    assert connections.any_is_establishing()
    assert not connections.can_connect("1", 10_000)
    assert connections.connection_delay_ms("1", 0) == math.inf
    connections.checking_api_versions("1")
    assert not connections.is_ready("1")
    connections.ready("1")
    assert connections.is_ready("1")
    assert not connections.any_is_establishing()
    connections.disconnected("1", 50)
    assert connections.state("1") is ConnectionState.DISCONNECTED
    connections.remove("1")
    assert connections.can_connect("1", 50)


def test_the_backoff_doubles_up_to_the_maximum_and_is_reset_by_a_success() -> None:
    connections, now_ms, waits = states(), 0.0, []
    for _ in range(6):
        connections.connecting("1", now_ms)
        connections.disconnected("1", now_ms)
        assert connections.is_blacked_out("1", now_ms)
        waits.append(connections.connection_delay_ms("1", now_ms))
        now_ms += waits[-1]
        assert connections.can_connect("1", now_ms)
    assert waits == [100, 200, 400, 800, 1000, 1000]
    connections.connecting("1", now_ms)
    connections.ready("1")
    connections.disconnected("1", now_ms)
    assert connections.connection_delay_ms("1", now_ms) == 100


def test_the_backoff_is_jittered() -> None:
    waits = set()
    for _ in range(50):
        connections = ClusterConnectionStates(100, 100)
        connections.disconnected("1", 0)
        waits.add(connections.connection_delay_ms("1", 0))
    assert len(waits) > 10
    assert all(80 <= wait <= 120 for wait in waits)


def test_connections_time_out_while_connecting() -> None:
    connections = states(setup_timeout_ms=500)
    connections.connecting("1", 0)
    connections.connecting("2", 300)
    assert connections.with_setup_timeout(500) == []
    assert connections.with_setup_timeout(501) == ["1"]
    connections.ready("1")
    assert connections.with_setup_timeout(900) == ["2"]


def test_forbidden_transitions_raise() -> None:
    connections = states()
    with pytest.raises(IllegalConnectionStateError, match="DISCONNECTED to READY"):
        connections.ready("1")
    connections.connecting("1", 0)
    with pytest.raises(IllegalConnectionStateError):
        connections.connecting("1", 0)
