"""The configuration of groups of KIP-848: the broker's keys ``group.consumer.*``, and those of single groups.

Kafka 4.1: group-coordinator/.../group/GroupCoordinatorConfig.java, GroupConfig.java, GroupConfigManager.java
· book 5.2.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Range, Type
from kafka_lite.coordinator.group.modern.assignor.group_spec import ConsumerGroupPartitionAssignor
from kafka_lite.coordinator.group.modern.assignor.range_assignor import RangeAssignor
from kafka_lite.coordinator.group.modern.assignor.uniform_assignor import UniformAssignor
from kafka_lite.coordinator.group.modern.share_group_config import (
    SHARE_GROUP_CONFIG_DEF,
    ShareGroupConfig,
    validate_share_overrides,
    with_share_overrides,
)

ASSIGNORS: dict[str, ConsumerGroupPartitionAssignor] = {
    assignor.name: assignor for assignor in (UniformAssignor(), RangeAssignor())
}
"""The assignors by name."""


class MigrationPolicy(Enum):
    """The directions in which groups with members may change their kind."""

    DISABLED = "disabled"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    BIDIRECTIONAL = "bidirectional"

    @property
    def can_upgrade(self) -> bool:
        """Whether a classic group becomes one of KIP-848 when the first member asks for it."""
        return self in (MigrationPolicy.UPGRADE, MigrationPolicy.BIDIRECTIONAL)

    @property
    def can_downgrade(self) -> bool:
        """Whether a group becomes a classic one again when the last member of KIP-848 leaves."""
        return self in (MigrationPolicy.DOWNGRADE, MigrationPolicy.BIDIRECTIONAL)


@dataclass(frozen=True)
class ConsumerGroupConfig:
    """Times, limits and assignors."""

    is_enabled: bool = True
    """Whether ``group.coordinator.rebalance.protocols`` has ``consumer``."""
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    max_size: int = 2**31 - 1
    assignors: Mapping[str, ConsumerGroupPartitionAssignor] = field(default_factory=lambda: ASSIGNORS)
    """The first is the default."""
    regex_refresh_interval_ms: int = 600_000
    migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    session_timeout_limits_ms: tuple[int, int] = (45_000, 60_000)
    """The shortest and the longest that may be set for single groups."""
    heartbeat_interval_limits_ms: tuple[int, int] = (5_000, 15_000)

    @property
    def default_assignor(self) -> str:
        """The assignor of groups whose members ask for none."""
        return next(iter(self.assignors))


# ── single groups ─────────────────────────────────────────────────────────────────────────────────────────────────────

SESSION_TIMEOUT, HEARTBEAT_INTERVAL = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
GROUP_CONFIG_DEF = (
    ConfigDef()
    .define(
        SESSION_TIMEOUT,
        Type.INT,
        45_000,
        Importance.MEDIUM,
        "How long the coordinator waits for a heartbeat of a member of the group.",
        Range.at_least(1),
    )
    .define(
        HEARTBEAT_INTERVAL,
        Type.INT,
        5_000,
        Importance.MEDIUM,
        "The interval between heartbeats that members of the group are told.",
        Range.at_least(1),
    )
    .include(SHARE_GROUP_CONFIG_DEF)
)
"""The keys that a group may have. Without a value, that of the broker's key ``group.`` + name counts."""


def with_overrides(config: ConsumerGroupConfig, overrides: Mapping[str, str]) -> ConsumerGroupConfig:
    """The configuration of a group with these overrides, which are not compared with the broker's limits.

    Raises ConfigError for a bad value. Unknown keys are left out: a later version may have written them.
    """
    known = {name: value for name, value in overrides.items() if name in GROUP_CONFIG_DEF}
    values = GROUP_CONFIG_DEF.parse(known)
    return replace(
        config,
        session_timeout_ms=values[SESSION_TIMEOUT] if SESSION_TIMEOUT in known else config.session_timeout_ms,
        heartbeat_interval_ms=(
            values[HEARTBEAT_INTERVAL] if HEARTBEAT_INTERVAL in known else config.heartbeat_interval_ms
        ),
    )


def validate_group_config(
    config: ConsumerGroupConfig, share_config: ShareGroupConfig, overrides: Mapping[str, str]
) -> None:
    """Raise ConfigError for overrides that a group cannot have on a broker with this configuration."""
    for name, value in overrides.items():
        if name not in GROUP_CONFIG_DEF:
            raise ConfigError(name, value, f"Unknown group config name: {name}")
    changed = with_overrides(config, overrides)
    for name, number, (lowest, highest) in (
        (SESSION_TIMEOUT, changed.session_timeout_ms, config.session_timeout_limits_ms),
        (HEARTBEAT_INTERVAL, changed.heartbeat_interval_ms, config.heartbeat_interval_limits_ms),
    ):
        prefix, _, rest = name.partition(".")
        if name in overrides and number < lowest:
            raise ConfigError(name, number, f"it must be greater than or equal to group.{prefix}.min.{rest}: {lowest}")
        if name in overrides and number > highest:
            raise ConfigError(name, number, f"it must be less than or equal to group.{prefix}.max.{rest}: {highest}")
    if changed.session_timeout_ms <= changed.heartbeat_interval_ms:
        raise ConfigError(SESSION_TIMEOUT, changed.session_timeout_ms, f"it must be greater than {HEARTBEAT_INTERVAL}")
    validate_share_overrides(share_config, overrides)


class GroupConfigManager:
    """The configuration of each group as it is now. Safe to use from any thread.

    A group's name says nothing of its kind, so there is one of each kind.
    """

    def __init__(self, defaults: ConsumerGroupConfig, share_defaults: ShareGroupConfig | None = None) -> None:
        self.defaults = defaults
        self.share_defaults = share_defaults or ShareGroupConfig()
        self._groups: dict[str, ConsumerGroupConfig] = {}
        self._share_groups: dict[str, ShareGroupConfig] = {}

    def config_of(self, group_id: str) -> ConsumerGroupConfig:
        """That of a group, which is the broker's unless the group has overrides."""
        return self._groups.get(group_id, self.defaults)

    def share_config_of(self, group_id: str) -> ShareGroupConfig:
        """That of a share group."""
        return self._share_groups.get(group_id, self.share_defaults)

    def update(self, group_id: str, overrides: Mapping[str, str]) -> None:
        """A group has these overrides from now on. Raises ConfigError for a bad value."""
        if overrides:
            consumers = with_overrides(self.defaults, overrides)
            self._share_groups[group_id] = with_share_overrides(self.share_defaults, overrides)
            self._groups[group_id] = consumers
        else:
            self._groups.pop(group_id, None)
            self._share_groups.pop(group_id, None)
