"""Connections whose peers were not accepted, and do not hear of it yet.

Kafka 2.1: clients/.../common/network/Selector.java (DelayedAuthenticationFailureClose), KIP-306 · book 2.1.4
"""

from __future__ import annotations

from collections import deque

from kafka_lite.network.authentication_error import AuthenticationError
from kafka_lite.network.kafka_channel import CLOSED, KafkaChannel


class DelayedClosings:
    """Keeps a refused peer waiting, so that a client with a wrong password does not come back at once.

    Nothing is read from such a connection; its refusal is sent, and the connection closed, when the delay is over.
    """

    def __init__(self, delay_ms: float) -> None:
        """``delay_ms``: ``connection.failed.authentication.delay.ms``."""
        self._delay_ms = delay_ms
        self._waiting: deque[tuple[float, KafkaChannel, AuthenticationError]] = deque()

    def add(self, channel: KafkaChannel, error: AuthenticationError, now_ms: float) -> None:
        """Stop reading from a channel."""
        channel.delay_close()
        self._waiting.append((now_ms + self._delay_ms, channel, error))

    def timeout_ms(self, timeout_ms: float, now_ms: float) -> float:
        """How long a poll may wait: until the first delay ends, but at most ``timeout_ms``."""
        return min(timeout_ms, max(self._waiting[0][0] - now_ms, 0.0)) if self._waiting else timeout_ms

    def due(self, now_ms: float) -> list[tuple[KafkaChannel, AuthenticationError]]:
        """Take the channels whose delay is over, without those that were closed in the meantime."""
        found = []
        while self._waiting and self._waiting[0][0] <= now_ms:
            _, channel, error = self._waiting.popleft()
            if channel.state is not CLOSED:
                found.append((channel, error))
        return found
