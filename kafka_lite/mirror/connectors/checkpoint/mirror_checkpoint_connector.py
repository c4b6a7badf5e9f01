"""Translates the offsets of groups from one cluster to another.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorCheckpointConnector.java · book 8.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from kafka_lite.common.config_def import ConfigDef
from kafka_lite.common.config_value import ConfigValue
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.connector_utils import ConnectorUtils
from kafka_lite.connect.api.errors import RetriableError
from kafka_lite.connect.api.task import Task
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_config import (
    CHECKPOINTS_REPLICATION_FACTOR,
    CONFIG,
    EMIT_CHECKPOINTS,
    REFRESH_GROUPS,
    MirrorCheckpointConfig,
    contradictions,
)
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_task import MirrorCheckpointTask
from kafka_lite.mirror.connectors.mirror_admin import new_mirror_admin
from kafka_lite.mirror.connectors.mirror_connector import MirrorConnector
from kafka_lite.mirror.connectors.mirror_connector_config import ENABLED
from kafka_lite.mirror.connectors.mirror_utils import GROUP, TOPIC, Offsets, check_offsets

logger = logging.getLogger(__name__)


class GroupsAdmin(Protocol):
    """The part of MirrorAdmin that it needs."""

    def ensure_compacted(self, topic: str, replication_factor: int) -> None: ...  # noqa: D102  see MirrorAdmin
    def groups(self) -> list[str]: ...  # noqa: D102
    def group_offsets(self, group: str) -> dict[TopicPartition, OffsetAndMetadata]: ...  # noqa: D102


class MirrorCheckpointConnector(MirrorConnector):
    """Knows the groups of the source that have read a copied topic, and divides them among its tasks.

    ::

        connector.class = org.apache.kafka.connect.mirror.MirrorCheckpointConnector
        source.cluster.alias = west           source.cluster.bootstrap.servers = w:9092
        target.cluster.alias = east           target.cluster.bootstrap.servers = e:9092
        groups = billing
        sync.group.offsets.enabled = true
        key.converter = value.converter = org.apache.kafka.connect.converters.ByteArrayConverter

    MirrorSourceConnector of the same clusters writes the offset syncs that it translates by.
    """

    def __init__(self, new_admin: Callable[[Mapping[str, object]], GroupsAdmin] = new_mirror_admin) -> None:
        self._new_admin = new_admin
        self._config: MirrorCheckpointConfig
        self._source: GroupsAdmin
        self._known: list[str] | None = None
        """The groups; None as long as they could not be read."""

    def config(self) -> ConfigDef:
        """Both clusters, and the groups."""
        return CONFIG

    def validate(self, connector_configs: Mapping[str, str]) -> Sequence[ConfigValue]:
        """Refuse settings with which it would do nothing, too."""
        values = super().validate(connector_configs)
        for key, reason in contradictions(connector_configs).items():
            next(each for each in values if each.name == key).error_messages.append(reason)
        return values

    def start(self, props: Mapping[str, str]) -> None:
        """Create the topic of checkpoints, find the groups, and look again from time to time. Raises ConfigError."""
        self._config = config = MirrorCheckpointConfig(props)
        self._known = None
        if not config[ENABLED]:
            return
        self._source = self._new_admin(config.client("source", "admin", "checkpoint-source-admin"))
        thread = self.new_thread("checkpoint", config.label)
        thread.add("refreshing groups", self.refresh, config.interval_ms(REFRESH_GROUPS))
        thread.start()

    def begin(self) -> None:
        """Create the topic of checkpoints, and find the groups. Raises KafkaError."""
        target = self._new_admin(self._config.client("target", "admin", "checkpoint-target-admin"))
        target.ensure_compacted(self._config.checkpoints_topic, self._config[CHECKPOINTS_REPLICATION_FACTOR])
        self._known = self._find()
        logger.info("%s: consumer groups: %s", self._config.label, self._known)

    def refresh(self) -> None:
        """Find groups; ask for other tasks if there are others than before."""
        if self._known is None:
            return
        found = self._find()
        if found != self._known:
            logger.info("%s: the consumer groups are now %s", self._config.label, found)
            self._known = found
            self.context.request_task_reconfiguration()

    def _find(self) -> list[str]:
        chosen = self._config.group_filter
        return [
            group for group in self._source.groups() if chosen.should_replicate_group(group) and self._has_read(group)
        ]

    def _has_read(self, group: str) -> bool:
        """Whether it has offsets of a copied topic."""
        offsets = self._source.group_offsets(group)
        return any(self._config.topic_filter.should_replicate_topic(each.topic) for each in offsets)

    def task_class(self) -> type[Task]:
        """The one that translates."""
        return MirrorCheckpointTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Each task has some of the groups. Raises RetriableError as long as they are not known."""
        if not self._config[ENABLED] or self._config.interval_ms(EMIT_CHECKPOINTS) is None:
            return []
        if self._known is None:
            raise RetriableError("Timeout while loading consumer groups.")
        if not self._known:
            return []
        groups = ConnectorUtils.group_partitions(self._known, min(max_tasks, len(self._known)))
        return [self._config.task_config(each, index) for index, each in enumerate(groups)]

    def alter_offsets(self, connector_config: Mapping[str, str], offsets: Offsets) -> bool:  # noqa: ARG002  a hook
        """Check the partitions of groups that a user sets; their offset is always 0. Raises ConnectError."""
        check_offsets(offsets, (GROUP, TOPIC), only_zero=True)
        return True
