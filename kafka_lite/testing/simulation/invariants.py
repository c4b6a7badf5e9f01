"""Invariants of a cluster: they hold at every moment, whatever has gone wrong.

Not in Kafka. Looks into the running brokers, between two steps of the world: it reads plain attributes and takes no
lock, so a run with invariants has the same events as one without.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kafka_lite.testing.simulation.scheduler import SimulationError


class InvariantError(SimulationError):
    """Something that must hold at every moment does not."""


class Invariants:
    """Checks the brokers; remembers who led and who controlled, since that must never change afterwards."""

    def __init__(self) -> None:
        self._controllers: dict[int, int] = {}
        self._leaders: dict[tuple[Any, int], int] = {}
        self._ends: dict[tuple[str, int], dict[int, int]] = {}
        """Partition -> broker -> the greatest end that its log ever had."""

    def check(self, server: Any) -> None:
        """Check a KafkaServer that runs. Raises InvariantError for the first invariant that does not hold."""
        for broken in self.broken(server):
            raise InvariantError(broken)

    def broken(self, server: Any) -> Iterator[str]:
        """The invariants that are broken. This runs after each step of a broker, so it avoids making objects."""
        yield from self._two_controllers(server)
        manager = getattr(server, "replica_manager", None)
        for partition in manager.partitions if manager is not None else ():
            if is_held(getattr(partition, "_lock", None)):
                continue  # a change is under way
            replica = partition.get_replica()
            has_log = replica is not None and replica.log is not None
            end = replica.log_end_offset.message_offset if has_log else 0
            if has_log:
                self._note_end(partition, end)
            if partition.leader_id == partition.local_broker_id:
                yield from self._two_leaders(partition)
                if has_log and replica.high_watermark.message_offset > end:
                    yield _high_watermark_beyond_end(partition, replica.high_watermark.message_offset, end)
                if not _is_assigned(partition):
                    yield from _isr_beyond_replicas(partition)

    def _note_end(self, partition: Any, end: int) -> None:
        ends = self._ends.get(partition.topic_partition)
        if ends is None:
            ends = self._ends[tuple(partition.topic_partition)] = {}
        if end > ends.get(partition.local_broker_id, -1):
            ends[partition.local_broker_id] = end

    def copies(self, topic: str, partition: int, offset: int) -> int:
        """How many brokers had a record at this offset at any time."""
        return sum(end > offset for end in self._ends.get((topic, partition), {}).values())

    def _two_controllers(self, server: Any) -> Iterable[str]:
        """One controller for each epoch."""
        controller = getattr(server, "controller", None)
        if controller is None or not controller.is_active:
            return ()
        broker_id, epoch = server.config.broker_id, controller.epoch
        if self._controllers.setdefault(epoch, broker_id) == broker_id:
            return ()
        return (f"brokers {self._controllers[epoch]} and {broker_id} are controllers of epoch {epoch}",)

    def _two_leaders(self, partition: Any) -> Iterable[str]:
        """One leader for each leader epoch of a partition."""
        epoch = partition.topic_partition, partition.leader_epoch
        leader = self._leaders.setdefault(epoch, partition.local_broker_id)
        if leader == partition.local_broker_id:
            return ()
        return (f"brokers {leader} and {partition.local_broker_id} lead {epoch[0]} in epoch {epoch[1]}",)


def is_held(lock: Any) -> bool:
    """Whether a thread is in a simulated RLock."""
    return bool(getattr(lock, "_count", 0))


def _high_watermark_beyond_end(partition: Any, high_watermark: int, end: int) -> str:
    """HW <= LEO."""
    return (
        f"broker {partition.local_broker_id} leads {partition.topic_partition}: its high watermark "
        f"{high_watermark} is beyond its log's end {end}"
    )


def _is_assigned(partition: Any) -> bool:
    """Whether the replicas in sync are, each of them, objects among the assigned ones. If not, look closer."""
    return all(map(partition.assigned_replicas.__contains__, partition.in_sync_replicas))


def _isr_beyond_replicas(partition: Any) -> Iterator[str]:
    """ISR ⊆ replicas: reassignments, whose old replicas leave the ISR last, are not simulated."""
    in_sync = {replica.broker_id for replica in partition.in_sync_replicas}
    assigned = {replica.broker_id for replica in partition.assigned_replicas}
    if not in_sync <= assigned:
        yield (
            f"broker {partition.local_broker_id} leads {partition.topic_partition}: {sorted(in_sync)} are in sync, "
            f"only {sorted(assigned)} are assigned"
        )
