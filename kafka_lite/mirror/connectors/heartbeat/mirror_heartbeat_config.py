"""The settings of MirrorHeartbeatConnector and its task.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorHeartbeatConfig.java, MirrorConnectorConfig.java · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.config_def import Importance, Range, Type
from kafka_lite.mirror.connectors.mirror_connector_config import MirrorConnectorConfig, base_config_def

LOW = Importance.LOW
CONFIG = (
    base_config_def()
    .define("emit.heartbeats.enabled", Type.BOOLEAN, True, LOW, "Whether there are heartbeats.")
    .define("emit.heartbeats.interval.seconds", Type.LONG, 1, LOW, "The time between two of them.", Range.at_least(0))
    .define("heartbeats.topic.replication.factor", Type.SHORT, 3, LOW, "The replicas of their topic.")
)  # fmt: skip


class MirrorHeartbeatConfig(MirrorConnectorConfig):
    """The checked settings. Raises ConfigError."""

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(CONFIG, props)

    @property
    def heartbeats_topic(self) -> str:
        """The topic, in the target."""
        return self.policy.heartbeats_topic

    @property
    def heartbeats_interval_ms(self) -> int | None:
        """The time between two heartbeats; None if there are none."""
        return self.interval_ms("emit.heartbeats")
