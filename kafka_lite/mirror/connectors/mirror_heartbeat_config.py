"""The settings of MirrorHeartbeatConnector and its task.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorHeartbeatConfig.java, MirrorConnectorConfig.java · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Range, Type, ValidString
from kafka_lite.mirror.connectors.replication_policy import (
    INTERNAL_TOPIC_SEPARATOR_ENABLED,
    SEPARATOR,
    SOURCE_CLUSTER_ALIAS,
    DefaultReplicationPolicy,
    IdentityReplicationPolicy,
)

HIGH, LOW = Importance.HIGH, Importance.LOW
TARGET_CLUSTER_ALIAS = "target.cluster.alias"
TARGET_BOOTSTRAP_SERVERS = "target.cluster.bootstrap.servers"
POLICY_CLASS = "replication.policy.class"
_JAVA = "org.apache.kafka.connect.mirror"
POLICIES: Mapping[str, type[DefaultReplicationPolicy]] = {
    f"{_JAVA}.DefaultReplicationPolicy": DefaultReplicationPolicy,
    f"{_JAVA}.IdentityReplicationPolicy": IdentityReplicationPolicy,
}

CONFIG = (
    ConfigDef()
    .define(SOURCE_CLUSTER_ALIAS, Type.STRING, "source", HIGH, "The name of the source cluster.")
    .define(TARGET_CLUSTER_ALIAS, Type.STRING, "target", HIGH, "The name of the target cluster.")
    .define(TARGET_BOOTSTRAP_SERVERS, Type.LIST, NO_DEFAULT, HIGH, "Brokers of the target cluster.")
    .define(POLICY_CLASS, Type.STRING, f"{_JAVA}.DefaultReplicationPolicy", LOW,
            "How copied topics are named.", ValidString.in_(*POLICIES))
    .define(SEPARATOR, Type.STRING, ".", LOW, "The separator between a cluster's name and a topic's.")
    .define(INTERNAL_TOPIC_SEPARATOR_ENABLED, Type.BOOLEAN, True, LOW,
            "Whether names of internal topics have that separator, too.")
    .define("emit.heartbeats.enabled", Type.BOOLEAN, True, LOW, "Whether there are heartbeats.")
    .define("emit.heartbeats.interval.seconds", Type.LONG, 1, LOW, "The time between two of them.", Range.at_least(0))
    .define("heartbeats.topic.replication.factor", Type.SHORT, 3, LOW, "The replicas of their topic.")
)  # fmt: skip


class MirrorHeartbeatConfig:
    """The checked settings. Raises ConfigError."""

    def __init__(self, props: Mapping[str, str]) -> None:
        self._values = CONFIG.parse(props)
        self._policy = POLICIES[self._values[POLICY_CLASS]](props)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    @property
    def heartbeats_topic(self) -> str:
        """The topic, in the target."""
        return self._policy.heartbeats_topic

    @property
    def interval_ms(self) -> int | None:
        """The time between two heartbeats; None if there are none."""
        if not self["emit.heartbeats.enabled"]:
            return None
        return int(self["emit.heartbeats.interval.seconds"]) * 1000
