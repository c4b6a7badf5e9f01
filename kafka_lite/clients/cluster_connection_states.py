"""The state of the connection to each broker, and when to reconnect.

Kafka 0.10.2: clients/.../clients/ClusterConnectionStates.java (NodeConnectionState), ConnectionState.java
· book 2.1.3
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from enum import Enum, auto


class ConnectionState(Enum):
    """State of the connection to one broker."""

    DISCONNECTED = auto()
    """action: wait for the backoff · transition: CONNECTING when there is something to send."""
    CONNECTING = auto()
    """action: wait for TCP · transition: CHECKING_API_VERSIONS or READY once connected, DISCONNECTED on failure."""
    CHECKING_API_VERSIONS = auto()
    """action: request the broker's API versions · transition: READY with the response, DISCONNECTED without."""
    READY = auto()
    """action: send requests · transition: DISCONNECTED when the connection breaks."""


VALID_PREVIOUS_STATES: dict[ConnectionState, frozenset[ConnectionState]] = {
    ConnectionState.DISCONNECTED: frozenset(ConnectionState),
    ConnectionState.CONNECTING: frozenset({ConnectionState.DISCONNECTED}),
    ConnectionState.CHECKING_API_VERSIONS: frozenset({ConnectionState.CONNECTING}),
    ConnectionState.READY: frozenset({ConnectionState.CONNECTING, ConnectionState.CHECKING_API_VERSIONS}),
}


class IllegalConnectionStateError(RuntimeError):
    """A transition that the table does not allow: a bug of the caller."""


@dataclass
class NodeConnectionState:
    """The state of one connection."""

    state: ConnectionState = ConnectionState.DISCONNECTED
    last_attempt_ms: float = -math.inf
    failed_attempts: int = 0
    backoff_ms: float = 0
    """How long after the last attempt or loss the next attempt may start."""


class ClusterConnectionStates:
    """The states of all connections of a client, by broker id.

    After a loss, the client waits ``reconnect_backoff_ms`` before it reconnects. Each further failure doubles the
    backoff, up to ``reconnect_backoff_max_ms``. A random jitter of a fifth keeps the clients of a restarted broker from
    connecting all at once. 0.10.2 has a fixed backoff; the growing one came with KIP-144.
    """

    JITTER = 0.2

    def __init__(
        self,
        reconnect_backoff_ms: float,
        reconnect_backoff_max_ms: float,
        connection_setup_timeout_ms: float = math.inf,
        random_source: random.Random | None = None,
    ) -> None:
        self._backoff_ms = reconnect_backoff_ms
        self._backoff_max_ms = max(reconnect_backoff_ms, reconnect_backoff_max_ms)
        self._setup_timeout_ms = connection_setup_timeout_ms
        self._random = random_source or random.Random()
        self._nodes: dict[str, NodeConnectionState] = {}

    def can_connect(self, node: str, now_ms: float) -> bool:
        """Whether there is no connection, and its backoff is over."""
        return self._is_disconnected(node) and self._backoff_left_ms(node, now_ms) == 0

    def is_blacked_out(self, node: str, now_ms: float) -> bool:
        """Whether the broker must not be connected to yet."""
        return self._is_disconnected(node) and self._backoff_left_ms(node, now_ms) > 0

    def connection_delay_ms(self, node: str, now_ms: float) -> float:
        """When to check again: after the rest of the backoff, ms; infinity while a connection exists or is being
        established."""
        return self._backoff_left_ms(node, now_ms) if self._is_disconnected(node) else math.inf

    def connecting(self, node: str, now_ms: float) -> None:
        """A connection attempt starts."""
        self._transition_to(node, ConnectionState.CONNECTING)
        self._nodes[node].last_attempt_ms = now_ms

    def checking_api_versions(self, node: str) -> None:
        """The connection is established, and the broker's API versions are requested."""
        self._transition_to(node, ConnectionState.CHECKING_API_VERSIONS)

    def ready(self, node: str) -> None:
        """Requests may be sent."""
        self._transition_to(node, ConnectionState.READY)
        self._nodes[node].failed_attempts = 0

    def disconnected(self, node: str, now_ms: float) -> None:
        """The connection was lost or could not be established: its backoff starts."""
        self._transition_to(node, ConnectionState.DISCONNECTED)
        state = self._nodes[node]
        state.last_attempt_ms = now_ms
        # Limit the exponent, because the number of attempts grows for as long as a broker is away.
        doublings = min(state.failed_attempts, 30)
        state.backoff_ms = min(self._backoff_max_ms, self._backoff_ms * 2**doublings) * self._jitter()
        state.failed_attempts += 1

    def remove(self, node: str) -> None:
        """Forget a broker."""
        self._nodes.pop(node, None)

    def is_ready(self, node: str) -> bool:
        """Whether requests may be sent."""
        return self.state(node) is ConnectionState.READY

    def is_connecting(self, node: str) -> bool:
        """Whether the TCP connection is being established."""
        return self.state(node) is ConnectionState.CONNECTING

    def any_is_establishing(self) -> bool:
        """Whether any connection is being established."""
        on_the_way = (ConnectionState.CONNECTING, ConnectionState.CHECKING_API_VERSIONS)
        return any(each.state in on_the_way for each in self._nodes.values())

    def with_setup_timeout(self, now_ms: float) -> list[str]:
        """The brokers whose TCP connection takes too long."""
        return [
            node
            for node, each in self._nodes.items()
            if each.state is ConnectionState.CONNECTING and now_ms - each.last_attempt_ms > self._setup_timeout_ms
        ]

    def state(self, node: str) -> ConnectionState:
        """The state; DISCONNECTED for a broker that was never connected to."""
        known = self._nodes.get(node)
        return known.state if known is not None else ConnectionState.DISCONNECTED

    def _is_disconnected(self, node: str) -> bool:
        return self.state(node) is ConnectionState.DISCONNECTED

    def _backoff_left_ms(self, node: str, now_ms: float) -> float:
        known = self._nodes.get(node)
        return 0 if known is None else max(0.0, known.last_attempt_ms + known.backoff_ms - now_ms)

    def _jitter(self) -> float:
        return self._random.uniform(1 - self.JITTER, 1 + self.JITTER)

    def _transition_to(self, node: str, new: ConnectionState) -> None:
        known = self._nodes.setdefault(node, NodeConnectionState())
        if known.state not in VALID_PREVIOUS_STATES[new]:
            raise IllegalConnectionStateError(f"connection to node {node}: from {known.state.name} to {new.name}")
        known.state = new
