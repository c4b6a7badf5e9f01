"""Metrics of the old producer's requests, per broker.

Kafka 0.10.2: core/.../producer/ProducerRequestStats.scala (ProducerRequestMetrics) · book 2.2.3
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup


class ProducerRequestMetrics:
    """The metrics of the requests to one broker, or to all."""

    def __init__(self, group: KafkaMetricsGroup, tags: Mapping[str, str]) -> None:
        self.request_timer = group.new_timer("ProducerRequestRateAndTimeMs", tags)
        self.request_size = group.new_histogram("ProducerRequestSize", tags)
        """Request size, bytes."""
        self.throttle_time = group.new_timer("ProducerRequestThrottleRateAndTimeMs", tags)

    def update(self, size_bytes: int, time_ms: float, throttle_time_ms: float | None) -> None:
        """A request has completed. ``throttle_time_ms`` is None if it had no response."""
        self.request_size.update(size_bytes)
        self.request_timer.update(time_ms)
        if throttle_time_ms is not None:
            self.throttle_time.update(throttle_time_ms)


class ProducerRequestStats:
    """``kafka.producer:type=ProducerRequestMetrics,name=…,clientId=…``; per broker with its host and port."""

    def __init__(self, group: KafkaMetricsGroup, client_id: str) -> None:
        self._group = group
        self._client_id = client_id
        self._lock = threading.Lock()
        self._brokers: dict[tuple[str, int], ProducerRequestMetrics] = {}
        self._all_brokers = ProducerRequestMetrics(group, {"clientId": client_id})

    def update(self, host: str, port: int, size_bytes: int, time_ms: float, throttle_time_ms: float | None) -> None:
        """A request to a broker has completed."""
        for metrics in (self._of_broker(host, port), self._all_brokers):
            metrics.update(size_bytes, time_ms, throttle_time_ms)

    def _of_broker(self, host: str, port: int) -> ProducerRequestMetrics:
        with self._lock:
            metrics = self._brokers.get((host, port))
            if metrics is None:
                tags = {"clientId": self._client_id, "brokerHost": host, "brokerPort": str(port)}
                metrics = self._brokers[host, port] = ProducerRequestMetrics(self._group, tags)
            return metrics
