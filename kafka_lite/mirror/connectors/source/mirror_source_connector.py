"""Copies topics from one cluster to another.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorSourceConnector.java · book 8.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from kafka_lite.common.config_def import ConfigDef
from kafka_lite.common.config_value import ConfigValue
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.task import Task
from kafka_lite.mirror.connectors.mirror_admin import NewTopic, new_mirror_admin
from kafka_lite.mirror.connectors.mirror_connector import MirrorConnector
from kafka_lite.mirror.connectors.mirror_connector_config import EMIT_OFFSET_SYNCS, ENABLED
from kafka_lite.mirror.connectors.mirror_utils import SOURCE_CLUSTER, TOPIC, Offsets, check_offsets
from kafka_lite.mirror.connectors.source.mirror_source_config import (
    CONFIG,
    HEARTBEATS_REPLICATION_ENABLED,
    NEVER,
    OFFSET_SYNCS_REPLICATION_FACTOR,
    REFRESH_TOPICS,
    REQUIRED,
    SYNC_TOPIC_ACLS,
    SYNC_TOPIC_CONFIGS,
    USE_INCREMENTAL_ALTER_CONFIGS,
    MirrorSourceConfig,
)
from kafka_lite.mirror.connectors.source.mirror_source_task import MirrorSourceTask
from kafka_lite.mirror.connectors.source.mirrored_topics import MirroredTopics, Topics, partitions_of, spread
from kafka_lite.mirror.connectors.source.topic_acl_sync import acls_to_create
from kafka_lite.mirror.connectors.topic_config_sync import ConfigEntry, configs_to_alter, configs_to_create
from kafka_lite.security.authorizer.acl_binding import AclBinding

logger = logging.getLogger(__name__)


class TopicsAdmin(Protocol):
    """The part of MirrorAdmin that it needs."""

    def topics(self) -> dict[str, int]: ...  # noqa: D102  see MirrorAdmin
    def ensure_compacted(self, topic: str, replication_factor: int) -> None: ...  # noqa: D102
    def create_topics(self, topics: Mapping[str, NewTopic]) -> dict[str, str]: ...  # noqa: D102
    def create_partitions(self, counts: Mapping[str, int]) -> dict[str, str]: ...  # noqa: D102
    def topic_configs(self, topics: Sequence[str]) -> dict[str, list[ConfigEntry]]: ...  # noqa: D102
    def alter_topic_configs(self, changes: Mapping[str, Mapping[str, str | None]]) -> dict[str, str]: ...  # noqa: D102
    def replace_topic_configs(self, configs: Mapping[str, Mapping[str, str]]) -> dict[str, str]: ...  # noqa: D102
    def topic_acls(self) -> list[AclBinding] | None: ...  # noqa: D102
    def create_acls(self, bindings: Sequence[AclBinding]) -> dict[str, str]: ...  # noqa: D102


class MirrorSourceConnector(MirrorConnector):
    """Knows the topics of both clusters, creates what the target lacks, and deals partitions out among its tasks.

    ::

        connector.class = org.apache.kafka.connect.mirror.MirrorSourceConnector
        source.cluster.alias = west           source.cluster.bootstrap.servers = w:9092
        target.cluster.alias = east           target.cluster.bootstrap.servers = e:9092
        topics = orders, payments-.*
        key.converter = value.converter = header.converter = org.apache.kafka.connect.converters.ByteArrayConverter

    It runs on workers of the target cluster: their producers write the copies.
    """

    def __init__(self, new_admin: Callable[[Mapping[str, object]], TopicsAdmin] = new_mirror_admin) -> None:
        self._new_admin = new_admin
        self._config: MirrorSourceConfig
        self._topics: MirroredTopics
        self._source: TopicsAdmin
        self._target: TopicsAdmin
        self._source_has_acls = self._alters_one_by_one = True
        self._known: Topics | None = None
        """The source's topics that are copied; None as long as they could not be read."""

    def config(self) -> ConfigDef:
        """Both clusters, and the topics."""
        return CONFIG

    def validate(self, connector_configs: Mapping[str, str]) -> Sequence[ConfigValue]:
        """Refuse settings of offset syncs where there are none, too."""
        values = super().validate(connector_configs)
        has_some = any(key.startswith(("offset-syncs-", "offset-syncs.topic.")) for key in connector_configs)
        if has_some and connector_configs.get(EMIT_OFFSET_SYNCS) == "false":
            next(each for each in values if each.name == EMIT_OFFSET_SYNCS).error_messages.append(
                f"MirrorSourceConnector can't setup offset-syncs feature while {EMIT_OFFSET_SYNCS} set to false"
            )
        return values

    # ── life cycle ────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self, props: Mapping[str, str]) -> None:
        """Find the topics, create what is missing, and look again from time to time. Raises ConfigError."""
        self._config = config = MirrorSourceConfig(props)
        self._known = None
        self._alters_one_by_one = config[USE_INCREMENTAL_ALTER_CONFIGS] != NEVER
        if not config[ENABLED]:
            return
        self._topics = MirroredTopics(
            *(config.source, config.target, config.policy, config.topic_filter),
            with_heartbeats=config[HEARTBEATS_REPLICATION_ENABLED],
        )
        self._source = self._new_admin(config.client("source", "admin", "replication-source-admin"))
        self._target = self._new_admin(config.client("target", "admin", "replication-target-admin"))
        thread = self.new_thread("source", config.label)
        thread.add("refreshing topics", self.refresh, config.interval_ms(REFRESH_TOPICS))
        thread.add("syncing ACLs", self.sync_acls, config.interval_ms(SYNC_TOPIC_ACLS), at_once=True)
        thread.add("syncing configs", self.sync_configs, config.interval_ms(SYNC_TOPIC_CONFIGS), at_once=True)
        thread.start()

    def task_class(self) -> type[Task]:
        """The one that copies."""
        return MirrorSourceTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Each task has some of the partitions."""
        tasks = spread(partitions_of(self._known or {}), max_tasks)
        return [self._config.task_config(partitions, index) for index, partitions in enumerate(tasks)]

    def alter_offsets(self, connector_config: Mapping[str, str], offsets: Offsets) -> bool:  # noqa: ARG002  a hook
        """Check the partitions and offsets of topics that a user sets. Raises ConnectError."""
        check_offsets(offsets, (SOURCE_CLUSTER, TOPIC), only_zero=False)
        return True

    # ── topics ────────────────────────────────────────────────────────────────────────────────────────────────────

    def begin(self) -> None:
        """Create the topic of offset syncs, and the copies that are missing. Raises KafkaError."""
        if self._config[EMIT_OFFSET_SYNCS]:
            at = self._config.offset_syncs_cluster
            admin = self._new_admin(self._config.client(at, "admin", f"offset-syncs-{at}-admin"))
            admin.ensure_compacted(self._config.offset_syncs_topic, self._config[OFFSET_SYNCS_REPLICATION_FACTOR])
        self._find()

    def refresh(self) -> None:
        """Find and create topics and partitions; ask for other tasks if the source has changed."""
        if self._known is not None and self._find():
            self.context.request_task_reconfiguration()

    def _find(self) -> bool:
        """Whether the source has other topics, or other numbers of partitions, than before."""
        in_source = self._topics.of_source(self._source.topics())
        in_target = self._topics.of_target(self._target.topics())
        self._create(self._topics.new_topics(in_source, in_target))
        self._grow(self._topics.grown_topics(in_source, in_target))
        before, self._known = self._known, in_source
        if before != in_source:
            logger.info("%s: topics with their numbers of partitions: %s", self._config.label, in_source)
        return before != in_source

    def _create(self, topics: Topics) -> None:
        """Create copies, with the settings of their originals."""
        if not topics:
            return
        described = self._source.topic_configs(list(topics))
        chosen, factor = self._config.config_property_filter, self._config["replication.factor"]
        new = {
            self._topics.remote(topic): NewTopic(count, factor, configs_to_create(described.get(topic, ()), chosen))
            for topic, count in topics.items()
        }
        refused = self._target.create_topics(new)
        for topic, reason in refused.items():
            logger.warning("Could not create topic %s: %s", topic, reason)
        for topic in new.keys() - refused.keys():
            logger.info("Created remote topic %s with %d partitions", topic, new[topic].partitions)

    def _grow(self, topics: Topics) -> None:
        if not topics:
            return
        counts = {self._topics.remote(topic): count for topic, count in topics.items()}
        for topic, reason in self._target.create_partitions(counts).items():
            logger.warning("Could not create topic-partitions for %s: %s", topic, reason)

    def sync_configs(self) -> None:
        """Let each copy have the settings that its original has now."""
        copies = self._topics.of_target(self._target.topics())
        topics = [topic for topic in self._known or () if self._topics.remote(topic) in copies]
        if not topics:
            return
        entries = {self._topics.remote(topic): found for topic, found in self._source.topic_configs(topics).items()}
        for topic, reason in self._alter_configs(entries).items():
            logger.warning("Could not alter configuration of topic %s: %s", topic, reason)

    def _alter_configs(self, entries: Mapping[str, Sequence[ConfigEntry]]) -> dict[str, str]:
        """One by one, or all of a topic if the target is too old for that. Returns what was refused."""
        chosen = self._config.config_property_filter
        if self._alters_one_by_one:
            try:
                return self._target.alter_topic_configs(
                    {topic: configs_to_alter(found, chosen) for topic, found in entries.items()}
                )
            except ApiError as error:
                if error.error is not Errors.UNSUPPORTED_VERSION:
                    raise
                self._alters_one_by_one = False
                self._say_too_old(error)
        if self._config[USE_INCREMENTAL_ALTER_CONFIGS] == REQUIRED:
            return {}
        return self._target.replace_topic_configs(
            {topic: configs_to_create(found, chosen) for topic, found in entries.items()}
        )

    def _say_too_old(self, error: ApiError) -> None:
        problem = f"the target cluster '{self._config.target}' is not compatible with IncrementalAlterConfigs API"
        if self._config[USE_INCREMENTAL_ALTER_CONFIGS] == REQUIRED:
            failure = ConnectError(f'{USE_INCREMENTAL_ALTER_CONFIGS} was set to "{REQUIRED}", but {problem}')
            failure.__cause__ = error
            self.context.raise_error(failure)
        else:
            logger.warning("%s. Therefore using deprecated AlterConfigs API for syncing topic configurations", problem)

    def sync_acls(self) -> None:
        """Let each copy have the access control lists of its original. None is taken away from a copy, as in Kafka."""
        bindings = self._source.topic_acls()
        if bindings is None:
            if self._source_has_acls:
                logger.info(
                    "No ACL authorizer is configured on the source Kafka cluster, so no topic ACL syncing will take "
                    "place. Consider disabling topic ACL syncing by setting %s.enabled to 'false'.", SYNC_TOPIC_ACLS,
                )  # fmt: skip
            self._source_has_acls = False
            return
        wanted = acls_to_create(bindings, self._topics)
        for topic, reason in (self._target.create_acls(wanted) if wanted else {}).items():
            logger.warning("Could not sync ACL of topic %s: %s", topic, reason)
