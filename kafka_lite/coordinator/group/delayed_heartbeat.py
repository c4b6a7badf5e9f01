"""The session timeout of one member.

Kafka 0.10.2: core/.../coordinator/DelayedHeartbeat.scala · book 5.4.7
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kafka_lite.common.purgatory.delayed_operation import DelayedOperation
from kafka_lite.coordinator.group.group_metadata import GroupMetadata


class HeartbeatCoordinator(Protocol):
    """The part of GroupRebalancer that a DelayedHeartbeat uses."""

    def try_complete_heartbeat(
        self, group: GroupMetadata, member_id: str, is_pending: bool, force_complete: Callable[[], bool]
    ) -> bool:
        """Call ``force_complete`` if the member is alive or gone; returns whether the operation completed."""
        ...

    def on_expire_heartbeat(self, group: GroupMetadata, member_id: str, expired: DelayedHeartbeat) -> None:
        """Remove the member whose session has timed out."""
        ...


class DelayedHeartbeat(DelayedOperation):
    """Completes when the member is heard from. If it expires first, the member has failed.

    Every heartbeat, join and sync completes the current operation and starts the next. A *pending* member has been
    given an id but has not joined with it yet (KIP-394); its operation waits for that join.
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
        """Call ``try_complete``, which takes the group's lock itself."""
        return self.try_complete()

    def try_complete(self) -> bool:
        """Complete if the member sent a heartbeat or left; returns whether it completed."""
        return self._rebalancer.try_complete_heartbeat(
            self._group, self._member_id, self.is_pending, self.force_complete
        )

    def on_complete(self) -> None:
        """Nothing: the member is alive."""

    def on_expiration(self) -> None:
        """Remove the member."""
        self._rebalancer.on_expire_heartbeat(self._group, self._member_id, self)
