"""A member's group settings, and its generation.

Kafka 0.10.2: clients/.../consumer/internals/AbstractCoordinator.java (Generation); since 2.3
GroupRebalanceConfig.java · book 5.1.1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

UNKNOWN_MEMBER_ID = ""
NO_GENERATION_ID = -1
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


class Generation(NamedTuple):
    """One generation of the group: this member's id in it, and the assignor that was elected."""

    generation_id: int
    member_id: str
    protocol_name: str | None

    @property
    def has_member_id(self) -> bool:
        """Whether the coordinator has given this member an id."""
        return self.member_id != UNKNOWN_MEMBER_ID


NO_GENERATION = Generation(NO_GENERATION_ID, UNKNOWN_MEMBER_ID, None)
