"""The metrics of a stream thread: the group ``stream-metrics``.

Kafka 0.10.2: streams/.../processor/internals/StreamThread.java (StreamsMetricsThreadImpl) · book 9.1.3
"""

from __future__ import annotations

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.sensor import MeasurableStat, Sensor
from kafka_lite.metrics.stats import Avg, Count, Max, Rate
from kafka_lite.streams.metrics.streams_metrics_impl import StreamsMetricsImpl

GROUP = "stream-metrics"
_RECORD_EVERY_MS = 100.0


class StreamThreadMetrics(StreamsMetricsImpl):
    """All latencies are in ms. The tag ``client-id`` is the thread's."""

    def __init__(self, registry: Metrics, thread_client_id: str, time: Time = SYSTEM_TIME) -> None:
        super().__init__(registry, {"client-id": thread_client_id}, time)
        self._sensor_prefix = f"thread.{thread_client_id}"
        self._own: list[Sensor] = []
        self.commit = self._latency("commit", "commit")
        self.poll = self._latency("poll", "record-poll")
        self.punctuate = self._latency("punctuate", "punctuate")
        self.task_created = self._rate("task-created", "newly created tasks", Rate(stat=Count()))
        self.task_closed = self._rate("task-closed", "closed tasks", Rate(stat=Count()))
        # 0.10.2 counts how often records were polled instead
        self.skipped_records = self._rate("skipped-records", "skipped records.", Rate())
        average, maximum = self._new("process-latency"), self._new("process-latency-max")
        self._add_stat(average, "process-latency-avg", "The average process time in ms", Avg())
        self._add_stat(maximum, "process-latency-max", "The maximum process time in ms", Max())
        self._add_stat(average, "process-rate", "The average per-second number of process calls", Rate(stat=Count()))
        self.process = BatchedLatency(average, maximum)

    def _latency(self, name: str, calls: str) -> Sensor:
        sensor = self._new(f"{name}-latency")
        self._add_stat(sensor, f"{name}-latency-avg", f"The average {name} time in ms", Avg())
        self._add_stat(sensor, f"{name}-latency-max", f"The maximum {name} time in ms", Max())
        self._add_stat(sensor, f"{name}-rate", f"The average per-second number of {calls} calls", Rate(stat=Count()))
        return sensor

    def _rate(self, name: str, what: str, stat: Rate) -> Sensor:
        sensor = self._new(name)
        self._add_stat(sensor, f"{name}-rate", f"The average per-second number of {what}", stat)
        return sensor

    def _new(self, name: str) -> Sensor:
        sensor = self.registry.sensor(f"{self._sensor_prefix}.{name}")
        self._own.append(sensor)
        return sensor

    def _add_stat(self, sensor: Sensor, name: str, description: str, stat: MeasurableStat) -> None:
        sensor.add(self.registry.metric_name(name, GROUP, description, self._tags), stat)

    def close(self) -> None:
        """Remove all sensors, after the thread has ended."""
        super().close()
        for sensor in self._own:
            self.registry.remove_sensor(sensor.name)


class BatchedLatency:
    """Latencies of what happens for every record. A sensor's ``record`` takes several µs, as long as a small processor:
    so they are collected, and recorded every 100 ms, and whenever the thread has nothing else to do."""

    def __init__(self, average: Sensor, maximum: Sensor) -> None:
        self._average = average
        self._maximum = maximum
        self._latencies_ms: list[float] = []
        self._due_ms = 0.0

    def add(self, start_ms: float, now_ms: float) -> None:
        """Add the latency of something that began at ``start_ms`` and has ended now. Monotonic times."""
        self._latencies_ms.append(now_ms - start_ms)
        if now_ms >= self._due_ms:
            self.record(now_ms)

    def record(self, now_ms: float) -> None:
        """Record what was added since the last time."""
        latencies_ms = self._latencies_ms
        if latencies_ms:
            self._average.record(sum(latencies_ms), now_ms, len(latencies_ms))
            self._maximum.record(max(latencies_ms), now_ms)
            latencies_ms.clear()
        self._due_ms = now_ms + _RECORD_EVERY_MS
