"""A member's group settings.

Kafka 2.3: clients/.../clients/GroupRebalanceConfig.java · book 5.1.1
"""

from __future__ import annotations

from dataclasses import dataclass

JOIN_GROUP_TIMEOUT_LAPSE_MS = 5000
"""How much longer than the rebalance timeout the response to JoinGroup may take."""


@dataclass(frozen=True)
class GroupRebalanceConfig:
    """The group settings of a member."""

    group_id: str
    group_instance_id: str | None = None
    """The instance id of a static member; None for a dynamic one."""
    session_timeout_ms: int = 45_000
    rebalance_timeout_ms: int = 300_000
    """``max.poll.interval.ms``: how long a rebalance waits for this member to join again."""
    heartbeat_interval_ms: int = 3000
    retry_backoff_ms: int = 100
    leave_group_on_close: bool = True
    throw_on_unsupported_stable_offset: bool = False
    """Whether the consumer fails at a broker before Kafka 2.5, which does not make it wait for the
    transactions that commit its offsets."""

    @property
    def join_timeout_ms(self) -> int:
        """The request timeout of JoinGroup and SyncGroup."""
        return self.rebalance_timeout_ms + JOIN_GROUP_TIMEOUT_LAPSE_MS
