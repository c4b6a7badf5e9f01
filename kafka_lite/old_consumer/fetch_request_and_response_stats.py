"""How long fetches take, how large their answers are, how long brokers hold them back.

Kafka 0.10.2: core/.../consumer/FetchRequestAndResponseStats.scala · book 3.3.3
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry


class FetchRequestAndResponseMetrics:
    """``kafka.consumer:type=FetchRequestAndResponseMetrics`` of one broker, or of all."""

    def __init__(self, group: KafkaMetricsGroup, tags: Mapping[str, str]) -> None:
        self.request_timer = group.new_timer("FetchRequestRateAndTimeMs", tags)
        self.request_size_hist = group.new_histogram("FetchResponseSize", tags)
        self.throttle_time_stats = group.new_timer("FetchRequestThrottleRateAndTimeMs", tags)

    def update(self, duration_ms: float, response_bytes: int, throttle_time_ms: float) -> None:
        """One fetch was answered."""
        self.request_timer.update(duration_ms)
        self.request_size_hist.update(response_bytes)
        self.throttle_time_stats.update(throttle_time_ms)


class FetchRequestAndResponseStats:
    """The metrics of one client; a broker's are made when they are first wanted."""

    def __init__(self, client_id: str, registry: MetricsRegistry | None = None, time: Time = SYSTEM_TIME) -> None:
        registry = registry if registry is not None else MetricsRegistry()
        self._group = KafkaMetricsGroup(registry, time, "kafka.consumer", "FetchRequestAndResponseMetrics")
        self._client_id = client_id
        self._stats: dict[tuple[str, int], FetchRequestAndResponseMetrics] = {}
        self._all_brokers = FetchRequestAndResponseMetrics(self._group, {"clientId": client_id})

    def get_fetch_request_and_response_all_brokers_stats(self) -> FetchRequestAndResponseMetrics:
        """Those of all brokers together."""
        return self._all_brokers

    def get_fetch_request_and_response_stats(self, host: str, port: int) -> FetchRequestAndResponseMetrics:
        """Those of one broker."""
        found = self._stats.get((host, port))
        if found is None:
            tags = {"clientId": self._client_id, "brokerHost": host, "brokerPort": str(port)}
            found = self._stats.setdefault((host, port), FetchRequestAndResponseMetrics(self._group, tags))
        return found

    def update(self, host: str, port: int, duration_ms: float, response_bytes: int, throttle_time_ms: float) -> None:
        """A broker has answered a fetch."""
        for metrics in (self.get_fetch_request_and_response_stats(host, port), self._all_brokers):
            metrics.update(duration_ms, response_bytes, throttle_time_ms)
