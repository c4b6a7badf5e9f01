"""A share fetch that waits until there is enough that may be acquired.

Kafka 4.1: core/.../server/share/DelayedShareFetch.java, ShareFetchUtils.java (processFetchResponse),
server/.../server/share/fetch/ShareFetch.java, PartitionMaxBytesStrategy.java · book 6.3.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.purgatory.delayed_operation import DelayedOperation
from kafka_lite.common.sendable import Part
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.server.fetch_params import FetchParams, FetchPartition, LogReadResult
from kafka_lite.server.share.acquisition import Acquired
from kafka_lite.server.share.fetched_batches import aborted_of, fetched_batches, slice_of_acquired
from kafka_lite.server.share.share_group_metrics import ShareFetchMetrics
from kafka_lite.server.share.share_partition import ReadBatches, SharePartition

logger = logging.getLogger(__name__)


class SharePartitionData(NamedTuple):
    """One partition's part of the response."""

    error: Errors = Errors.NONE
    message: str | None = None
    records: Part = b""
    acquired: tuple[Acquired, ...] = ()


class Logs(Protocol):
    """The replica manager, as far as share fetches need it."""

    def get_leader_partition(self, topic_partition: TopicPartition) -> Partition:
        """The partition. Raises ApiError unless this broker leads it."""
        ...

    def read_from_local_logs(
        self, params: FetchParams, fetch_infos: list[tuple[TopicPartition, FetchPartition]]
    ) -> list[tuple[TopicPartition, LogReadResult]]:
        """Read one partition after the other."""
        ...


class FetchedPartition(NamedTuple):
    """One partition of a share fetch."""

    share_partition: SharePartition
    topic_partition: TopicPartition


class ShareFetch(NamedTuple):
    """A share fetch, and where its outcome goes."""

    member_id: str
    params: FetchParams
    max_records: int
    batch_size: int
    partitions: Mapping[TopicIdPartition, FetchedPartition]
    """In the order in which they are read."""
    failed: dict[TopicIdPartition, ApiError]
    """The errors of partitions; more may come while the fetch waits."""
    respond: Callable[[dict[TopicIdPartition, SharePartitionData]], None]


Reads = dict[TopicIdPartition, LogReadResult]


class DelayedShareFetch(DelayedOperation):
    """Completes if

    - A: a partition that it may read has an error,
    - B: what may be acquired in the partitions that no other fetch reads reaches ``min_bytes``,
    - C: all of its partitions have failed, or this broker no longer leads one of them,
    - or the time is up; then it acquires what there is,
    - or the client has left; then it acquires nothing.

    While it reads and acquires it has the partitions' fetch locks, so that no two fetches read the same records::

        try_complete:  fetch locks ─▶ offsets ─▶ read those of unknown position ─▶ enough? ─▶ on_complete
                                                                                 └─ no: release the locks, wait
        on_complete:   read the others ─▶ acquire ─▶ respond ─▶ release the locks ─▶ let other fetches try
    """

    def __init__(
        self,
        fetch: ShareFetch,
        logs: Logs,
        log_start_offset: Callable[[TopicPartition], int],
        on_failure: Callable[[SharePartition, ApiError], None],
        released: Callable[[Iterable[SharePartition]], None],
        metrics: ShareFetchMetrics,
    ) -> None:
        """``log_start_offset`` raises ApiError. ``released``: other fetches may acquire from these partitions."""
        super().__init__(fetch.params.max_wait_ms)
        self._fetch = fetch
        self._logs = logs
        self._log_start_offset = log_start_offset
        self._on_failure = on_failure
        self._released = released
        self._metrics = metrics
        self._locked: dict[TopicIdPartition, int] = {}
        self._read: Reads = {}
        self._client_has_left = False
        if fetch.params.when_client_leaves is not None:
            fetch.params.when_client_leaves(self.abandon)

    def abandon(self) -> None:
        """The client has left."""
        self._client_has_left = True
        self.force_complete()

    def on_expiration(self) -> None:
        """The client has waited as long as it wants to."""
        self._metrics.expired()

    # ── enough? ───────────────────────────────────────────────────────────────────────────────────────────────────

    def try_complete(self) -> bool:
        """Look at the partitions that no other fetch reads now."""
        fetch = self._fetch
        if self._note_fenced() or all(at in fetch.failed for at in fetch.partitions):
            return self.force_complete()
        locked = self._lock_partitions()
        if not locked:
            return False
        self._metrics.locked()
        read: Reads = {}
        is_enough = True
        try:
            unknown = {at: offset for at, offset in locked.items() if self._position(at, offset) is None}
            read = self._read_logs(unknown, len(locked))
            for at, result in read.items():
                fetch.partitions[at].share_partition.remember_position(result.fetch_offset_metadata)
            has_error = any(result.error is not Errors.NONE for result in read.values())
            is_enough = has_error or self._available_bytes(locked) >= fetch.params.min_bytes
        except Exception:
            logger.exception("Error processing delayed share fetch request")
            read = {}
        if is_enough:
            self._locked, self._read = locked, read
            if self.force_complete():
                return True
        self._unlock(locked)
        return False

    def _note_fenced(self) -> bool:
        """Whether the client must learn that it should ask another broker for some of the partitions."""
        failed = self._fetch.failed
        fenced = [at for at, (each, _) in self._fetch.partitions.items() if each.is_fenced and at not in failed]
        for at in fenced:
            failed[at] = Errors.NOT_LEADER_OR_FOLLOWER.exception()
        return bool(fenced)

    def _lock_partitions(self) -> dict[TopicIdPartition, int]:
        """The fetch offsets of the partitions from which records may be acquired, whose fetch locks this has now."""
        locked = {}
        for at, (share_partition, _) in self._fetch.partitions.items():
            if at in self._fetch.failed or not share_partition.maybe_acquire_fetch_lock(self):
                continue
            if share_partition.can_acquire_records():
                locked[at] = share_partition.next_fetch_offset()
            else:
                share_partition.release_fetch_lock(self)
        return locked

    def _unlock(self, locked: Iterable[TopicIdPartition]) -> None:
        for at in locked:
            self._fetch.partitions[at].share_partition.release_fetch_lock(self)

    def _position(self, at: TopicIdPartition, offset: int) -> LogOffsetMetadata | None:
        return self._fetch.partitions[at].share_partition.position_of(offset)

    def _available_bytes(self, locked: Mapping[TopicIdPartition, int]) -> int:
        """How much could be read; ``min_bytes`` if there is no point in adding it up."""
        limit = self._fetch.params.max_bytes // len(locked)
        total = 0
        for at, offset in locked.items():
            share_partition, topic_partition = self._fetch.partitions[at]
            position = share_partition.position_of(offset)
            try:
                end = self._end_offset(topic_partition)
            except ApiError as failure:
                self._fetch.failed[at] = failure
                self._on_failure(share_partition, failure)
                continue
            if position is None or position.message_offset == end.message_offset:
                continue
            if position.message_offset > end.message_offset:
                if self._fetch.params.committed_only:
                    continue  # a transaction is open
                return self._fetch.params.min_bytes
            if end.message_offset_only or position.on_older_segment(end) or end.on_older_segment(position):
                return self._fetch.params.min_bytes
            total += min(end.position_diff(position), limit)
        return total

    def _end_offset(self, topic_partition: TopicPartition) -> LogOffsetMetadata:
        leader = self._logs.get_leader_partition(topic_partition).leader_replica_if_local
        if leader is None:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception(f"this broker does not lead {topic_partition}")
        return leader.last_stable_offset if self._fetch.params.committed_only else leader.high_watermark

    # ── read and acquire ──────────────────────────────────────────────────────────────────────────────────────────

    def on_complete(self) -> None:
        """Acquire records and respond; called exactly once."""
        fetch = self._fetch
        if fetch.params.when_client_leaves is not None:
            fetch.params.when_client_leaves(None)
        if self._client_has_left:
            fetch.respond({})
            return
        locked = self._locked
        if not locked:
            locked = self._lock_partitions()
            self._metrics.locked()
        self._metrics.completed(len(locked), len(fetch.partitions))
        data: dict[TopicIdPartition, SharePartitionData] = {}
        try:
            others = {at: offset for at, offset in locked.items() if at not in self._read}
            data = self._acquire(locked, self._read | self._read_logs(others, len(locked)))
        except Exception:
            logger.exception("Error processing delayed share fetch request")
            data = dict.fromkeys(locked, SharePartitionData(Errors.UNKNOWN_SERVER_ERROR))
        finally:
            self._unlock(locked)
        failed = {at: SharePartitionData(each.error, str(each)) for at, each in dict(fetch.failed).items()}
        fetch.respond(data | failed)
        self._released([fetch.partitions[at].share_partition for at in locked])

    def _read_logs(self, offsets: Mapping[TopicIdPartition, int], partitions: int) -> Reads:
        """Read up to an equal share of ``max_bytes`` of each partition."""
        wanted = {at: offset for at, offset in offsets.items() if at not in self._fetch.failed}
        if not wanted:
            return {}
        limit = max(1, self._fetch.params.max_bytes // partitions)
        asked = [
            (self._fetch.partitions[at].topic_partition, FetchPartition(offset, limit)) for at, offset in wanted.items()
        ]
        results = self._logs.read_from_local_logs(self._fetch.params, asked)
        return {at: result for at, (_, result) in zip(wanted, results, strict=True)}

    def _acquire(
        self, offsets: Mapping[TopicIdPartition, int], read: Reads
    ) -> dict[TopicIdPartition, SharePartitionData]:
        left = self._fetch.max_records
        data = {}
        for at in offsets:
            if at in read:
                data[at] = self._acquire_of(at, offsets[at], read[at], left)
                left -= sum(each.size for each in data[at].acquired)
        return data

    def _acquire_of(
        self, at: TopicIdPartition, offset: int, result: LogReadResult, max_records: int
    ) -> SharePartitionData:
        share_partition, topic_partition = self._fetch.partitions[at]
        if result.error is Errors.OFFSET_OUT_OF_RANGE:
            return self._begin_later(share_partition, topic_partition)
        if result.error is not Errors.NONE:
            self._on_failure(share_partition, result.error.exception())
            return SharePartitionData(result.error, result.error.message)
        batches = fetched_batches(result.records, offset)
        if not batches:
            return SharePartitionData()
        aborted = aborted_of(result.records, result.aborted_transactions)
        found = ReadBatches(offset, batches, aborted)
        acquired = share_partition.acquire(self._fetch.member_id, found, max_records, self._fetch.batch_size)
        records = slice_of_acquired(result.records, batches, acquired)
        return SharePartitionData(records=records, acquired=tuple(acquired))

    def _begin_later(self, share_partition: SharePartition, topic_partition: TopicPartition) -> SharePartitionData:
        """The log has lost records that were to be delivered: nothing now, and the next fetch begins later."""
        try:
            share_partition.update_log_start_offset(self._log_start_offset(topic_partition))
        except ApiError as failure:
            self._on_failure(share_partition, failure)
            return SharePartitionData(failure.error, str(failure))
        return SharePartitionData()
