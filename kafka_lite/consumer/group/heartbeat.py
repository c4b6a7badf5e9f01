"""When the next heartbeat is due, and which timeouts have expired.

Kafka 0.10.2: clients/.../consumer/internals/Heartbeat.java · book 4.3.2
"""

from __future__ import annotations

import math

POLL_TIMEOUT_EXPIRED = (
    "Group %s: consumer poll timeout has expired. The time between subsequent calls to poll() was longer than "
    "max.poll.interval.ms: the loop spends too much time on messages. Increase it, or reduce max.poll.records."
)


class Heartbeat:
    """Timestamps only; sends nothing. All times are ms of a monotonic clock that the caller reads.

    ::

        last sent ──── interval ────▶ the next is due            (after a failure: retry.backoff.ms)
        last received ──── session.timeout.ms ────▶ the coordinator is silent: look for another one
        last poll ──── max.poll.interval.ms ────▶ the user does not poll: leave the group

    The coordinator restarts the session when it *receives* a heartbeat, the member when it receives the *response*. So
    the member's session may outlast the coordinator's by no more than the time of one response.
    """

    def __init__(
        self, session_timeout_ms: float, interval_ms: float, max_poll_interval_ms: float, retry_backoff_ms: float
    ) -> None:
        if interval_ms >= session_timeout_ms:
            raise ValueError("Heartbeat must be set lower than the session timeout")
        self._session_timeout_ms = session_timeout_ms
        self._interval_ms = interval_ms
        self._max_poll_interval_ms = max_poll_interval_ms
        self._retry_backoff_ms = retry_backoff_ms
        self._last_send_ms = -math.inf
        self._last_receive_ms = -math.inf
        self._last_session_reset_ms = -math.inf
        self._last_poll_ms = -math.inf
        self._failed = False

    @property
    def last_send_ms(self) -> float:
        """When the last heartbeat was sent."""
        return self._last_send_ms

    def poll(self, now_ms: float) -> None:
        """The user has polled."""
        self._last_poll_ms = now_ms

    def sent(self, now_ms: float) -> None:
        """A heartbeat is being sent."""
        self._last_send_ms = now_ms
        self._failed = False

    def failed(self) -> None:
        """The heartbeat failed or got no response: retry after the backoff."""
        self._failed = True

    def received(self, now_ms: float) -> None:
        """The coordinator has responded to a heartbeat."""
        self._last_receive_ms = now_ms

    def should_heartbeat(self, now_ms: float) -> bool:
        """Whether a heartbeat is due."""
        return self.time_to_next_heartbeat_ms(now_ms) == 0

    def time_to_next_heartbeat_ms(self, now_ms: float) -> float:
        """The time until the next heartbeat is due, ms, at least 0."""
        last_ms = max(self._last_send_ms, self._last_session_reset_ms)
        delay_ms = self._retry_backoff_ms if self._failed else self._interval_ms
        return max(0.0, last_ms + delay_ms - now_ms)

    def session_timeout_expired(self, now_ms: float) -> bool:
        """Whether the coordinator has not responded for a whole session timeout."""
        return now_ms - max(self._last_session_reset_ms, self._last_receive_ms) > self._session_timeout_ms

    def poll_timeout_expired(self, now_ms: float) -> bool:
        """Whether the user has not polled for longer than ``max.poll.interval.ms``."""
        return now_ms - self._last_poll_ms > self._max_poll_interval_ms

    def time_to_poll_timeout_ms(self, now_ms: float) -> float:
        """The time until the poll timeout expires, ms, at least 0."""
        return max(0.0, self._last_poll_ms + self._max_poll_interval_ms - now_ms)

    def reset_timeouts(self, now_ms: float) -> None:
        """Restart all timeouts: the member has joined, or a coordinator was found."""
        self._last_session_reset_ms = now_ms
        self._last_poll_ms = now_ms
        self._failed = False
