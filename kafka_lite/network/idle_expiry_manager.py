"""Which connection has been idle for the longest.

Kafka 0.10.2: clients/.../common/network/Selector.java (IdleExpiryManager) · book 2.1.4
"""

from __future__ import annotations

from collections import OrderedDict


class IdleExpiryManager:
    """Connections in the order of their last use, so that only the head must be looked at."""

    def __init__(self, connections_max_idle_ms: float, now_ms: float) -> None:
        self._max_idle_ms = connections_max_idle_ms
        self._last_active_ms: OrderedDict[str, float] = OrderedDict()
        self._next_check_ms = now_ms + connections_max_idle_ms

    def update(self, connection_id: str, now_ms: float) -> None:
        """The connection was used just now."""
        self._last_active_ms[connection_id] = now_ms
        self._last_active_ms.move_to_end(connection_id)

    def remove(self, connection_id: str) -> None:
        """The connection is gone."""
        self._last_active_ms.pop(connection_id, None)

    def poll_expired_connections(self, now_ms: float) -> list[str]:
        """The connections unused for longer than the maximum, oldest first; they are forgotten here."""
        if now_ms <= self._next_check_ms:
            return []
        expired: list[str] = []
        while self._last_active_ms:
            connection_id, active_ms = next(iter(self._last_active_ms.items()))
            if now_ms <= active_ms + self._max_idle_ms:
                self._next_check_ms = active_ms + self._max_idle_ms
                return expired
            expired.append(connection_id)
            del self._last_active_ms[connection_id]
        self._next_check_ms = now_ms + self._max_idle_ms
        return expired
