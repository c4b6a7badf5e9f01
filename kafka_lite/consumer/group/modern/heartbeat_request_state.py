"""When the next heartbeat of a member of KIP-848 is due, and whether the user still polls.

Kafka 4.1: clients/.../consumer/internals/AbstractHeartbeatRequestManager.java (HeartbeatRequestState),
RequestState.java · book 4.3.2
"""

from __future__ import annotations

import math

MAX_BACKOFF_MS = 1000.0
"""``retry.backoff.max.ms`` of Kafka's clients: the wait after a failure doubles up to here."""


class HeartbeatRequestState:
    """Timestamps only. All times are ms of a monotonic clock that the caller reads.

    ::

        sent ──── the coordinator's interval ────▶ the next is due, unless one is in flight
        failed ── backoff: 100, 200, 400 … ms ───▶ the next is due
        polled ── max.poll.interval.ms ──────────▶ the user does not poll: leave the group

    A member has no session timeout of its own: only the coordinator decides that it is gone.
    """

    def __init__(self, max_poll_interval_ms: float, retry_backoff_ms: float) -> None:
        self.interval_ms = 0.0
        """As the coordinator said in its last response."""
        self.is_in_flight = False
        self.last_send_ms = -math.inf
        self._next_ms = -math.inf
        self._last_poll_ms = math.inf
        self._max_poll_interval_ms = max_poll_interval_ms
        self._retry_backoff_ms = retry_backoff_ms
        self._failures = 0

    def polled(self, now_ms: float) -> None:
        """The user has polled."""
        self._last_poll_ms = now_ms

    def sent(self, now_ms: float) -> None:
        """A heartbeat is being sent."""
        self.is_in_flight = True
        self.last_send_ms = now_ms
        self._next_ms = now_ms + self.interval_ms

    def succeeded(self, interval_ms: float) -> None:
        """The coordinator has responded; it says when it expects the next one."""
        self.is_in_flight = False
        self._failures = 0
        self.interval_ms = interval_ms
        self._next_ms = self.last_send_ms + interval_ms

    def failed(self, now_ms: float) -> None:
        """There was no response, or an error: try again after the backoff."""
        self.is_in_flight = False
        self._next_ms = now_ms + min(self._retry_backoff_ms * 2.0**self._failures, MAX_BACKOFF_MS)
        self._failures = min(self._failures + 1, 30)

    def reset(self) -> None:
        """The next one is due at once, and none is waited for: the member joins, or another coordinator is looked
        up."""
        self.is_in_flight = False
        self._failures = 0
        self._next_ms = -math.inf

    @property
    def is_backing_off(self) -> bool:
        """Whether the last one has failed."""
        return self._failures > 0

    def time_to_next_ms(self, now_ms: float, *, is_urgent: bool) -> float:
        """The time until a heartbeat is due, ms, at least 0; infinity while a response is awaited."""
        if self.is_in_flight:
            return math.inf
        if is_urgent and not self.is_backing_off:
            return 0.0
        return max(0.0, self._next_ms - now_ms)

    def time_to_poll_timeout_ms(self, now_ms: float) -> float:
        """The time until the user has not polled for too long, ms, at least 0; infinity before the first poll."""
        return max(0.0, self._last_poll_ms + self._max_poll_interval_ms - now_ms)

    def poll_timeout_expired(self, now_ms: float) -> bool:
        """Whether the user has not polled for longer than ``max.poll.interval.ms``."""
        return now_ms - self._last_poll_ms > self._max_poll_interval_ms
