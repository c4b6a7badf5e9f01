"""The settings of MirrorSourceConnector and its tasks.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorSourceConfig.java, MirrorSourceTaskConfig.java;
use.incremental.alter.configs: Kafka 3.5 to 3.9 · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite.common.config_def import Importance, Range, Type, ValidString
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.connectors.filters import (
    CONFIG_PROPERTY_FILTER,
    CONFIG_PROPERTY_FILTER_KEYS,
    TOPIC_FILTER,
    TOPIC_FILTER_KEYS,
    ConfigPropertyFilter,
    TopicFilter,
)
from kafka_lite.mirror.connectors.mirror_connector_config import (
    TASK_INDEX,
    MirrorConnectorConfig,
    copying_config_def,
)
from kafka_lite.mirror.connectors.mirror_utils import decode_topic_partition, encode_topic_partition

LOW = Importance.LOW
TASK_PARTITIONS = "task.assigned.partitions"
REFRESH_TOPICS, SYNC_TOPIC_CONFIGS, SYNC_TOPIC_ACLS = "refresh.topics", "sync.topic.configs", "sync.topic.acls"
HEARTBEATS_REPLICATION_ENABLED = "heartbeats.replication.enabled"
OFFSET_SYNCS_REPLICATION_FACTOR = "offset-syncs.topic.replication.factor"
USE_INCREMENTAL_ALTER_CONFIGS = "use.incremental.alter.configs"
REQUESTED, REQUIRED, NEVER = "requested", "required", "never"
TEN_MINUTES_S = 600

# fmt: off
CONFIG = (
    copying_config_def()
    .include(TOPIC_FILTER_KEYS)
    .include(CONFIG_PROPERTY_FILTER_KEYS)
    .define("replication.factor", Type.INT, 2, LOW, "The replicas of topics that are created.")
    .define(f"{REFRESH_TOPICS}.enabled", Type.BOOLEAN, True, LOW, "Whether new topics and partitions are noticed.")
    .define(f"{REFRESH_TOPICS}.interval.seconds", Type.LONG, TEN_MINUTES_S, LOW,
            "The time between two looks at the topics.", Range.at_least(1))
    .define(f"{SYNC_TOPIC_CONFIGS}.enabled", Type.BOOLEAN, True, LOW,
            "Whether settings of topics are copied when they change.")
    .define(f"{SYNC_TOPIC_CONFIGS}.interval.seconds", Type.LONG, TEN_MINUTES_S, LOW,
            "The time between two looks at the settings.", Range.at_least(1))
    .define(USE_INCREMENTAL_ALTER_CONFIGS, Type.STRING, REQUESTED, LOW,
            "Whether settings are changed one by one: if the target can do that, always, or never. A target before 2.3 "
            "can only replace all settings of a topic.", ValidString.in_(REQUESTED, REQUIRED, NEVER))
    .define(f"{SYNC_TOPIC_ACLS}.enabled", Type.BOOLEAN, True, LOW,
            "Whether access control lists of topics are copied.")
    .define(f"{SYNC_TOPIC_ACLS}.interval.seconds", Type.LONG, TEN_MINUTES_S, LOW,
            "The time between two looks at the access control lists.", Range.at_least(1))
    .define(HEARTBEATS_REPLICATION_ENABLED, Type.BOOLEAN, True, LOW,
            "Whether heartbeats are copied whatever the filter of topics says.")
    .define(OFFSET_SYNCS_REPLICATION_FACTOR, Type.SHORT, 3, LOW, "The replicas of the topic of offset syncs.")
    .define("offset.lag.max", Type.LONG, 100, LOW,
            "So many records of a partition at most are copied between two offset syncs.", Range.at_least(0))
)
# fmt: on


class MirrorSourceConfig(MirrorConnectorConfig):
    """The checked settings."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Raises ConfigError."""
        super().__init__(CONFIG, props)
        self.topic_filter: TopicFilter = TOPIC_FILTER.new(self._values, props)
        self.config_property_filter: ConfigPropertyFilter = CONFIG_PROPERTY_FILTER.new(self._values, props)

    def task_config(self, partitions: Sequence[TopicPartition], index: int) -> dict[str, str]:
        """The configuration of a task that copies these partitions."""
        assigned = ",".join(map(encode_topic_partition, partitions))
        return {**self.props, TASK_PARTITIONS: assigned, TASK_INDEX: str(index)}

    @property
    def task_partitions(self) -> list[TopicPartition]:
        """The partitions of a task."""
        assigned = self.props.get(TASK_PARTITIONS, "")
        return [decode_topic_partition(each) for each in assigned.split(",") if each]
