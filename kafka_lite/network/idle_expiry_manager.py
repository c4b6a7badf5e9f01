"""Which connections have been idle for too long.

Kafka 0.10.2: clients/.../common/network/Selector.java (IdleExpiryManager) · book 2.1.4
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_lite.network.kafka_channel import KafkaChannel

LOOKS_PER_IDLE_TIME = 1000
"""So many times at most all connections are looked at within the time that one of them may be idle."""


class IdleExpiryManager:
    """Knows when the first connection can have been idle for too long, and looks at all of them then.

    A connection notes when it is used, which is all that an event costs. Most are used again before the look that is
    meant for them: so there are few looks, and between two of them passes a thousandth of the idle time at least.
    """

    def __init__(self, connections_max_idle_ms: float, now_ms: float) -> None:
        self._max_idle_ms = connections_max_idle_ms
        self._next_check_ms = now_ms + connections_max_idle_ms

    def poll_expired_connections(self, now_ms: float, channels: Iterable[KafkaChannel]) -> list[KafkaChannel]:
        """Those of ``channels`` unused for longer than the maximum, oldest first; the caller closes them."""
        if now_ms <= self._next_check_ms:
            return []
        latest_ms = now_ms - self._max_idle_ms  # at which one that is to go was used
        expired: list[KafkaChannel] = []
        oldest_ms = now_ms
        for channel in channels:
            if channel.last_active_ms < latest_ms:
                expired.append(channel)
            elif channel.last_active_ms < oldest_ms:
                oldest_ms = channel.last_active_ms
        self._next_check_ms = max(oldest_ms, latest_ms + self._max_idle_ms / LOOKS_PER_IDLE_TIME) + self._max_idle_ms
        return sorted(expired, key=lambda channel: channel.last_active_ms)
