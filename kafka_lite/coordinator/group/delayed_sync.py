"""The wait of a new generation for its members to send SyncGroup.

Kafka 2.8.1: core/.../coordinator/group/DelayedSync.scala (KAFKA-12890) · book 5.4.6
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kafka_lite.coordinator.group.delayed_join import DelayedRebalance
from kafka_lite.coordinator.group.group_metadata import GroupMetadata


class SyncCoordinator(Protocol):
    """The part of GroupRebalancer that a DelayedSync uses."""

    def try_complete_pending_sync(
        self, group: GroupMetadata, generation_id: int, force_complete: Callable[[], bool]
    ) -> bool:
        """Call ``force_complete`` if no SyncGroup is awaited; returns whether the operation completed."""
        ...

    def on_expire_pending_sync(self, group: GroupMetadata, generation_id: int) -> None:
        """Remove the members that have not sent SyncGroup."""
        ...


class DelayedSync(DelayedRebalance):
    """Completes when every member of the generation has sent SyncGroup. When it expires, the other members are removed.

    Without it, a member that joins and sends heartbeats but never syncs would hold its partitions for ever without
    reading them.
    """

    def __init__(self, rebalancer: SyncCoordinator, group: GroupMetadata, delay_ms: float) -> None:
        super().__init__(group, delay_ms)
        self.rebalancer = rebalancer
        self._generation_id = group.generation_id

    def try_complete(self) -> bool:
        """Complete if every member has sent SyncGroup or the generation is over; returns whether it completed."""
        return self.rebalancer.try_complete_pending_sync(self.group, self._generation_id, self.force_complete)

    def on_complete(self) -> None:
        """Nothing: the members that have synced get their responses when the leader's assignment is stored."""

    def on_expiration(self) -> None:
        """Remove the members that have not sent SyncGroup."""
        self.rebalancer.on_expire_pending_sync(self.group, self._generation_id)
