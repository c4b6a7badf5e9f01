"""Finds the connections that have been idle for too long.

Kafka 0.10.2: clients/.../common/network/Selector.java (IdleExpiryManager) · book 2.1.4
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_lite.network.kafka_channel import KafkaChannel

LOOKS_PER_IDLE_TIME = 1000
"""How often all connections are checked, at most, within the time that a connection may be idle."""


class IdleExpiryManager:
    """Checks all connections at the earliest time at which one can have been idle for too long.

    A connection only notes when it is used, so an event costs little. Most connections are used again before the check
    that is due for them. So checks are rare: at least a thousandth of the idle time lies between two of them.
    """

    def __init__(self, connections_max_idle_ms: float, now_ms: float) -> None:
        self._max_idle_ms = connections_max_idle_ms
        self._next_check_ms = now_ms + connections_max_idle_ms

    def poll_expired_connections(self, now_ms: float, channels: Iterable[KafkaChannel]) -> list[KafkaChannel]:
        """The channels unused for longer than the maximum, oldest first; the caller closes them."""
        if now_ms <= self._next_check_ms:
            return []
        latest_ms = now_ms - self._max_idle_ms  # a connection that was last used before this expires
        expired: list[KafkaChannel] = []
        oldest_ms = now_ms
        for channel in channels:
            if channel.last_active_ms < latest_ms:
                expired.append(channel)
            elif channel.last_active_ms < oldest_ms:
                oldest_ms = channel.last_active_ms
        self._next_check_ms = max(oldest_ms, latest_ms + self._max_idle_ms / LOOKS_PER_IDLE_TIME) + self._max_idle_ms
        return sorted(expired, key=lambda channel: channel.last_active_ms)
