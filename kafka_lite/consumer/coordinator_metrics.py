"""What the coordinators measure: joins, syncs, heartbeats, commits.

Kafka 0.10.2: clients/.../consumer/internals/AbstractCoordinator.java, ConsumerCoordinator.java
(GroupCoordinatorMetrics, ConsumerCoordinatorMetrics) · book 5.1.1
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.sensor import MeasurableStat, Sensor
from kafka_lite.metrics.stats import Avg, Count, Max, MetricConfig, Rate

GROUP = "consumer-coordinator-metrics"


class CoordinatorMetrics:
    """``consumer-coordinator-metrics`` of one consumer."""

    def __init__(
        self,
        metrics: Metrics,
        client_id: str,
        last_heartbeat_ms: Callable[[], float],
        assigned_partitions: Callable[[], int],
    ) -> None:
        self._metrics = metrics
        self._tags = {"client-id": client_id}
        self.heartbeat_latency = metrics.sensor("heartbeat-latency")
        slowest = "The max time taken to receive a response to a heartbeat request"
        self._add(self.heartbeat_latency, "heartbeat-response-time-max", slowest, Max())
        self._add_rate(self.heartbeat_latency, "heartbeat-rate", "The average number of heartbeats per second")
        self.join_latency = self._latency("join-latency", "join-time", "a group rejoin")
        self._add_rate(self.join_latency, "join-rate", "The number of group joins per second")
        self.sync_latency = self._latency("sync-latency", "sync-time", "a group sync")
        self._add_rate(self.sync_latency, "sync-rate", "The number of group syncs per second")
        self.commit_latency = self._latency("commit-latency", "commit-latency", "a commit request")
        self._add_rate(self.commit_latency, "commit-rate", "The number of commit calls per second")

        def seconds_ago(_config: MetricConfig, now_ms: float) -> float:
            sent_ms = last_heartbeat_ms()
            return -1.0 if sent_ms == -math.inf else max(0.0, (now_ms - sent_ms) // 1000)

        name = "last-heartbeat-seconds-ago"
        described = "The number of seconds since the last heartbeat was sent; -1 before the first"
        metrics.add_metric(metrics.metric_name(name, GROUP, described, self._tags), seconds_ago)
        described = "The number of partitions currently assigned to this consumer"
        name = "assigned-partitions"
        metrics.add_metric(
            metrics.metric_name(name, GROUP, described, self._tags), lambda _config, _now: float(assigned_partitions())
        )

    def _latency(self, sensor_name: str, name: str, of: str) -> Sensor:
        sensor = self._metrics.sensor(sensor_name)
        self._add(sensor, f"{name}-avg", f"The average time taken for {of}", Avg())
        self._add(sensor, f"{name}-max", f"The max time taken for {of}", Max())
        return sensor

    def _add_rate(self, sensor: Sensor, name: str, description: str) -> None:
        self._add(sensor, name, description, Rate(stat=Count()))

    def _add(self, sensor: Sensor, name: str, description: str, stat: MeasurableStat) -> None:
        sensor.add(self._metrics.metric_name(name, GROUP, description, self._tags), stat)
