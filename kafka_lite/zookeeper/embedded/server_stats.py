"""Server statistics: packet counts and request latencies.

ZooKeeper 3.8: zookeeper-server/.../server/ServerStats.java · book 7.1.3
"""

from __future__ import annotations


class ServerStats:
    """Counters since the start or the last ``srst``; latencies in ms."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Reset all counters."""
        self.packets_received = 0
        self.packets_sent = 0
        self.requests = 0
        self.min_latency_ms = 0.0
        self.max_latency_ms = 0.0
        self._total_latency_ms = 0.0

    @property
    def avg_latency_ms(self) -> float:
        """Mean time from a request's arrival to its reply."""
        return self._total_latency_ms / self.requests if self.requests else 0.0

    def update_latency(self, latency_ms: float) -> None:
        """Record the latency of a request."""
        self.min_latency_ms = min(self.min_latency_ms, latency_ms) if self.requests else latency_ms
        self.max_latency_ms = max(self.max_latency_ms, latency_ms)
        self._total_latency_ms += latency_ms
        self.requests += 1
