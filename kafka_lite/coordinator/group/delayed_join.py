"""A rebalance that waits for the members of a group to join.

Kafka 0.10.2: core/.../coordinator/DelayedJoin.scala; InitialDelayedJoin: 0.11 · book 5.3.2, 5.3.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kafka_lite.common.delayed_operation import DelayedOperation
from kafka_lite.coordinator.group.group_metadata import GroupMetadata


class JoinCoordinator(Protocol):
    """What a DelayedJoin asks of the GroupRebalancer."""

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
    """A step of a rebalance that waits for members; joins and syncs wait in one purgatory."""

    def __init__(self, group: GroupMetadata, delay_ms: float) -> None:
        super().__init__(delay_ms)
        self.group = group

    def safe_try_complete(self) -> bool:
        """``try_complete``, which takes the group's lock: no other thread can be in it."""
        return self.try_complete()


class DelayedJoin(DelayedRebalance):
    """Complete when every known member has joined. When the time is up, those who have not are let go.

    One such operation waits for each group that prepares a rebalance, and each JoinGroup that arrives, each member that
    leaves or fails, lets it look again.
    """

    def __init__(self, rebalancer: JoinCoordinator, group: GroupMetadata, delay_ms: float) -> None:
        super().__init__(group, delay_ms)
        self.rebalancer = rebalancer

    def try_complete(self) -> bool:
        """Whether the last member has come."""
        return self.rebalancer.try_complete_join(self.group, self.force_complete)

    def on_complete(self) -> None:
        """Begin the next generation."""
        self.rebalancer.on_complete_join(self.group)

    def on_expiration(self) -> None:
        """Nothing: ``on_complete`` drops those who have not come."""


class InitialDelayedJoin(DelayedJoin):
    """The first rebalance of an empty group, which only time completes (KIP-134).

    A group's members start one after the other, and without this the first of them would get everything, only to give
    most of it back. As long as somebody new came within the last ``configured_delay_ms``, it waits once more, up to the
    rebalance timeout in all. With a delay of 0 it waits for nobody, as in 0.10: the first member begins a generation.
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
        """Not before its time: that all have joined whom the coordinator knows means nothing yet."""
        return self.delay_ms == 0 and self.force_complete()

    def on_complete(self) -> None:
        """Wait once more if that is worth it, else begin the first generation."""
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
