"""Keys about consumer groups, their offsets, and transactions.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (group coordinator; transactions: 0.11); groups of KIP-848: Kafka 4.1,
group-coordinator/.../group/GroupCoordinatorConfig.java (validate) · book 5.2.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Range, Type
from kafka_lite.coordinator.group.modern.consumer_group_config import ASSIGNORS, ConsumerGroupConfig, MigrationPolicy
from kafka_lite.server.config.share_coordinator_configs import SHARE_COORDINATOR_CONFIGS
from kafka_lite.server.config.share_group_configs import SHARE_GROUP_CONFIGS

at_least = Range.at_least
HIGH, MEDIUM, LOW = Importance

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
GROUP_COORDINATOR_CONFIGS = (
    ConfigDef()
    .define("group.min.session.timeout.ms", Type.INT, 6000, MEDIUM,
            "The shortest session timeout that a member may request.")
    .define("group.max.session.timeout.ms", Type.INT, 300000, MEDIUM,
            "The longest session timeout that a member may request.")
    .define("group.initial.rebalance.delay.ms", Type.INT, 0, MEDIUM,
            "How long the first rebalance of an empty group waits for more members (since Kafka 0.11).", at_least(0))
    .define("group.max.size", Type.INT, 2147483647, MEDIUM,
            "The maximum number of members of a group (since Kafka 2.2).", at_least(1))
    .define("group.coordinator.rebalance.protocols", Type.LIST, "classic,consumer", MEDIUM,
            "The protocols of groups: `classic`, with JoinGroup, `consumer`, in which the coordinator assigns "
            "(KIP-848, since Kafka 3.7), and `share`, in which members share partitions (KIP-932, since Kafka 4.1).")
    .define("group.consumer.session.timeout.ms", Type.INT, 45000, MEDIUM,
            "How long the coordinator waits for a heartbeat of a member of a consumer group (KIP-848).", at_least(1))
    .define("group.consumer.min.session.timeout.ms", Type.INT, 45000, MEDIUM,
            "The shortest session timeout that may be set for consumer groups.", at_least(1))
    .define("group.consumer.max.session.timeout.ms", Type.INT, 60000, MEDIUM,
            "The longest session timeout that may be set for consumer groups.", at_least(1))
    .define("group.consumer.heartbeat.interval.ms", Type.INT, 5000, MEDIUM,
            "The interval between heartbeats that members of consumer groups are told.", at_least(1))
    .define("group.consumer.min.heartbeat.interval.ms", Type.INT, 5000, MEDIUM,
            "The shortest heartbeat interval that may be set for consumer groups.", at_least(1))
    .define("group.consumer.max.heartbeat.interval.ms", Type.INT, 15000, MEDIUM,
            "The longest heartbeat interval that may be set for consumer groups.", at_least(1))
    .define("group.consumer.max.size", Type.INT, 2147483647, MEDIUM,
            "The maximum number of members of a consumer group.", at_least(1))
    .define("group.consumer.assignors", Type.LIST, "uniform,range", MEDIUM,
            "The assignors of consumer groups: `uniform` and `range`. The first is that of groups whose members name "
            "none.")
    .define("group.consumer.regex.refresh.interval.ms", Type.INT, 600000, MEDIUM,
            "How often the topics of a regular expression are looked up again at the latest.", at_least(10000))
    .define("group.consumer.migration.policy", Type.STRING, "bidirectional", MEDIUM,
            "Whether a group with members may change its kind: `disabled`, `upgrade` from a classic group, `downgrade` "
            "to one, or `bidirectional`.")
    .define("offset.metadata.max.bytes", Type.INT, 4096, HIGH,
            "The maximum size of the metadata of an offset commit.")
    .define("offsets.load.buffer.size", Type.INT, 5242880, HIGH,
            "How many bytes to read at a time when a coordinator loads a partition of "
            "`__consumer_offsets`.", at_least(1))
    .define("offsets.topic.num.partitions", Type.INT, 50, HIGH,
            "The number of partitions of `__consumer_offsets`. Must not be changed later.", at_least(1))
    .define("offsets.topic.replication.factor", Type.SHORT, 3, HIGH,
            "The number of replicas of `__consumer_offsets`; fewer if fewer brokers are alive when it "
            "is created.", at_least(1))
    .define("offsets.topic.segment.bytes", Type.INT, 104857600, HIGH,
            "The segment size of `__consumer_offsets`. Small, so that it compacts and loads quickly.", at_least(1))
    .define("offsets.topic.compression.codec", Type.INT, 0, HIGH,
            "The codec of offset commits: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.", Range.between(0, 4))
    .define("offsets.retention.minutes", Type.INT, 1440, HIGH,
            "How long a committed offset is kept.", at_least(1))
    .define("offsets.retention.check.interval.ms", Type.LONG, 600000, HIGH,
            "How often to look for expired offsets.", at_least(1))
    .define("offsets.commit.timeout.ms", Type.INT, 5000, HIGH,
            "How long a commit waits for the replicas of its partition.", at_least(1))
    .define("offsets.commit.required.acks", Type.SHORT, -1, HIGH,
            "The acks with which commits are appended. Should stay -1 (all).")
    .define("transactional.id.expiration.ms", Type.INT, 604800000, HIGH,
            "How long an idle transactional id is kept (since Kafka 0.11).", at_least(1))
    .define("transaction.max.timeout.ms", Type.INT, 900000, HIGH,
            "The longest transaction timeout that a producer may request (since Kafka 0.11).", at_least(1))
    .define("transaction.partition.verification.enable", Type.BOOLEAN, True, LOW,
            "Whether a partition's leader asks the transaction coordinator before it appends a transaction's first "
            "batch, so that late batches cannot begin transactions that never end (since Kafka 3.6).")
    .define("add.partitions.to.txn.retry.backoff.ms", Type.INT, 20, HIGH,
            "How long a partition's leader waits before it asks the transaction coordinator again to add the "
            "partition, while the coordinator ends the producer's last transaction (since Kafka 4.0).", at_least(1))
    .define("add.partitions.to.txn.retry.backoff.max.ms", Type.INT, 100, HIGH,
            "For how long it asks again; then the producer retries (since Kafka 4.0).", at_least(0))
    .define("transaction.state.log.min.isr", Type.INT, 2, HIGH,
            "min.insync.replicas of `__transaction_state` (since Kafka 0.11).", at_least(1))
    .define("transaction.state.log.load.buffer.size", Type.INT, 5242880, HIGH,
            "How many bytes to read at a time when a coordinator loads a partition of `__transaction_state` (since "
            "Kafka 0.11).", at_least(1))
    .define("transaction.state.log.replication.factor", Type.SHORT, 3, HIGH,
            "The number of replicas of `__transaction_state` (since Kafka 0.11).", at_least(1))
    .define("transaction.state.log.num.partitions", Type.INT, 50, HIGH,
            "The number of partitions of `__transaction_state`. Must not be changed later (since Kafka "
            "0.11).", at_least(1))
    .define("transaction.state.log.segment.bytes", Type.INT, 104857600, HIGH,
            "The segment size of `__transaction_state` (since Kafka 0.11).", at_least(1))
    .define("transaction.abort.timed.out.transaction.cleanup.interval.ms", Type.INT, 10000, LOW,
            "How often to abort transactions that have timed out (since Kafka 0.11).", at_least(1))
    .define("transaction.remove.expired.transaction.cleanup.interval.ms", Type.INT, 3600000, LOW,
            "How often to remove expired transactional ids (since Kafka 0.11).", at_least(1))
    .include(SHARE_GROUP_CONFIGS)
    .include(SHARE_COORDINATOR_CONFIGS)
)
# fmt: on

PROTOCOLS_KEY = "group.coordinator.rebalance.protocols"
ASSIGNORS_KEY = "group.consumer.assignors"
POLICY_KEY = "group.consumer.migration.policy"
CLASSIC, CONSUMER, SHARE = "classic", "consumer", "share"
JAVA_CLASSES = {
    "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
    "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
}
"""The names of assignors up to Kafka 4.0."""


def consumer_group_config(values: Mapping[str, Any]) -> ConsumerGroupConfig:
    """The configuration. Raises ConfigError."""
    session_ms = _within(values, "group.consumer", "session.timeout.ms")
    interval_ms = _within(values, "group.consumer", "heartbeat.interval.ms")
    if interval_ms >= session_ms:
        key = "group.consumer.heartbeat.interval.ms"
        raise ConfigError(key, interval_ms, "it must be less than group.consumer.session.timeout.ms")
    names = [JAVA_CLASSES.get(name, name) for name in values[ASSIGNORS_KEY]]
    if not names or any(name not in ASSIGNORS for name in names):
        raise ConfigError(ASSIGNORS_KEY, values[ASSIGNORS_KEY], f"valid: {', '.join(ASSIGNORS)}")
    return ConsumerGroupConfig(
        is_enabled=CONSUMER in _protocols(values),
        session_timeout_ms=session_ms,
        heartbeat_interval_ms=interval_ms,
        max_size=values["group.consumer.max.size"],
        assignors={name: ASSIGNORS[name] for name in names},
        regex_refresh_interval_ms=values["group.consumer.regex.refresh.interval.ms"],
        migration_policy=_policy(values[POLICY_KEY]),
        session_timeout_limits_ms=_limits(values, "group.consumer", "session.timeout.ms"),
        heartbeat_interval_limits_ms=_limits(values, "group.consumer", "heartbeat.interval.ms"),
    )


def _policy(name: str) -> MigrationPolicy:
    try:
        return MigrationPolicy(name.lower())
    except ValueError:
        valid = ", ".join(policy.value for policy in MigrationPolicy)
        raise ConfigError(POLICY_KEY, name, f"valid: {valid}") from None


def _protocols(values: Mapping[str, Any]) -> set[str]:
    protocols = {name.strip().lower() for name in values[PROTOCOLS_KEY]}
    if CLASSIC not in protocols or not protocols <= {CLASSIC, CONSUMER, SHARE}:
        reason = f"valid: {CLASSIC}, which cannot be left out, {CONSUMER} and {SHARE}"
        raise ConfigError(PROTOCOLS_KEY, values[PROTOCOLS_KEY], reason)
    return protocols


def _within(values: Mapping[str, Any], prefix: str, name: str) -> int:
    """A value between those of its two limits."""
    key = f"{prefix}.{name}"
    value: int = values[key]
    lowest, highest = _limits(values, prefix, name)
    if not lowest <= value <= highest:
        raise ConfigError(key, value, f"it must be between {lowest} and {highest}")
    return value


def _limits(values: Mapping[str, Any], prefix: str, name: str) -> tuple[int, int]:
    return values[f"{prefix}.min.{name}"], values[f"{prefix}.max.{name}"]
