"""The numbers of a worker, and of its part in the group.

Kafka 1.0: connect/runtime/.../connect/runtime/WorkerMetricsGroup.java,
runtime/distributed/DistributedHerder.java (HerderMetrics) · book 8.3.5
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from kafka_lite.connect.runtime.metrics.connect_metrics import ConnectMetrics, MetricGroup


class Startups:
    """``KIND-startup-attempts-total`` and so on, for connectors and for tasks."""

    def __init__(self, group: MetricGroup, kind: str) -> None:
        self._lock = threading.Lock()
        self.succeeded = self.failed = 0
        group.gauge(f"{kind}-startup-attempts-total", lambda: self.succeeded + self.failed)
        group.gauge(f"{kind}-startup-success-total", lambda: self.succeeded)
        group.gauge(f"{kind}-startup-failure-total", lambda: self.failed)
        group.gauge(f"{kind}-startup-success-percentage", lambda: self._share(self.succeeded))
        group.gauge(f"{kind}-startup-failure-percentage", lambda: self._share(self.failed))

    def add(self, *, succeeded: bool) -> None:
        """One was started, or could not be."""
        with self._lock:
            if succeeded:
                self.succeeded += 1
            else:
                self.failed += 1

    def _share(self, count: int) -> float:
        """From 0 to 1, as in Kafka."""
        attempts = self.succeeded + self.failed
        return count / attempts if attempts else 0.0


class WorkerMetrics:
    """``connect-worker-metrics``."""

    def __init__(
        self, metrics: ConnectMetrics, count_connectors: Callable[[], int], count_tasks: Callable[[], int]
    ) -> None:
        group = metrics.group("connect-worker-metrics")
        group.gauge("connector-count", count_connectors)
        group.gauge("task-count", count_tasks)
        self.connectors = Startups(group, "connector")
        self.tasks = Startups(group, "task")


class RebalanceMetrics:
    """``connect-worker-rebalance-metrics``."""

    def __init__(self, metrics: ConnectMetrics, read_leader: Callable[[], str], read_epoch: Callable[[], int]) -> None:
        self._time = metrics.time
        self._began_ms: float | None = None
        self._ended_ms: float | None = None
        self.completed = 0
        group = metrics.group("connect-worker-rebalance-metrics")
        group.gauge("connect-protocol", lambda: "eager")
        group.gauge("leader-name", read_leader)
        group.gauge("epoch", read_epoch)
        group.gauge("completed-rebalances-total", lambda: self.completed)
        group.gauge("rebalancing", lambda: float(self._began_ms is not None))
        group.gauge("time-since-last-rebalance-ms", self._since_last_ms)
        self._times = group.times("rebalance")

    def begin(self) -> None:
        """The worker has stopped its work to join again."""
        if self._began_ms is None:
            self._began_ms = self._time.hi_res_ms()

    def end(self) -> None:
        """The worker has started its new work."""
        self.completed += 1
        self._ended_ms = self._time.hi_res_ms()
        if self._began_ms is not None:
            self._times.record(self._ended_ms - self._began_ms)
            self._began_ms = None

    def _since_last_ms(self) -> float:
        """Infinity before the first one, as in Kafka."""
        return float("inf") if self._ended_ms is None else self._time.hi_res_ms() - self._ended_ms
