"""The session timeout of one member.

Kafka 0.10.2: core/.../coordinator/DelayedHeartbeat.scala · book 5.4.7
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kafka_lite.common.delayed_operation import DelayedOperation
from kafka_lite.coordinator.group.group_metadata import GroupMetadata


class HeartbeatCoordinator(Protocol):
    """What a DelayedHeartbeat asks of the GroupRebalancer."""

    def try_complete_heartbeat(
        self, group: GroupMetadata, member_id: str, is_pending: bool, force_complete: Callable[[], bool]
    ) -> bool:
        """Call ``force_complete`` if the member is alive or gone; returns whether the operation completed."""
        ...

    def on_expire_heartbeat(self, group: GroupMetadata, member_id: str, expired: DelayedHeartbeat) -> None:
        """Remove the member whose session has timed out."""
        ...


class DelayedHeartbeat(DelayedOperation):
    """Complete when the member gives a sign of life; when its time is up first, the member has failed.

    Each sign of life completes the waiting operation and puts a new one in its place. A *pending* member has an id but
    has not joined with it yet (KIP-394): joining is the sign of life that is waited for.
    """

    def __init__(
        self,
        rebalancer: HeartbeatCoordinator,
        group: GroupMetadata,
        member_id: str,
        is_pending: bool,
        timeout_ms: float,
    ) -> None:
        super().__init__(timeout_ms)
        self._rebalancer = rebalancer
        self._group = group
        self._member_id = member_id
        self.is_pending = is_pending

    def safe_try_complete(self) -> bool:
        """``try_complete``, which takes the group's lock: no other thread can be in it."""
        return self.try_complete()

    def try_complete(self) -> bool:
        """Whether there was a sign of life, or nobody is left to give one."""
        return self._rebalancer.try_complete_heartbeat(
            self._group, self._member_id, self.is_pending, self.force_complete
        )

    def on_complete(self) -> None:
        """Nothing: a member that lives is no news."""

    def on_expiration(self) -> None:
        """The member has failed."""
        self._rebalancer.on_expire_heartbeat(self._group, self._member_id, self)
