"""The coordinator's metrics: joins, syncs, heartbeats, rebalances, commits, and calls of the user's listener.

Kafka 0.10.2: clients/.../consumer/internals/AbstractCoordinator.java, ConsumerCoordinator.java
(GroupCoordinatorMetrics, ConsumerCoordinatorMetrics); the metrics are those of 3.9 · book 5.1.1
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kafka_lite.metrics.meter import RateUnit
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.sensor import MeasurableStat, Sensor
from kafka_lite.metrics.stats import Avg, Count, CumulativeCount, CumulativeSum, Max, Rate

GROUP = "consumer-coordinator-metrics"


class GroupCoordinatorMetrics:
    """The metrics of a member of any group: joins, syncs, heartbeats and rebalances."""

    join_latency: Sensor
    sync_latency: Sensor
    """Missing, like the one above, if the member sends neither JoinGroup nor SyncGroup."""

    def __init__(
        self, metrics: Metrics, group: str, last_heartbeat_ms: Callable[[], float], *, joins: bool = True
    ) -> None:
        """``group`` is that of the metrics: ``consumer-coordinator-metrics``. ``joins``: in a classic group."""
        self._metrics = metrics
        self._group = group
        self._rebalance_began_ms: float | None = None
        self._last_rebalance_ms = -math.inf
        self.heartbeat_latency = metrics.sensor("heartbeat-latency")
        slowest = "The max time taken to receive a response to a heartbeat request"
        self._add(self.heartbeat_latency, "heartbeat-response-time-max", slowest, Max())
        self._add_meter(self.heartbeat_latency, "heartbeat", "heartbeats")
        if joins:
            self._add_join_sensors()
        self._add_rebalance_sensors()
        self._gauge(
            "last-heartbeat-seconds-ago", "The number of seconds since the last heartbeat; -1 before the first",
            lambda now_ms: _seconds_since(last_heartbeat_ms(), now_ms),
        )  # fmt: skip

    def _add_join_sensors(self) -> None:
        self.join_latency = self._latency("join-latency", "join-time", "a group rejoin")
        self._add_meter(self.join_latency, "join", "group joins")
        self.sync_latency = self._latency("sync-latency", "sync-time", "a group sync")
        self._add_meter(self.sync_latency, "sync", "group syncs")

    def _add_rebalance_sensors(self) -> None:
        self._rebalance_latency = self._latency("rebalance-latency", "rebalance-latency", "a group to rebalance")
        self._add(self._rebalance_latency, "rebalance-latency-total", "The time taken for rebalances", CumulativeSum())
        self._rebalances = self._per_hour("rebalance", "rebalances that this member was in")
        self._failed_rebalances = self._per_hour("failed-rebalance", "rebalances that failed")
        self._gauge(
            "last-rebalance-seconds-ago", "The number of seconds since the last rebalance; -1 before the first",
            lambda now_ms: _seconds_since(self._last_rebalance_ms, now_ms),
        )  # fmt: skip

    def rebalance_begins(self, now_ms: float) -> None:
        """The member starts to join. An attempt after a failed one belongs to the same rebalance."""
        if self._rebalance_began_ms is None:
            self._rebalance_began_ms = now_ms

    def rebalance_ends(self, now_ms: float) -> None:
        """The member has its assignment."""
        if self._rebalance_began_ms is not None:
            self._rebalance_latency.record(now_ms - self._rebalance_began_ms, now_ms)
        self._rebalances.record(1, now_ms)
        self._rebalance_began_ms, self._last_rebalance_ms = None, now_ms

    def rebalance_fails(self, now_ms: float) -> None:
        """An attempt to join has failed."""
        self._failed_rebalances.record(1, now_ms)

    def rebalance_is_lost(self, now_ms: float) -> None:
        """The coordinator has refused the member. If it was taking over an assignment, that has failed."""
        if self._rebalance_began_ms is not None:
            self._rebalance_began_ms = None
            self.rebalance_fails(now_ms)

    def _latency(self, sensor_name: str, name: str, of: str) -> Sensor:
        sensor = self._metrics.sensor(sensor_name)
        self._add(sensor, f"{name}-avg", f"The average time taken for {of}", Avg())
        self._add(sensor, f"{name}-max", f"The max time taken for {of}", Max())
        return sensor

    def _add_meter(self, sensor: Sensor, name: str, what: str) -> None:
        """A rate per second and a total."""
        self._add(sensor, f"{name}-rate", f"The number of {what} per second", Rate(stat=Count()))
        self._add(sensor, f"{name}-total", f"The total number of {what}", CumulativeCount())

    def _per_hour(self, name: str, what: str) -> Sensor:
        sensor = self._metrics.sensor(name)
        self._add(sensor, f"{name}-total", f"The total number of {what}", CumulativeCount())
        rate = Rate(RateUnit.HOURS, Count())
        self._add(sensor, f"{name}-rate-per-hour", f"The number of {what} per hour", rate)
        return sensor

    def _gauge(self, name: str, description: str, read: Callable[[float], float]) -> None:
        metric = self._metrics.metric_name(name, self._group, description)
        self._metrics.add_metric(metric, lambda _config, now_ms: read(now_ms))

    def _add(self, sensor: Sensor, name: str, description: str, stat: MeasurableStat) -> None:
        sensor.add(self._metrics.metric_name(name, self._group, description), stat)


class ConsumerCoordinatorMetrics(GroupCoordinatorMetrics):
    """``consumer-coordinator-metrics`` of one consumer."""

    def __init__(
        self,
        metrics: Metrics,
        last_heartbeat_ms: Callable[[], float],
        assigned_partitions: Callable[[], int],
        *,
        joins: bool = True,
    ) -> None:
        super().__init__(metrics, GROUP, last_heartbeat_ms, joins=joins)
        self.commit_latency = self._latency("commit-latency", "commit-latency", "a commit request")
        self._add_meter(self.commit_latency, "commit", "commit calls")
        self.callback_latency = {
            event: self._latency(
                f"partition-{event}-latency", f"partition-{event}-latency", f"partitions {event} callback"
            )
            for event in ("revoked", "assigned", "lost")
        }
        assigned = "The number of partitions currently assigned to this consumer"
        self._gauge("assigned-partitions", assigned, lambda _now: float(assigned_partitions()))


def _seconds_since(then_ms: float, now_ms: float) -> float:
    return -1.0 if then_ms == -math.inf else max(0.0, (now_ms - then_ms) // 1000)
