"""In which state the connection to each broker is, and when to try again.

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
    """action: wait for the backoff · transition: CONNECTING when somebody wants to send."""
    CONNECTING = auto()
    """action: wait for TCP · transition: CHECKING_API_VERSIONS or READY when it stands, DISCONNECTED on failure."""
    CHECKING_API_VERSIONS = auto()
    """action: ask the broker for its versions · transition: READY with the answer, DISCONNECTED without."""
    READY = auto()
    """action: send requests · transition: DISCONNECTED when the connection breaks."""


VALID_PREVIOUS_STATES: dict[ConnectionState, frozenset[ConnectionState]] = {
    ConnectionState.DISCONNECTED: frozenset(ConnectionState),
    ConnectionState.CONNECTING: frozenset({ConnectionState.DISCONNECTED}),
    ConnectionState.CHECKING_API_VERSIONS: frozenset({ConnectionState.CONNECTING}),
    ConnectionState.READY: frozenset({ConnectionState.CONNECTING, ConnectionState.CHECKING_API_VERSIONS}),
}


class IllegalConnectionStateError(RuntimeError):
    """A change of state that the table does not allow: a mistake of the caller."""


@dataclass
class NodeConnectionState:
    """What is known of one connection."""

    state: ConnectionState = ConnectionState.DISCONNECTED
    last_attempt_ms: float = -math.inf
    failed_attempts: int = 0
    backoff_ms: float = 0
    """How long after the last attempt, or loss, the next one may begin."""


class ClusterConnectionStates:
    """The states of all connections of one client, by the id of the broker.

    After a loss the broker is left alone for ``reconnect_backoff_ms``; each further failure doubles that, up to
    ``reconnect_backoff_max_ms``. A fifth is added or taken at random, lest all clients of a broker that comes back meet
    at its door. 0.10.2 has one fixed backoff; the growing one is KIP-144's.
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
        """Whether there is no connection, and none was lost or refused just now."""
        return self._is_disconnected(node) and self._backoff_left_ms(node, now_ms) == 0

    def is_blacked_out(self, node: str, now_ms: float) -> bool:
        """Whether the broker must be left alone for now."""
        return self._is_disconnected(node) and self._backoff_left_ms(node, now_ms) > 0

    def connection_delay_ms(self, node: str, now_ms: float) -> float:
        """When to look again: after what is left of the backoff; infinity while something will happen anyway."""
        return self._backoff_left_ms(node, now_ms) if self._is_disconnected(node) else math.inf

    def connecting(self, node: str, now_ms: float) -> None:
        """A connection was begun."""
        self._transition_to(node, ConnectionState.CONNECTING)
        self._nodes[node].last_attempt_ms = now_ms

    def checking_api_versions(self, node: str) -> None:
        """The connection stands, the broker is asked what it can."""
        self._transition_to(node, ConnectionState.CHECKING_API_VERSIONS)

    def ready(self, node: str) -> None:
        """Requests may be sent."""
        self._transition_to(node, ConnectionState.READY)
        self._nodes[node].failed_attempts = 0

    def disconnected(self, node: str, now_ms: float) -> None:
        """The connection is lost, or did not come about: its backoff begins."""
        self._transition_to(node, ConnectionState.DISCONNECTED)
        state = self._nodes[node]
        state.last_attempt_ms = now_ms
        # Not 2**n first and the maximum then: n grows for as long as a broker is away.
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
        """Whether TCP has yet to answer."""
        return self.state(node) is ConnectionState.CONNECTING

    def any_is_establishing(self) -> bool:
        """Whether some connection is on its way."""
        on_the_way = (ConnectionState.CONNECTING, ConnectionState.CHECKING_API_VERSIONS)
        return any(each.state in on_the_way for each in self._nodes.values())

    def with_setup_timeout(self, now_ms: float) -> list[str]:
        """The brokers whose TCP connection has taken too long."""
        return [
            node
            for node, each in self._nodes.items()
            if each.state is ConnectionState.CONNECTING and now_ms - each.last_attempt_ms > self._setup_timeout_ms
        ]

    def state(self, node: str) -> ConnectionState:
        """The state; DISCONNECTED for a broker that nobody ever asked for."""
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
