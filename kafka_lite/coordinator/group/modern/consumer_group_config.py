"""The broker's configuration of groups of KIP-848: the keys ``group.consumer.*``.

Kafka 4.1: group-coordinator/.../group/GroupCoordinatorConfig.java · book 5.2.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from kafka_lite.coordinator.group.modern.assignor.group_spec import ConsumerGroupPartitionAssignor
from kafka_lite.coordinator.group.modern.assignor.range_assignor import RangeAssignor
from kafka_lite.coordinator.group.modern.assignor.uniform_assignor import UniformAssignor

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

    @property
    def default_assignor(self) -> str:
        """The assignor of groups whose members ask for none."""
        return next(iter(self.assignors))
