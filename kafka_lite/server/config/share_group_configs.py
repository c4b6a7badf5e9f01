"""Keys about share groups, as brokers serve them.

Kafka 4.1: group-coordinator/.../group/modern/share/ShareGroupConfig.java, .../group/GroupCoordinatorConfig.java
· book 5.2.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Range, Type, ValidList
from kafka_lite.coordinator.group.modern.share_group_config import ShareGroupConfig

at_least, between = Range.at_least, Range.between
MEDIUM = Importance.MEDIUM
ASSIGNORS = ("simple", "org.apache.kafka.coordinator.group.assignor.SimpleAssignor")

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
SHARE_GROUP_CONFIGS = (
    ConfigDef()
    .define("group.share.enable", Type.BOOLEAN, False, MEDIUM,
            "Whether share groups (KIP-932) are served even if the feature `share.version` is not finalized.")
    .define("group.share.delivery.count.limit", Type.INT, 5, MEDIUM,
            "How often a record is delivered to a share group before it is given up.", between(2, 10))
    .define("group.share.record.lock.duration.ms", Type.INT, 30000, MEDIUM,
            "How long a member of a share group may process a record before it is delivered to another one.",
            between(1000, 3600000))
    .define("group.share.min.record.lock.duration.ms", Type.INT, 15000, MEDIUM,
            "The shortest lock on records that may be set for share groups.", between(1000, 30000))
    .define("group.share.max.record.lock.duration.ms", Type.INT, 60000, MEDIUM,
            "The longest lock on records that may be set for share groups.", between(30000, 3600000))
    .define("group.share.partition.max.record.locks", Type.INT, 2000, MEDIUM,
            "How many records of a partition may be in flight in a share group.", between(100, 10000))
    .define("share.fetch.purgatory.purge.interval.requests", Type.INT, 1000, MEDIUM,
            "After how many completed requests the purgatory of share fetches is purged.")
    .define("group.share.max.share.sessions", Type.INT, 2000, MEDIUM,
            "How many share sessions the broker keeps.", at_least(1))
    .define("group.share.session.timeout.ms", Type.INT, 45000, MEDIUM,
            "How long the coordinator waits for a heartbeat of a member of a share group.", at_least(1))
    .define("group.share.min.session.timeout.ms", Type.INT, 45000, MEDIUM,
            "The shortest session timeout that may be set for share groups.", at_least(1))
    .define("group.share.max.session.timeout.ms", Type.INT, 60000, MEDIUM,
            "The longest session timeout that may be set for share groups.", at_least(1))
    .define("group.share.heartbeat.interval.ms", Type.INT, 5000, MEDIUM,
            "The interval between heartbeats that members of share groups are told.", at_least(1))
    .define("group.share.min.heartbeat.interval.ms", Type.INT, 5000, MEDIUM,
            "The shortest heartbeat interval that may be set for share groups.", at_least(1))
    .define("group.share.max.heartbeat.interval.ms", Type.INT, 15000, MEDIUM,
            "The longest heartbeat interval that may be set for share groups.", at_least(1))
    .define("group.share.max.size", Type.INT, 200, MEDIUM,
            "The maximum number of members of a share group.", between(1, 1000))
    .define("group.share.assignors", Type.LIST, "simple", MEDIUM,
            "The assignor of share groups: `simple`, which is the only one.", ValidList.in_(*ASSIGNORS))
)
# fmt: on


def share_group_config(values: Mapping[str, Any]) -> ShareGroupConfig:
    """The configuration. Share groups are enabled by either of two keys. Raises ConfigError."""
    protocols = {name.strip().lower() for name in values["group.coordinator.rebalance.protocols"]}
    session_ms = _within(values, "session.timeout.ms")
    interval_ms = _within(values, "heartbeat.interval.ms")
    if interval_ms >= session_ms:
        key = "group.share.heartbeat.interval.ms"
        raise ConfigError(key, interval_ms, "it must be less than group.share.session.timeout.ms")
    sessions, size = values["group.share.max.share.sessions"], values["group.share.max.size"]
    if sessions < size:
        reason = f"it must be greater than or equal to group.share.max.size: {size}"
        raise ConfigError("group.share.max.share.sessions", sessions, reason)
    if len(values["group.share.assignors"]) != 1:
        raise ConfigError("group.share.assignors", values["group.share.assignors"], "it must have exactly one assignor")
    return ShareGroupConfig(
        is_enabled="share" in protocols or values["group.share.enable"],
        session_timeout_ms=session_ms,
        heartbeat_interval_ms=interval_ms,
        max_size=size,
        session_timeout_limits_ms=_limits(values, "session.timeout.ms"),
        heartbeat_interval_limits_ms=_limits(values, "heartbeat.interval.ms"),
        record_lock_duration_ms=_within(values, "record.lock.duration.ms"),
        record_lock_duration_limits_ms=_limits(values, "record.lock.duration.ms"),
        delivery_count_limit=values["group.share.delivery.count.limit"],
        partition_max_record_locks=values["group.share.partition.max.record.locks"],
        max_share_sessions=sessions,
        purgatory_purge_interval=values["share.fetch.purgatory.purge.interval.requests"],
    )


def _within(values: Mapping[str, Any], name: str) -> int:
    """A value between those of its two limits."""
    value: int = values[f"group.share.{name}"]
    lowest, highest = _limits(values, name)
    if not lowest <= value <= highest:
        raise ConfigError(f"group.share.{name}", value, f"it must be between {lowest} and {highest}")
    return value


def _limits(values: Mapping[str, Any], name: str) -> tuple[int, int]:
    return values[f"group.share.min.{name}"], values[f"group.share.max.{name}"]
