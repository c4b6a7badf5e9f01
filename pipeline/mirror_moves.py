"""The moves of partitions between workers, from one external view to the next, and how long nobody copied.

uReplicator kafka-0.10.2.1: Helix's RoutingTableProvider is what such a spectator is made of · book 8.2.2
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.ureplicator.helix_names import View, online_workers


@dataclass(frozen=True)
class Move:
    """A partition that has another worker than before, and how long it had none in between."""

    partition: TopicPartition
    before: str
    after: str
    alone_ms: float


class MirrorMoves:
    """Follows the views. A spectator's thread calls ``saw``, another one reads."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._lock = threading.Lock()
        self._owners: dict[TopicPartition, str | None] = {}
        self._last: dict[TopicPartition, tuple[str, float]] = {}
        self._moves: list[Move] = []

    def saw(self, view: View) -> None:
        """The next view."""
        now_ms = self._time.hi_res_ms()
        workers = {partition: names[0] if names else None for partition, names in online_workers(view).items()}
        with self._lock:
            for partition in self._owners.keys() | workers.keys():
                self._enter(partition, self._owners.get(partition), workers.get(partition), now_ms)
            self._owners = workers

    def _enter(self, partition: TopicPartition, before: str | None, after: str | None, now_ms: float) -> None:
        if before is not None and before != after:
            self._last[partition] = before, now_ms
        if after is not None and after != before and partition in self._last:
            old, since_ms = self._last.pop(partition)
            if old != after:
                self._moves.append(Move(partition, old, after, now_ms - since_ms))

    @property
    def owners(self) -> Mapping[TopicPartition, str | None]:
        """The worker of each partition; None if nobody copies it."""
        with self._lock:
            return dict(self._owners)

    def take_moves(self) -> list[Move]:
        """The moves since the last call, in their order."""
        with self._lock:
            moves, self._moves = self._moves, []
            return moves

    def is_served(self, partitions: Mapping[str, int], workers: set[str]) -> bool:
        """Whether each partition of these topics is copied, and each of these workers, and no other, copies any."""
        owners = self.owners
        wanted = {TopicPartition(topic, number) for topic, count in partitions.items() for number in range(count)}
        return owners.keys() >= wanted and set(owners.values()) == workers
