"""Keys about the share coordinator, which keeps the state of share groups.

Kafka 4.1: share-coordinator/.../coordinator/share/ShareCoordinatorConfig.java · book 10.3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import ConfigDef, Importance, Range, Type
from kafka_lite.coordinator.group.modern.share_group_config import ShareGroupConfig
from kafka_lite.coordinator.share.share_coordinator_config import ShareCoordinatorConfig
from kafka_lite.record.compression import CompressionType
from kafka_lite.server.config.share_group_configs import share_group_config

at_least, between = Range.at_least, Range.between
HIGH, MEDIUM, LOW = Importance

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
SHARE_COORDINATOR_CONFIGS = (
    ConfigDef()
    .define("share.coordinator.state.topic.num.partitions", Type.INT, 50, HIGH,
            "The number of partitions of `__share_group_state`. Must not be changed later.", at_least(1))
    .define("share.coordinator.state.topic.replication.factor", Type.SHORT, 3, HIGH,
            "The number of replicas of `__share_group_state`; fewer if fewer brokers are alive when it is created.",
            at_least(1))
    .define("share.coordinator.state.topic.min.isr", Type.SHORT, 2, HIGH,
            "min.insync.replicas of `__share_group_state`.", at_least(1))
    .define("share.coordinator.state.topic.segment.bytes", Type.INT, 104857600, HIGH,
            "The segment size of `__share_group_state`.", at_least(1))
    .define("share.coordinator.threads", Type.INT, 1, MEDIUM,
            "How many threads load partitions of `__share_group_state`, prune them, and end the wait of writes for "
            "others.", at_least(1))
    .define("share.coordinator.snapshot.update.records.per.snapshot", Type.INT, 500, MEDIUM,
            "How many updates of a share partition's state are written between two snapshots.", between(0, 500))
    .define("share.coordinator.load.buffer.size", Type.INT, 5242880, HIGH,
            "How many bytes to read at a time when a coordinator loads a partition of `__share_group_state`.",
            at_least(1))
    .define("share.coordinator.state.topic.compression.codec", Type.INT, 0, HIGH,
            "The codec of the records of `__share_group_state`: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.",
            between(0, 4))
    .define("share.coordinator.append.linger.ms", Type.INT, 5, MEDIUM,
            "How long a write of a state waits for others that are appended with it.", at_least(0))
    .define("share.coordinator.write.timeout.ms", Type.INT, 5000, HIGH,
            "How long a write waits for the replicas of its partition of `__share_group_state`.", at_least(1))
    .define("share.coordinator.state.topic.prune.interval.ms", Type.INT, 300000, LOW,
            "How often records of `__share_group_state` that are not needed any more are deleted.", at_least(1))
    .define("share.coordinator.cold.partition.snapshot.interval.ms", Type.INT, 300000, LOW,
            "How long after its last snapshot an idle share partition gets another one, so that older records can be "
            "deleted.", at_least(1))
)
# fmt: on


def share_configs(values: Mapping[str, Any]) -> tuple[ShareGroupConfig, ShareCoordinatorConfig]:
    """All about share groups. Raises ConfigError."""
    return share_group_config(values), share_coordinator_config(values)


def share_coordinator_config(values: Mapping[str, Any]) -> ShareCoordinatorConfig:
    """The configuration."""

    def value(name: str) -> Any:
        return values[f"share.coordinator.{name}"]

    return ShareCoordinatorConfig(
        state_topic_num_partitions=value("state.topic.num.partitions"),
        state_topic_replication_factor=value("state.topic.replication.factor"),
        state_topic_min_isr=value("state.topic.min.isr"),
        state_topic_segment_bytes=value("state.topic.segment.bytes"),
        num_threads=value("threads"),
        snapshot_update_records_per_snapshot=value("snapshot.update.records.per.snapshot"),
        load_buffer_size=value("load.buffer.size"),
        compression_type=CompressionType.from_code(value("state.topic.compression.codec")),
        append_linger_ms=value("append.linger.ms"),
        write_timeout_ms=value("write.timeout.ms"),
        topic_prune_interval_ms=value("state.topic.prune.interval.ms"),
        cold_partition_snapshot_interval_ms=value("cold.partition.snapshot.interval.ms"),
    )
