"""Warns of brokers that a client cannot connect to: at once, then rarely.

Kafka 0.10.2: clients/.../clients/NetworkClient.java (processDisconnection), which warns of every attempt · book 2.1.3
"""

from __future__ import annotations

import logging
import math

from kafka_lite.clients.cluster import Node

logger = logging.getLogger(__name__)

INTERVAL_MS = 10_000
"""The shortest time between two warnings of a broker."""


class ConnectionWarnings:
    """Logs failed connections: the first of a broker as a warning, and one every ``INTERVAL_MS`` until it responds.

    The others are logged for debugging only: a client tries to connect again many times in a minute.
    """

    def __init__(self) -> None:
        self._last_ms: dict[str, float] = {}

    def responded(self, node: str) -> None:
        """The broker responds: its next failure is worth a warning."""
        self._last_ms.pop(node, None)

    def not_established(self, node: Node, now_ms: float, reason: object = "") -> None:
        """A connection could not be established. ``reason`` is what the system says, if it says anything."""
        why = f" ({reason})" if reason else ""
        advice = "Is a broker running there? Trying again." if _is_bootstrap(node) else "Node may not be available."
        self._warn(node, f"could not be established{why}. {advice}", now_ms)

    def lost_too_early(self, node: Node, now_ms: float) -> None:
        """A connection was lost before the broker's first response: perhaps the port speaks TLS or is not Kafka's."""
        advice = " Is it the PLAINTEXT listener of a broker? Trying again." if _is_bootstrap(node) else ""
        self._warn(node, f"was lost before the first response.{advice}", now_ms)

    def _warn(self, node: Node, what: str, now_ms: float) -> None:
        is_due = now_ms - self._last_ms.get(node.id_string, -math.inf) >= INTERVAL_MS
        if is_due:
            self._last_ms[node.id_string] = now_ms
        level = logging.WARNING if is_due else logging.DEBUG
        logger.log(level, "Connection to node %s (%s:%d) %s", node.id_string, node.host, node.port, what)


def _is_bootstrap(node: Node) -> bool:
    """Whether only the address is known, from ``bootstrap.servers``."""
    return node.id < 0
