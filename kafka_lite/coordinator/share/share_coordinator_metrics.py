"""The metrics of the share coordinator: how often it writes and how long that takes, and up to where logs are pruned.

Kafka 4.1: share-coordinator/.../coordinator/share/metrics/ShareCoordinatorMetrics.java · book 10.3
"""

from __future__ import annotations

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import Avg, CumulativeCount, Max, Rate, Value

GROUP = "share-coordinator-metrics"


class ShareCoordinatorMetrics:
    """The sensors of one broker's coordinator."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._writes = metrics.sensor("ShareCoordinatorWrite")
        for name, stat in (("write-rate", Rate()), ("write-total", CumulativeCount())):
            self._writes.add(metrics.metric_name(name, GROUP, "writes of the states of share partitions"), stat)
        self._latency = metrics.sensor("ShareCoordinatorWriteLatency")
        for name, average in (("write-latency-avg", Avg()), ("write-latency-max", Max())):
            self._latency.add(metrics.metric_name(name, GROUP, "time until a write is in the log, ms"), average)

    def written(self) -> None:
        """The state of one share partition is written."""
        self._writes.record(1)

    def write_took(self, time_ms: float) -> None:
        """The states of a request were in the log after this time."""
        self._latency.record(time_ms)

    def pruned(self, topic_partition: TopicPartition, offset: int) -> None:
        """The records before an offset were deleted."""
        name = f"ShareCoordinatorStateTopicPruneSensorName{topic_partition}"
        sensor = self._metrics.get_sensor(name)
        if sensor is None:
            sensor = self._metrics.sensor(name)
            tags = {"topic": topic_partition.topic, "partition": str(topic_partition.partition)}
            metric = self._metrics.metric_name("last-pruned-offset", GROUP, "where the log begins since then", tags)
            sensor.add(metric, Value())
        sensor.record(offset)
