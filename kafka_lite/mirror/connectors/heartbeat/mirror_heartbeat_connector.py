"""Emits heartbeats into the target cluster, which mirrors then copy from cluster to cluster.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorHeartbeatConnector.java · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from kafka_lite import __version__
from kafka_lite.common.config_def import ConfigDef
from kafka_lite.connect.api.source_connector import SourceConnector
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.runtime.topic_admin import COMPACTED, TopicAdmin
from kafka_lite.mirror.connectors.heartbeat.mirror_heartbeat_config import CONFIG, MirrorHeartbeatConfig
from kafka_lite.mirror.connectors.heartbeat.mirror_heartbeat_task import MirrorHeartbeatTask


class Admin(Protocol):
    """The part of TopicAdmin that it needs."""

    def ensure_exists(
        self, topic: str, partitions: int, replication_factor: int, configs: Mapping[str, str] = ...
    ) -> bool:
        """Create a topic unless there is one of this name."""
        ...


class MirrorHeartbeatConnector(SourceConnector):
    """Has one task, or none if heartbeats are disabled.

    ::

        connector.class = org.apache.kafka.connect.mirror.MirrorHeartbeatConnector
        key.converter = value.converter = org.apache.kafka.connect.converters.ByteArrayConverter
    """

    def __init__(self, new_admin: Callable[[Mapping[str, object]], Admin] = TopicAdmin) -> None:
        self._new_admin = new_admin
        self._props: dict[str, str] = {}

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def config(self) -> ConfigDef:
        """The names of both clusters, and the interval."""
        return CONFIG

    def start(self, props: Mapping[str, str]) -> None:
        """Create the topic: one partition, compacted, so that it keeps one heartbeat of each pair of clusters.

        Raises ConfigError, ConnectError.
        """
        config = MirrorHeartbeatConfig(props)
        self._props = dict(props)
        admin = self._new_admin(config.client("target", "admin", "heartbeats-target-admin"))
        admin.ensure_exists(config.heartbeats_topic, 1, config["heartbeats.topic.replication.factor"], COMPACTED)

    def task_class(self) -> type[Task]:
        """The one that emits them."""
        return MirrorHeartbeatTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:  # noqa: ARG002
        """One, or none."""
        return [] if MirrorHeartbeatConfig(self._props).heartbeats_interval_ms is None else [self._props]

    def stop(self) -> None:
        """No-op: nothing runs in the connector itself."""
