"""The counters of the producer performance tool and the lines it prints.

Kafka 0.10.2: tools/.../tools/ProducerPerformance.java (Stats) · book 1.4.1
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from kafka_lite.common.time import SYSTEM_TIME, Time

MAX_SAMPLES = 500_000
MIB = 1024 * 1024
PERCENTILES = (0.5, 0.95, 0.99, 0.999)


class Stats:
    """Counts completed sends; produces a line for every window of ``interval_ms`` and one in total.

    The latency of every n-th record is kept, at most MAX_SAMPLES in total.
    """

    def __init__(self, num_records: int, interval_ms: float = 5000, time: Time = SYSTEM_TIME) -> None:
        self._time = time
        self._interval_ms = interval_ms
        self._lock = threading.Lock()
        self._sampling = max(1, num_records // MAX_SAMPLES)
        self._latencies: list[int] = []
        self._start_ms = time.hi_res_ms()
        self.count = 0
        """Number of acknowledged records."""
        self.bytes = 0
        self._total_latency_ms = self._max_latency_ms = 0
        self._new_window(self._start_ms)

    def _new_window(self, now_ms: float) -> None:
        self._window_start_ms = now_ms
        self._window_count = self._window_bytes = self._window_latency_ms = self._window_max_ms = 0

    def record(self, start_ms: float, size_bytes: int) -> str | None:
        """Count an acknowledged record sent at ``start_ms`` (hi_res_ms). Returns the window's line at its end."""
        now_ms = self._time.hi_res_ms()
        latency_ms = int(now_ms - start_ms)
        with self._lock:
            if self.count % self._sampling == 0:
                self._latencies.append(latency_ms)
            self.count += 1
            self.bytes += size_bytes
            self._total_latency_ms += latency_ms
            self._window_count += 1
            self._window_bytes += size_bytes
            self._window_latency_ms += latency_ms
            if latency_ms > self._window_max_ms:
                self._window_max_ms = latency_ms
            if now_ms - self._window_start_ms < self._interval_ms:
                return None
            line = self._window_line(now_ms)
            self._max_latency_ms = max(self._max_latency_ms, self._window_max_ms)
            self._new_window(now_ms)
            return line

    def _window_line(self, now_ms: float) -> str:
        rates = rate_text(self._window_count, self._window_bytes, now_ms - self._window_start_ms)
        average_ms = self._window_latency_ms / self._window_count
        return f"{rates}, {average_ms:.1f} ms avg latency, {self._window_max_ms:.1f} ms max latency."

    def rates(self) -> str:
        """The average rate so far."""
        return rate_text(self.count, self.bytes, self._time.hi_res_ms() - self._start_ms)

    def total_line(self) -> str:
        """The last line: overall rate and latencies."""
        with self._lock:
            average = f"{self._total_latency_ms / self.count:.2f}" if self.count else "NaN"
            max_ms = max(self._max_latency_ms, self._window_max_ms)
            values = percentiles(self._latencies, PERCENTILES)
        named = ", ".join(f"{value} ms {100 * p:.4g}th" for p, value in zip(PERCENTILES, values, strict=True))
        rates = rate_text(self.count, self.bytes, self._time.hi_res_ms() - self._start_ms, decimals=6)
        return f"{rates}, {average} ms avg latency, {max_ms:.2f} ms max latency, {named}."


def rate_text(count: int, size_bytes: int, elapsed_ms: float, decimals: int = 1) -> str:
    """``50000 records sent, 9960.2 records/sec (9.50 MB/sec)``; an MB is 2²⁰ bytes, as in Kafka's tool."""
    seconds = max(elapsed_ms, 1e-3) / 1000
    return f"{count} records sent, {count / seconds:.{decimals}f} records/sec ({size_bytes / seconds / MIB:.2f} MB/sec)"


def percentiles(values: Sequence[int], fractions: Sequence[float]) -> list[int]:
    """The percentiles of the values at these fractions; 0 if there are no values."""
    ordered = sorted(values)
    return [ordered[min(int(p * len(ordered)), len(ordered) - 1)] if ordered else 0 for p in fractions]
