"""The fetcher's metrics.

Kafka 0.10.2: clients/.../consumer/internals/Fetcher.java (FetchManagerMetrics, FetchResponseMetricAggregator)
· book 4.1.4
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.sensor import MeasurableStat, Sensor
from kafka_lite.metrics.stats import Avg, Count, CumulativeCount, CumulativeSum, Max, MetricConfig, Min, Rate

GROUP = "consumer-fetch-manager-metrics"


class FetchManagerMetrics:
    """``consumer-fetch-manager-metrics``: for all fetches, per topic, and the lag of each partition."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._tags: dict[str, str] = {}
        self._assigned: frozenset[TopicPartition] = frozenset()
        self._bytes_fetched = self._bytes_sensor("bytes-fetched", "", self._tags)
        self._records_fetched = self._records_sensor("records-fetched", "", self._tags)
        self.fetch_latency = metrics.sensor("fetch-latency")
        self._add(self.fetch_latency, "fetch-latency-avg", "The average time taken for a fetch request.", Avg())
        self._add(self.fetch_latency, "fetch-latency-max", "The max time taken for any fetch request.", Max())
        rate = Rate(stat=Count())
        self._add(self.fetch_latency, "fetch-rate", "The number of fetch requests per second.", rate)
        self._add(self.fetch_latency, "fetch-total", "The total number of fetch requests.", CumulativeCount())
        self._records_lag = metrics.sensor("records-lag")
        lag_max = "The maximum lag in terms of number of records for any partition in this window"
        self._add(self._records_lag, "records-lag-max", lag_max, Max())
        self._records_lead = metrics.sensor("records-lead")
        lead_min = "The minimum lead in terms of number of records for any partition in this window"
        self._add(self._records_lead, "records-lead-min", lead_min, Min())
        self.throttle_time = metrics.sensor("fetch-throttle-time")
        self._add(self.throttle_time, "fetch-throttle-time-avg", "The average throttle time in ms", Avg())
        self._add(self.throttle_time, "fetch-throttle-time-max", "The maximum throttle time in ms", Max())

    def _add(
        self, sensor: Sensor, name: str, description: str, stat: MeasurableStat, tags: dict[str, str] | None = None
    ) -> None:
        sensor.add(self._metrics.metric_name(name, GROUP, description, tags or self._tags), stat)

    def _bytes_sensor(self, name: str, of: str, tags: dict[str, str]) -> Sensor:
        sensor = self._metrics.sensor(name)
        self._add(sensor, "fetch-size-avg", f"The average number of bytes fetched per request{of}", Avg(), tags)
        self._add(sensor, "fetch-size-max", f"The maximum number of bytes fetched per request{of}", Max(), tags)
        self._add(sensor, "bytes-consumed-rate", f"The average number of bytes consumed per second{of}", Rate(), tags)
        self._add(sensor, "bytes-consumed-total", f"The total number of bytes consumed{of}", CumulativeSum(), tags)
        return sensor

    def _records_sensor(self, name: str, of: str, tags: dict[str, str]) -> Sensor:
        sensor = self._metrics.sensor(name)
        self._add(sensor, "records-per-request-avg", f"The average number of records in each request{of}", Avg(), tags)
        self._add(
            sensor, "records-consumed-rate", f"The average number of records consumed per second{of}", Rate(), tags
        )
        total = f"The total number of records consumed{of}"
        self._add(sensor, "records-consumed-total", total, CumulativeSum(), tags)
        return sensor

    def record_fetch(self, size: int, records: int) -> None:
        """A fetch response is fully consumed; ``size`` is in bytes."""
        self._bytes_fetched.record(size)
        self._records_fetched.record(records)

    def record_topic_fetch(self, topic: str, size: int, records: int) -> None:
        """The same for one topic of the response."""
        tags = self._tags | {"topic": topic.replace(".", "_")}
        of = f" for topic {topic}"
        name = f"topic.{topic}.bytes-fetched"
        (self._metrics.get_sensor(name) or self._bytes_sensor(name, of, tags)).record(size)
        name = f"topic.{topic}.records-fetched"
        (self._metrics.get_sensor(name) or self._records_sensor(name, of, tags)).record(records)

    def record_partition_lag(self, partition: TopicPartition, lag: int) -> None:
        """Record how far the position is behind the end of the log, in records."""
        self._records_lag.record(lag)
        name = _lag_sensor(partition)
        sensor = self._metrics.get_sensor(name)
        if sensor is None:
            sensor = self._metrics.sensor(name)
            tags = _tags_of(partition)
            self._add(sensor, "records-lag", "The latest lag of the partition", LastValue(), tags)
            self._add(sensor, "records-lag-max", "The max lag of the partition", Max(), tags)
            self._add(sensor, "records-lag-avg", "The average lag of the partition", Avg(), tags)
        sensor.record(lag)

    def record_partition_lead(self, partition: TopicPartition, lead: int) -> None:
        """Record how far the position is from the start of the log, in records. A lead below 0 means lost records."""
        self._records_lead.record(lead)
        name = _lead_sensor(partition)
        sensor = self._metrics.get_sensor(name)
        if sensor is None:
            sensor, tags = self._metrics.sensor(name), _tags_of(partition)
            self._add(sensor, "records-lead", "The latest lead of the partition", LastValue(), tags)
            self._add(sensor, "records-lead-min", "The min lead of the partition", Min(), tags)
            self._add(sensor, "records-lead-avg", "The average lead of the partition", Avg(), tags)
        sensor.record(lead)

    def record_read_replica(self, partition: TopicPartition, broker_id: int | None) -> None:
        """The broker that the partition is read from if it is not the leader."""
        name = _read_replica_sensor(partition)
        sensor = self._metrics.get_sensor(name)
        if sensor is None:
            sensor = self._metrics.sensor(name)
            what = "The current read replica of the partition, or -1 if reading from leader"
            self._add(sensor, "preferred-read-replica", what, LastValue(), _tags_of(partition))
        sensor.record(-1 if broker_id is None else broker_id)

    def update_assignment(self, assigned: frozenset[TopicPartition]) -> None:
        """Remove the sensors of partitions that are no longer assigned; new ones are read from their leaders."""
        for partition in assigned - self._assigned:
            self.record_read_replica(partition, None)
        for partition in self._assigned - assigned:
            self._metrics.remove_sensor(_read_replica_sensor(partition))
            self._metrics.remove_sensor(_lag_sensor(partition))
            self._metrics.remove_sensor(_lead_sensor(partition))
        self._assigned = assigned


def _tags_of(partition: TopicPartition) -> dict[str, str]:
    return {"topic": partition.topic.replace(".", "_"), "partition": str(partition.partition)}


def _lead_sensor(partition: TopicPartition) -> str:
    return f"{partition}.records-lead"


def _read_replica_sensor(partition: TopicPartition) -> str:
    return f"{partition}.preferred-read-replica"


def _lag_sensor(partition: TopicPartition) -> str:
    return f"{partition}.records-lag"


class LastValue:
    """The last recorded value (Kafka's ``stats.Value``)."""

    def __init__(self) -> None:
        self._value = 0.0

    def record(self, config: MetricConfig, value: float, events: float, now_ms: float) -> None:  # noqa: ARG002
        """Keep the value."""
        self._value = value

    def measure(self, config: MetricConfig, now_ms: float) -> float:  # noqa: ARG002
        """The last value."""
        return self._value


class FetchResponseMetricAggregator:
    """Sums up the partitions of one fetch response. When the last one is consumed, it records the totals per
    request."""

    def __init__(self, metrics: FetchManagerMetrics, partitions: Iterable[TopicPartition]) -> None:
        self._metrics = metrics
        self._unrecorded = set(partitions)
        self._bytes = self._records = 0
        self._by_topic: dict[str, tuple[int, int]] = {}

    def record(self, partition: TopicPartition, size: int, records: int) -> None:
        """A partition of the response is consumed."""
        self._unrecorded.discard(partition)
        self._bytes += size
        self._records += records
        topic_bytes, topic_records = self._by_topic.get(partition.topic, (0, 0))
        self._by_topic[partition.topic] = topic_bytes + size, topic_records + records
        if self._unrecorded:
            return
        self._metrics.record_fetch(self._bytes, self._records)
        for topic, (topic_bytes, topic_records) in self._by_topic.items():
            self._metrics.record_topic_fetch(topic, topic_bytes, topic_records)
