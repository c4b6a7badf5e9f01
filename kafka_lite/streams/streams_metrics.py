"""The metrics of processors: sensors of the application, beside those of the runtime.

Kafka 0.10.2: streams/.../streams/StreamsMetrics.java · book 9.1.1
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TypeVar

from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import KafkaMetric, KafkaMetricName, Sensor

T = TypeVar("T")


class StreamsMetrics(ABC):
    """The metrics of a stream thread, as ``context.metrics``::

        sensor = context.metrics.add_latency_and_throughput_sensor("lookup", "geo", "find", RecordingLevel.INFO)
        place = context.metrics.measure_latency_ns(lambda: find(address), sensor)

    These are the metrics ``geo-find-latency-avg``, ``geo-find-latency-max`` and ``geo-find-rate`` of the group
    ``stream-lookup-metrics``, and the same with ``all`` instead of ``geo``, for all entities together.
    """

    @abstractmethod
    def metrics(self) -> dict[KafkaMetricName, KafkaMetric]:
        """All metrics of the instance."""

    @abstractmethod
    def add_latency_and_throughput_sensor(
        self,
        scope_name: str,
        entity_name: str,
        operation_name: str,
        level: RecordingLevel,
        tags: Mapping[str, str] | None = None,
    ) -> Sensor:
        """A sensor of latencies in ns: their mean, their maximum, and how many there are per second.

        ``tags`` are added to the thread's ``client-id``. The sensor that exists already is returned.
        """

    @abstractmethod
    def add_throughput_sensor(
        self,
        scope_name: str,
        entity_name: str,
        operation_name: str,
        level: RecordingLevel,
        tags: Mapping[str, str] | None = None,
    ) -> Sensor:
        """The same without latencies."""

    @abstractmethod
    def add_rate_total_sensor(
        self,
        scope_name: str,
        entity_name: str,
        operation_name: str,
        level: RecordingLevel,
        tags: Mapping[str, str] | None = None,
    ) -> Sensor:
        """A sensor of events: how many there are per second, and how many there were. Kafka 2.5.

        Its metrics are ``<operation>-rate`` and ``<operation>-total``, with the tags ``thread-id`` and ``<scope>-id``.
        """

    @abstractmethod
    def record_latency(self, sensor: Sensor, start_ns: float, end_ns: float) -> None:
        """Record how long an operation has taken."""

    @abstractmethod
    def record_throughput(self, sensor: Sensor, value: int) -> None:
        """Record that an operation has happened ``value`` times. (0.10.2 counts calls instead.)"""

    @abstractmethod
    def measure_latency_ns(self, action: Callable[[], T], sensor: Sensor) -> T:
        """Call ``action``, record how long it takes, and return what it returns. Records nothing if it raises."""

    @abstractmethod
    def add_sensor(self, name: str, level: RecordingLevel, *parents: Sensor) -> Sensor:
        """A sensor without metrics: add your own. The sensor that has the name already is returned."""

    @abstractmethod
    def remove_sensor(self, sensor: Sensor) -> None:
        """Remove a sensor and its metrics. Those of ``all`` go with the last sensor of the operation."""
