"""The metrics of fetchers: requests and bytes per broker, and the lag of each partition.

Kafka 0.10.2: core/.../server/AbstractFetcherThread.scala (FetcherStats, FetcherLagStats) · book 3.3.2
"""

from __future__ import annotations

import threading

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry

_REQUESTS, _BYTES, _LAG = "RequestsPerSec", "BytesPerSec", "ConsumerLag"
NO_LAG = -1
"""The lag of a partition of which nothing was fetched yet."""


class FetcherStats:
    """``kafka.server:type=FetcherStats``: the requests and bytes of one fetcher."""

    def __init__(self, registry: MetricsRegistry, time: Time, client_id: str, broker: BrokerEndPoint) -> None:
        self._group = KafkaMetricsGroup(registry, time, "kafka.server", "FetcherStats")
        self._tags = {"clientId": client_id, "brokerHost": broker.host, "brokerPort": str(broker.port)}
        self.request_rate = self._group.new_meter(_REQUESTS, "requests", self._tags)
        self.byte_rate = self._group.new_meter(_BYTES, "bytes", self._tags)

    def unregister(self) -> None:
        """Remove the metrics, when the fetcher has ended."""
        self._group.remove_metric(_REQUESTS, self._tags)
        self._group.remove_metric(_BYTES, self._tags)


class FetcherLagStats:
    """``kafka.server:type=FetcherLagMetrics``: by partition, the leader's high watermark minus the fetch offset."""

    def __init__(self, registry: MetricsRegistry, time: Time, client_id: str) -> None:
        self._group = KafkaMetricsGroup(registry, time, "kafka.server", "FetcherLagMetrics")
        self._client_id = client_id
        self._lock = threading.Lock()
        self._lags: dict[TopicPartition, int] = {}

    def set_lag(self, partition: TopicPartition, lag: int) -> None:
        """Set the current lag, in records. The first call for a partition creates its gauge."""
        with self._lock:
            is_new = partition not in self._lags
            self._lags[partition] = lag
        if is_new:
            self._group.new_gauge(_LAG, lambda: self.lag(partition), self._tags(partition))

    def lag(self, partition: TopicPartition) -> int:
        """The last lag, or NO_LAG."""
        return self._lags.get(partition, NO_LAG)

    def is_replica_in_sync(self, partition: TopicPartition) -> bool:
        """Whether the last fetch reached the leader's high watermark."""
        return self._lags.get(partition, 1) <= 0

    @property
    def max_lag(self) -> int:
        """The largest lag of any partition; 0 without partitions."""
        with self._lock:
            return max(self._lags.values(), default=0)

    def unregister(self, partition: TopicPartition | None = None) -> None:
        """Remove one partition, or all."""
        with self._lock:
            gone = list(self._lags) if partition is None else [partition] if partition in self._lags else []
            for each in gone:
                del self._lags[each]
        for each in gone:
            self._group.remove_metric(_LAG, self._tags(each))

    def _tags(self, partition: TopicPartition) -> dict[str, str]:
        return {"clientId": self._client_id, "topic": partition.topic, "partition": str(partition.partition)}
