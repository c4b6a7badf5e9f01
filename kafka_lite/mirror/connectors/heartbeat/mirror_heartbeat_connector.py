"""Emits heartbeats into the target cluster, which mirrors then copy from cluster to cluster.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorHeartbeatConnector.java · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from kafka_lite.common.config_def import ConfigDef
from kafka_lite.connect.api.task import Task
from kafka_lite.mirror.connectors.heartbeat.mirror_heartbeat_config import CONFIG, MirrorHeartbeatConfig
from kafka_lite.mirror.connectors.heartbeat.mirror_heartbeat_task import SOURCE, TARGET, MirrorHeartbeatTask
from kafka_lite.mirror.connectors.mirror_admin import new_mirror_admin
from kafka_lite.mirror.connectors.mirror_connector import MirrorConnector
from kafka_lite.mirror.connectors.mirror_utils import Offsets, check_offsets


class HeartbeatsAdmin(Protocol):
    """The part of MirrorAdmin that it needs."""

    def ensure_compacted(self, topic: str, replication_factor: int) -> None: ...  # noqa: D102  see MirrorAdmin


class MirrorHeartbeatConnector(MirrorConnector):
    """Has one task, or none if heartbeats are disabled.

    ::

        connector.class = org.apache.kafka.connect.mirror.MirrorHeartbeatConnector
        key.converter = value.converter = org.apache.kafka.connect.converters.ByteArrayConverter
    """

    def __init__(self, new_admin: Callable[[Mapping[str, object]], HeartbeatsAdmin] = new_mirror_admin) -> None:
        self._new_admin = new_admin
        self._config: MirrorHeartbeatConfig

    def config(self) -> ConfigDef:
        """The names of both clusters, and the interval."""
        return CONFIG

    def start(self, props: Mapping[str, str]) -> None:
        """Create the topic, as soon as the target responds. Raises ConfigError."""
        self._config = MirrorHeartbeatConfig(props)
        self.new_thread("heartbeat", self._config.label).start()

    def begin(self) -> None:
        """Create the topic: one partition, compacted, so that it keeps one heartbeat of each pair of clusters.

        Raises KafkaError. As in Kafka, the topic may be for others to create: then the mirror may not.
        """
        admin = self._new_admin(self._config.client("target", "admin", "heartbeats-target-admin"))
        admin.ensure_compacted(self._config.heartbeats_topic, self._config["heartbeats.topic.replication.factor"])

    def task_class(self) -> type[Task]:
        """The one that emits them."""
        return MirrorHeartbeatTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:  # noqa: ARG002
        """One, or none."""
        return [] if self._config.heartbeats_interval_ms is None else [dict(self._config.props)]

    def alter_offsets(self, connector_config: Mapping[str, str], offsets: Offsets) -> bool:  # noqa: ARG002  a hook
        """Check the pairs of clusters that a user sets; their offset is always 0. Raises ConnectError."""
        check_offsets(offsets, (SOURCE, TARGET), only_zero=True, with_partition=False)
        return True
