"""How late the checkpoints of a task of MirrorCheckpointConnector are.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorMetrics.java; since 3.5 MirrorCheckpointMetrics.java · book 8.1.1
"""

from __future__ import annotations

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.sensor import Sensor
from kafka_lite.mirror.connectors.mirror_connector_config import MirrorConnectorConfig
from kafka_lite.mirror.connectors.mirror_metrics import MirrorMetrics

GROUP = "MirrorCheckpointConnector"


class MirrorCheckpointMetrics(MirrorMetrics):
    """``checkpoint-latency-ms`` of each partition of each group: from the look at its offsets to the acknowledgement.

    (In Kafka all groups of a task share one sensor, so that each shows the latencies of all.)
    """

    def __init__(self, config: MirrorConnectorConfig, time: Time = SYSTEM_TIME) -> None:
        """Raises ConfigError."""
        super().__init__(GROUP, config, time)
        self._sensors: dict[tuple[str, TopicPartition], Sensor] = {}

    def emitted(self, group: str, partition: TopicPartition, timestamp_ms: int) -> None:
        """The target has acknowledged a checkpoint of this time."""
        sensor = self._sensors.get((group, partition))
        if sensor is None:
            tags = {"group": group, "topic": partition.topic, "partition": str(partition.partition)}
            description = "time from the look at a group's offsets until the target has them, ms."
            sensor = self._sensors[group, partition] = self.duration("checkpoint-latency-ms", description, tags)
        sensor.record(self.since_ms(timestamp_ms))
