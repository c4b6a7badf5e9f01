"""A rebalance that waits until the members of a group have joined.

Kafka 0.10.2: core/.../coordinator/DelayedJoin.scala; InitialDelayedJoin: 0.11 · book 5.3.2, 5.3.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kafka_lite.common.purgatory.delayed_operation import DelayedOperation
from kafka_lite.coordinator.group.group_metadata import GroupMetadata


class JoinCoordinator(Protocol):
    """The part of GroupRebalancer that a DelayedJoin uses."""

    def try_complete_join(self, group: GroupMetadata, force_complete: Callable[[], bool]) -> bool:
        """Call ``force_complete`` if all members have joined; returns whether the operation completed."""
        ...

    def on_complete_join(self, group: GroupMetadata) -> None:
        """Begin the next generation."""
        ...

    def watch_join(self, delayed_join: DelayedJoin) -> None:
        """Put the operation into the purgatory."""
        ...


class DelayedRebalance(DelayedOperation):
    """A step of a rebalance that waits for members. Joins and syncs share one purgatory."""

    def __init__(self, group: GroupMetadata, delay_ms: float) -> None:
        super().__init__(delay_ms)
        self.group = group

    def safe_try_complete(self) -> bool:
        """Call ``try_complete``, which takes the group's lock itself."""
        return self.try_complete()


class DelayedJoin(DelayedRebalance):
    """Completes when every known member has joined. When it expires, the members that have not joined are removed.

    Each group that prepares a rebalance has one such operation. It is checked whenever a JoinGroup arrives and whenever
    a member leaves or fails.
    """

    def __init__(self, rebalancer: JoinCoordinator, group: GroupMetadata, delay_ms: float) -> None:
        super().__init__(group, delay_ms)
        self.rebalancer = rebalancer

    def try_complete(self) -> bool:
        """Complete if every member has joined; returns whether it completed."""
        return self.rebalancer.try_complete_join(self.group, self.force_complete)

    def on_complete(self) -> None:
        """Begin the next generation."""
        self.rebalancer.on_complete_join(self.group)

    def on_expiration(self) -> None:
        """Nothing: ``on_complete`` removes the members that have not joined."""


class InitialDelayedJoin(DelayedJoin):
    """The first rebalance of an empty group, which only the clock completes (KIP-134).

    The members of a group start one after the other. Without the delay, the first one would be assigned every
    partition, only to give most of them back. If a new member joined within the last ``configured_delay_ms``, the
    operation waits once more, up to the rebalance timeout in total. With a delay of 0 it does not wait at all, as in
    0.10: the first member begins a generation.
    """

    def __init__(
        self,
        rebalancer: JoinCoordinator,
        group: GroupMetadata,
        configured_delay_ms: int,
        delay_ms: int,
        remaining_ms: int,
    ) -> None:
        super().__init__(rebalancer, group, delay_ms)
        self._configured_delay_ms = configured_delay_ms
        self._remaining_ms = remaining_ms

    def try_complete(self) -> bool:
        """Complete at once if there is no delay. Otherwise only the clock decides: further members may be on their
        way."""
        return self.delay_ms == 0 and self.force_complete()

    def on_complete(self) -> None:
        """Wait once more if a new member has joined and time is left; otherwise begin the first generation."""
        with self.group.lock:
            if self.delay_ms > 0 and self.group.new_member_added and self._remaining_ms > 0:
                self.group.new_member_added = False
                delay_ms = min(self._configured_delay_ms, self._remaining_ms)
                remaining_ms = self._remaining_ms - delay_ms
                again = InitialDelayedJoin(
                    self.rebalancer, self.group, self._configured_delay_ms, delay_ms, remaining_ms
                )
                self.rebalancer.watch_join(again)
            else:
                super().on_complete()
