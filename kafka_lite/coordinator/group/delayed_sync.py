"""A new generation that waits for its members to ask for their parts.

Kafka 2.8.1: core/.../coordinator/group/DelayedSync.scala (KAFKA-12890) · book 5.4.6
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kafka_lite.coordinator.group.delayed_join import DelayedRebalance
from kafka_lite.coordinator.group.group_metadata import GroupMetadata


class SyncCoordinator(Protocol):
    """What a DelayedSync asks of the GroupRebalancer."""

    def try_complete_pending_sync(
        self, group: GroupMetadata, generation_id: int, force_complete: Callable[[], bool]
    ) -> bool:
        """Call ``force_complete`` if no SyncGroup is awaited; returns whether the operation completed."""
        ...

    def on_expire_pending_sync(self, group: GroupMetadata, generation_id: int) -> None:
        """Remove the members that have not sent SyncGroup."""
        ...


class DelayedSync(DelayedRebalance):
    """Complete when every member of the generation has sent SyncGroup. When the time is up, the others are let go.

    Without it a member that joins and sends heartbeats, but never syncs, would hold its partitions for ever: nobody
    would read them.
    """

    def __init__(self, rebalancer: SyncCoordinator, group: GroupMetadata, delay_ms: float) -> None:
        super().__init__(group, delay_ms)
        self.rebalancer = rebalancer
        self._generation_id = group.generation_id

    def try_complete(self) -> bool:
        """Whether all have asked, or the generation is over."""
        return self.rebalancer.try_complete_pending_sync(self.group, self._generation_id, self.force_complete)

    def on_complete(self) -> None:
        """Nothing: those who asked have their answers, or get them when the leader has assigned."""

    def on_expiration(self) -> None:
        """Let go who has not asked."""
        self.rebalancer.on_expire_pending_sync(self.group, self._generation_id)
