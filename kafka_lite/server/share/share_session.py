"""Share sessions: what a broker remembers of a member of a share group, so that requests have changes only.

Kafka 4.1: server/.../server/share/session/ShareSession.java, ShareSessionCache.java, ShareSessionKey.java,
clients/.../common/requests/ShareRequestMetadata.java · book 4.1.4
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable
from typing import Final, NamedTuple
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.time import Time
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.meter import Meter
from kafka_lite.metrics.metrics_registry import MetricsRegistry

INITIAL_EPOCH: Final = 0
"""Opens a session."""
FINAL_EPOCH: Final = -1
"""Closes it."""
MAX_EPOCH: Final = 2**31 - 1


def next_epoch(epoch: int) -> int:
    """The epoch of the request after one with this epoch."""
    if epoch < 0:
        return FINAL_EPOCH
    return 1 if epoch == MAX_EPOCH else epoch + 1


class ShareSessionKey(NamedTuple):
    """A member of a group. It has one session with each broker."""

    group_id: str
    member_id: UUID


class ShareSession:
    """The partitions that a member fetches from this broker, in order, and the epoch of its next request."""

    __slots__ = ("connection_id", "epoch", "key", "partitions")

    def __init__(self, key: ShareSessionKey, partitions: Iterable[TopicIdPartition], connection_id: str) -> None:
        self.key = key
        self.partitions: dict[TopicIdPartition, bool] = dict.fromkeys(partitions, False)
        """Partition → whether the next response has it in any case: it is new, or the last response had its error."""
        self.epoch = next_epoch(INITIAL_EPOCH)
        self.connection_id = connection_id

    def update(self, added: Collection[TopicIdPartition], forgotten: Collection[TopicIdPartition]) -> None:
        """A request names partitions."""
        for partition in added:
            self.partitions.setdefault(partition, True)
        for partition in forgotten:
            self.partitions.pop(partition, None)

    def must_respond(self, partition: TopicIdPartition, *, has_records: bool, has_error: bool) -> bool:
        """Whether the response has the partition. Remembers what the member then knows."""
        if partition not in self.partitions:
            return has_records or has_error
        is_due = self.partitions[partition]
        self.partitions[partition] = has_error
        if has_records:
            del self.partitions[partition]
            self.partitions[partition] = has_error  # at the end: others come first the next time
        return has_records or has_error or is_due


class ShareSessionCache:
    """All sessions of the broker, at most ``max_entries``::

        epoch   session                 becomes
        ─────   ─────────────────────   ────────────────────────────────────────────────────────────
        0       any or none             removed, and a new one; SHARE_SESSION_LIMIT_REACHED without room
        n ≥ 1   unknown                 SHARE_SESSION_NOT_FOUND
                at another epoch        INVALID_SHARE_SESSION_EPOCH; unchanged
                at epoch n              updated, at epoch n + 1
        -1      unknown                 SHARE_SESSION_NOT_FOUND
                any                     removed, once the response is made

    A session ends with its connection, too. Any thread may call it.
    """

    def __init__(self, max_entries: int, registry: MetricsRegistry, time: Time) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[ShareSessionKey, ShareSession] = {}
        self._by_connection: dict[str, ShareSessionKey] = {}
        self._max_entries = max_entries
        group = KafkaMetricsGroup(registry, time, "kafka.server", "ShareSessionCache")
        group.new_gauge("ShareSessionsCount", lambda: len(self._sessions))
        group.new_gauge("SharePartitionsCount", self._partitions_count)
        self._evictions: Meter = group.new_meter("ShareSessionEvictionsPerSec", "evictions")

    def _partitions_count(self) -> int:
        with self._lock:
            return sum(len(session.partitions) for session in self._sessions.values())

    def __len__(self) -> int:
        return len(self._sessions)

    def partitions_of(self, key: ShareSessionKey) -> list[TopicIdPartition]:
        """The partitions of a session, in order; none without a session."""
        with self._lock:
            session = self._sessions.get(key)
            return [] if session is None else list(session.partitions)

    def fetch(
        self,
        key: ShareSessionKey,
        epoch: int,
        named: Collection[TopicIdPartition],
        forgotten: Collection[TopicIdPartition],
        connection_id: str,
    ) -> list[TopicIdPartition]:
        """A ShareFetch request: returns the partitions to fetch. Raises ApiError."""
        with self._lock:
            if epoch == INITIAL_EPOCH:
                self._remove(key)
                if len(self._sessions) >= self._max_entries:
                    raise Errors.SHARE_SESSION_LIMIT_REACHED.exception()
                session = self._sessions[key] = ShareSession(key, named, connection_id)
                self._by_connection[connection_id] = key
                return list(session.partitions)
            session = self._session(key, epoch)
            if epoch == FINAL_EPOCH:
                return []
            session.update(named, forgotten)
            session.epoch = next_epoch(epoch)
            return list(session.partitions)

    def acknowledge(self, key: ShareSessionKey, epoch: int) -> None:
        """A ShareAcknowledge request, which changes no partitions. Raises ApiError."""
        if epoch == INITIAL_EPOCH:
            raise Errors.INVALID_SHARE_SESSION_EPOCH.exception()
        with self._lock:
            session = self._session(key, epoch)
            if epoch != FINAL_EPOCH:
                session.epoch = next_epoch(epoch)

    def _session(self, key: ShareSessionKey, epoch: int) -> ShareSession:
        session = self._sessions.get(key)
        if session is None:
            raise Errors.SHARE_SESSION_NOT_FOUND.exception()
        if epoch not in (FINAL_EPOCH, session.epoch):
            raise Errors.INVALID_SHARE_SESSION_EPOCH.exception()
        return session

    def select(
        self,
        key: ShareSessionKey,
        epoch: int,
        results: Iterable[tuple[TopicIdPartition, bool, bool]],
    ) -> list[TopicIdPartition]:
        """The partitions that the response to a request of this epoch has, of those with (records, error).

        Raises INVALID_SHARE_SESSION_EPOCH if the member has sent its next request already.
        """
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            return [partition for partition, _, _ in results]
        with self._lock:
            session = self._sessions.get(key)
            if session is None or session.epoch != next_epoch(epoch):
                raise Errors.INVALID_SHARE_SESSION_EPOCH.exception()
            return [
                partition
                for partition, has_records, has_error in results
                if session.must_respond(partition, has_records=has_records, has_error=has_error)
            ]

    def remove(self, key: ShareSessionKey) -> list[TopicIdPartition] | None:
        """End a session; returns its partitions. None if there was none."""
        with self._lock:
            session = self._remove(key)
            return None if session is None else list(session.partitions)

    def _remove(self, key: ShareSessionKey) -> ShareSession | None:
        session = self._sessions.pop(key, None)
        if session is not None and self._by_connection.get(session.connection_id) == key:
            del self._by_connection[session.connection_id]
        return session

    def connection_ended(self, connection_id: str, release: Callable[[ShareSessionKey], object]) -> None:
        """The member has gone: ``release`` ends its session, if it has one."""
        key = self._by_connection.get(connection_id)
        if key is not None:
            self._evictions.mark()
            release(key)

    def has_members_of(self, group_id: str) -> bool:
        """Whether a member of the group has a session."""
        with self._lock:
            return any(key.group_id == group_id for key in self._sessions)
