"""One fetch session: the partitions that a client fetches, and the epoch of its next request.

Kafka 1.1: core/.../server/FetchSession.scala (FetchSession, EvictableKey); 0.10 has no fetch sessions · book 4.1.4
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import NamedTuple

from kafka_lite.clients.fetch_metadata import INITIAL_EPOCH, next_epoch
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.fetch_params import FetchPartition, LogReadResult
from kafka_lite.server.fetch_sessions.cached_partition import CachedPartition

NOT_CACHED = -1
FetchKey = TopicPartition | TopicIdPartition
"""A partition as a fetch request names it: since version 13 by the id of its topic."""


class EvictableKey(NamedTuple):
    """Orders sessions by value: those of followers above those of consumers, many partitions above few."""

    privileged: bool
    size: int
    session_id: int


class FetchSession:
    """A session. ``lock`` protects the partitions and the epoch; the rest belongs to the cache.

    Partitions are read in the order of ``partitions`` until the response is full. A partition that had records goes to
    the end, so that the next response begins with the others. A session has ids or names, never both.
    """

    __slots__ = (
        "cached_size", "created_ms", "epoch", "id", "is_old", "last_used_ms", "lock", "partitions", "privileged",
        "uses_topic_ids",
    )  # fmt: skip

    def __init__(
        self,
        session_id: int,
        privileged: bool,
        partitions: dict[FetchKey, CachedPartition],
        now_ms: float,
        uses_topic_ids: bool = False,
    ) -> None:
        """``privileged`` if a follower fetches. ``now_ms`` is monotonic."""
        self.id = session_id
        self.privileged = privileged
        self.uses_topic_ids = uses_topic_ids
        self.partitions = partitions
        self.created_ms = now_ms
        self.last_used_ms = now_ms
        self.cached_size = NOT_CACHED
        """The number of partitions when the session was last used."""
        self.is_old = False
        """Whether it was old enough then for any session of greater value to evict it."""
        self.epoch = next_epoch(INITIAL_EPOCH)
        """The epoch of the next request."""
        self.lock = threading.Lock()

    @property
    def evictable_key(self) -> EvictableKey:
        """The session's value, as the cache knows it."""
        return EvictableKey(self.privileged, self.cached_size, self.id)

    def update(self, asked: Iterable[tuple[FetchKey, FetchPartition]], to_forget: Iterable[FetchKey]) -> None:
        """Apply an incremental request: add and change partitions, then remove the forgotten ones."""
        partitions = self.partitions
        for topic_partition, parameters in asked:
            cached = partitions.get(topic_partition)
            if cached is None:
                partitions[topic_partition] = CachedPartition(parameters)
            else:
                cached.asked = parameters
        for topic_partition in to_forget:
            partitions.pop(topic_partition, None)

    def asked(self) -> list[tuple[FetchKey, FetchPartition]]:
        """The partitions to read for the current request, in order."""
        return [(topic_partition, cached.asked) for topic_partition, cached in self.partitions.items()]

    def select_changed(self, results: Iterable[tuple[FetchKey, LogReadResult]]) -> list[tuple[FetchKey, LogReadResult]]:
        """The results that the response must contain."""
        partitions = self.partitions
        changed = []
        for item in results:
            topic_partition, result = item
            cached = partitions[topic_partition]
            if cached.maybe_update_response_data(result):
                changed.append(item)
                if result.size_in_bytes > 0:
                    del partitions[topic_partition]
                    partitions[topic_partition] = cached
        return changed

    def peek_changed(self, results: Iterable[tuple[FetchKey, LogReadResult]]) -> list[tuple[FetchKey, LogReadResult]]:
        """The results that ``select_changed`` would return now."""
        return [item for item in results if self.partitions[item[0]].must_respond(item[1])]
