"""How much a task of MirrorSourceConnector copies, and how late.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorMetrics.java; since 3.5 MirrorSourceMetrics.java · book 8.1.1
"""

from __future__ import annotations

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.connectors.mirror_connector_config import MirrorConnectorConfig
from kafka_lite.mirror.connectors.mirror_metrics import MirrorMetrics

GROUP = "MirrorSourceConnector"


class MirrorSourceMetrics(MirrorMetrics):
    """The numbers of each partition, by its name in the target::

    written in the source ────▶ polled ────▶ acknowledged by the target
    │◀──── record-age-ms ──────▶│                     │
    │◀──────────── replication-latency-ms ───────────▶│    byte-count, byte-rate: of values that were polled
                                                           record-count, record-rate: of acknowledged records
    """

    def __init__(self, config: MirrorConnectorConfig, time: Time = SYSTEM_TIME) -> None:
        """Raises ConfigError."""
        super().__init__(GROUP, config, time)
        self._partitions: dict[TopicPartition, _PartitionMetrics] = {}

    def polled(self, partition: TopicPartition, value: bytes | None, timestamp_ms: int) -> None:
        """A record of the source was read; its timestamp is below 0 if it has none."""
        of_partition = self._of(partition)
        if timestamp_ms >= 0:
            of_partition.age.record(self.since_ms(timestamp_ms))
        of_partition.bytes.record(0 if value is None else len(value))

    def copied(self, partition: TopicPartition, timestamp_ms: int | None) -> None:
        """The target has acknowledged a record; ``timestamp_ms`` is None if it has none."""
        of_partition = self._of(partition)
        of_partition.records.record()
        if timestamp_ms is not None:
            of_partition.latency.record(self.since_ms(timestamp_ms))

    def _of(self, partition: TopicPartition) -> _PartitionMetrics:
        found = self._partitions.get(partition)
        if found is None:
            found = self._partitions[partition] = _PartitionMetrics(self, partition)
        return found


class _PartitionMetrics:
    def __init__(self, metrics: MirrorMetrics, partition: TopicPartition) -> None:
        tags = {"topic": partition.topic, "partition": str(partition.partition)}
        self.records = metrics.meter("record", "Records that the target has acknowledged.", tags)
        self.bytes = metrics.meter("byte", "Bytes of the values that were read.", tags)
        self.age = metrics.duration("record-age-ms", "age of records when they are read, ms.", tags)
        self.latency = metrics.duration(
            "replication-latency-ms", "age of records when the target acknowledges them, ms.", tags
        )
