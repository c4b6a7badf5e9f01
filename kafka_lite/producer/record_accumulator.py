"""Records wait here, gathered into batches by partition, until the sender takes them.

Kafka 0.10.2: clients/.../producer/internals/RecordAccumulator.java (RecordAppendResult, ReadyCheckResult)
· book 2.1.1, 2.1.2
"""

from __future__ import annotations

import logging
import math
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kafka_lite.clients.cluster import Cluster, Node
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.buffer_pool import BufferPool, ProducerClosedError
from kafka_lite.producer.future_record_metadata import FutureRecordMetadata
from kafka_lite.producer.producer_batch import Callback, ProducerBatch
from kafka_lite.producer.records_buffer import Headers, RecordsBuffer
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record import CURRENT_MAGIC
from kafka_lite.record.records import batches

logger = logging.getLogger(__name__)


class RecordAppendResult:
    """What ``append`` did."""

    __slots__ = ("batch_is_full", "future", "new_batch_created")

    def __init__(self, future: FutureRecordMetadata, batch_is_full: bool, new_batch_created: bool) -> None:
        self.future = future
        self.batch_is_full = batch_is_full
        """Whether by this record there is something to send whatever ``linger.ms`` says."""
        self.new_batch_created = new_batch_created


@dataclass
class ReadyCheckResult:
    """Which brokers can be sent to."""

    ready_nodes: set[Node] = field(default_factory=set)
    next_ready_check_delay_ms: float = math.inf
    """When to look again, if nothing happens before."""
    unknown_leader_topics: set[str] = field(default_factory=set)


class RecordAccumulator:
    """A queue of batches for each partition: in at the right, out at the left, retried ones at the left again.

    ::

        append ─▶  t-0  [ batch ] [ batch ] [ filling ]
                   t-1  [ filling ]                         ready ─▶ which leaders ─▶ drain ─▶ one list for each
                   t-2  [ retry ] [ filling ]

    Any thread appends; the sender's thread calls ``ready``, ``drain``, ``reenqueue`` and ``expired_batches``. One lock
    guards the queues. It is held for the time of copying a record, never while waiting for memory.
    """

    def __init__(
        self,
        batch_size_bytes: int,
        compression: CompressionType,
        linger_ms: float,
        retry_backoff_ms: float,
        delivery_timeout_ms: float,
        buffer_pool: BufferPool,
        *,
        compression_level: int | None = None,
        max_usable_magic: Callable[[], int] = lambda: CURRENT_MAGIC,
        transaction_manager: TransactionManager | None = None,
        time: Time = SYSTEM_TIME,
    ) -> None:
        self._batch_size_bytes = max(1, batch_size_bytes)
        self._compression = compression
        self._compression_level = compression_level
        self._linger_ms = linger_ms
        self._retry_backoff_ms = retry_backoff_ms
        self._delivery_timeout_ms = delivery_timeout_ms
        self._pool = buffer_pool
        self._max_usable_magic = max_usable_magic
        self._transactions = transaction_manager
        self._time = time
        self._lock = threading.Lock()
        self._batches: dict[TopicPartition, deque[ProducerBatch]] = {}
        self._incomplete: dict[ProducerBatch, None] = {}
        self._muted: set[TopicPartition] = set()
        self._drain_index: dict[int, int] = {}
        self._flushes_in_progress = 0
        self._appends_in_progress = 0
        self._closed = False
        self._sender: threading.Thread | None = None

    def taken_by(self, sender: threading.Thread) -> None:
        """This thread takes the batches and ends them: it must neither wait for their ends nor for their memory."""
        self._sender = self._pool.freed_by = sender

    # ── Appending ─────────────────────────────────────────────────────────────────────────────────────────────────

    def append(
        self,
        topic_partition: TopicPartition,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        callback: Callback | None,
        max_time_to_block_ms: float,
    ) -> RecordAppendResult:
        """Add a record to the last batch of its partition, or begin another.

        Raises BufferExhaustedError when there is no memory for ``max_time_to_block_ms``, ProducerClosedError.
        """
        with self._lock:
            result = self._try_append(topic_partition, timestamp, key, value, headers, callback)
            if result is not None:
                return result
            self._appends_in_progress += 1
        try:
            return self._append_to_new_batch(
                topic_partition, timestamp, key, value, headers, callback, max_time_to_block_ms
            )
        finally:
            with self._lock:
                self._appends_in_progress -= 1

    def append_to_last_batch(
        self,
        topic_partition: TopicPartition,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        callback: Callback | None,
    ) -> RecordAppendResult | None:
        """Add a record to the last batch of its partition; None when there is none, or it is full.

        For records that may go to any partition: where another batch is begun is for the partitioner to say.
        """
        with self._lock:
            return self._try_append(topic_partition, timestamp, key, value, headers, callback)

    def _append_to_new_batch(
        self,
        topic_partition: TopicPartition,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        callback: Callback | None,
        max_time_to_block_ms: float,
    ) -> RecordAppendResult:
        """Begin another batch with the record, unless a thread that was quicker has begun one with room for it.

        Memory is waited for without the lock, up to ``max_time_to_block_ms``, and given back when it is not needed.
        """
        magic = self._max_usable_magic()
        size = max(self._batch_size_bytes, RecordsBuffer.estimate_size(magic, key, value, headers))
        buffer = self._pool.allocate(size, max_time_to_block_ms)
        with self._lock:
            try:
                # Others may have begun a batch while this thread waited for memory.
                result = self._try_append(topic_partition, timestamp, key, value, headers, callback)
                if result is None:
                    batch = self._new_batch(topic_partition, buffer, magic)
                    future = batch.try_append(timestamp, key, value, headers, callback)
            except BaseException:
                self._pool.deallocate(buffer)
                raise
            if result is not None:
                self._pool.deallocate(buffer)
                return result
            assert future is not None, "the buffer was made for it"
            queue = self._batches.setdefault(topic_partition, deque())
            queue.append(batch)
            self._incomplete[batch] = None
            return RecordAppendResult(future, len(queue) > 1 or batch.is_full, True)

    def _try_append(
        self,
        topic_partition: TopicPartition,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        callback: Callback | None,
    ) -> RecordAppendResult | None:
        """Append to the partition's last batch, with the lock held; None when there is none, or no room in it.

        Raises ProducerClosedError.
        """
        if self._closed:
            raise ProducerClosedError("Cannot send after the producer is closed")
        queue = self._batches.get(topic_partition)
        if not queue:
            return None
        last = queue[-1]
        future = last.try_append(timestamp, key, value, headers, callback)
        # Of full batches before the last one the sender was told when the last one was begun.
        return None if future is None else RecordAppendResult(future, last.is_full, False)

    def _new_batch(self, topic_partition: TopicPartition, buffer: bytearray, magic: int) -> ProducerBatch:
        now_ms = self._time.hi_res_ms()
        batch = ProducerBatch(topic_partition, buffer, magic, self._compression, now_ms, self._compression_level)
        batch.result.ended_by = self._sender
        return batch

    # ── Which brokers are ready ───────────────────────────────────────────────────────────────────────────────────

    def ready(self, cluster: Cluster, now_ms: float) -> ReadyCheckResult:
        """The brokers that lead a partition with something to send.

        That is a batch which is full, or old enough (``linger.ms``, or the backoff of a retry), or any batch while
        memory is scarce, a flush waits, or the producer closes.
        """
        result = ReadyCheckResult()
        with self._lock:
            exhausted = self._pool.queued > 0
            hurry = exhausted or self._closed or self._flushes_in_progress > 0
            for partition, queue in self._batches.items():
                if not queue:
                    continue
                leader = cluster.leader_for(partition)
                if leader is None:
                    result.unknown_leader_topics.add(partition.topic)
                elif leader not in result.ready_nodes and partition not in self._muted:
                    self._check(queue, leader, hurry, now_ms, result)
        return result

    def _check(
        self, queue: deque[ProducerBatch], leader: Node, hurry: bool, now_ms: float, result: ReadyCheckResult
    ) -> None:
        """Note in ``result`` that the leader can be sent the queue's first batch, or in how many ms to look again."""
        batch = queue[0]
        backing_off = self._is_backing_off(batch, now_ms)
        time_to_wait_ms = self._retry_backoff_ms if backing_off else self._linger_ms
        waited_ms = batch.waited_ms(now_ms)
        full = len(queue) > 1 or batch.is_full
        if not backing_off and (full or hurry or waited_ms >= time_to_wait_ms):
            result.ready_nodes.add(leader)
        else:
            left_ms = max(time_to_wait_ms - waited_ms, 0)
            result.next_ready_check_delay_ms = min(left_ms, result.next_ready_check_delay_ms)

    def _is_backing_off(self, batch: ProducerBatch, now_ms: float) -> bool:
        return batch.in_retry and batch.waited_ms(now_ms) < self._retry_backoff_ms

    @property
    def has_undrained(self) -> bool:
        """Whether a batch waits here."""
        with self._lock:
            return any(self._batches.values())

    # ── Draining ──────────────────────────────────────────────────────────────────────────────────────────────────

    def drain(
        self, cluster: Cluster, nodes: Iterable[Node], max_size_bytes: int, now_ms: float
    ) -> dict[int, list[ProducerBatch]]:
        """For each broker at most one batch of each partition that it leads, ``max_size_bytes`` in all; closed.

        A batch that alone is larger goes alone. Who comes first changes from call to call, lest a partition starve.
        """
        return {node.id: self._drain_node(cluster, node, max_size_bytes, now_ms) for node in nodes}

    def _drain_node(self, cluster: Cluster, node: Node, max_size_bytes: int, now_ms: float) -> list[ProducerBatch]:
        """Batches for one node, one of each partition at most, of ``max_size_bytes`` in all (or one that is larger).

        Begins with the partition at which the last call ended, so that all have their turn.
        """
        partitions = cluster.partitions_for_node(node.id)
        ready: list[ProducerBatch] = []
        size = 0
        start = self._drain_index.get(node.id, 0)
        for step in range(len(partitions)):
            index = (start + step) % len(partitions)
            self._drain_index[node.id] = index
            with self._lock:
                queue = self._batches.get(partitions[index].topic_partition)
                batch = queue[0] if queue and self._may_drain(queue[0], now_ms) else None
                is_room = batch is None or not ready or size + batch.size_in_bytes <= max_size_bytes
                if queue and batch is not None and is_room:
                    queue.popleft()
                    if self._transactions is not None:
                        self._transactions.number(batch)
            if not is_room:
                break
            if batch is not None and self._close(batch):
                batch.in_flight = True
                size += batch.size_in_bytes
                ready.append(batch)
        return ready

    def _close(self, batch: ProducerBatch) -> bool:
        """Encode and compress, outside of the lock, for nobody else has the batch now; false when that failed."""
        try:
            batch.close()
        except Exception as error:
            logger.exception("Failed to encode a batch for %s", batch.topic_partition)
            if self._transactions is not None:
                self._transactions.failed(batch, broker_has_refused=True)
            batch.abort(error)
            self.deallocate(batch)
            return False
        return True

    def _may_drain(self, batch: ProducerBatch, now_ms: float) -> bool:
        if batch.topic_partition in self._muted or self._is_backing_off(batch, now_ms):
            return False
        return self._transactions is None or self._transactions.may_send(batch)

    def mute_partition(self, partition: TopicPartition) -> None:
        """Drain nothing of the partition: a batch is in flight, and the order must be kept."""
        self._muted.add(partition)

    def unmute_partition(self, partition: TopicPartition) -> None:
        """Go on with the partition."""
        self._muted.discard(partition)

    # ── Retries ───────────────────────────────────────────────────────────────────────────────────────────────────

    def reenqueue(self, batch: ProducerBatch, now_ms: float) -> None:
        """Put back a batch whose attempt failed: to the left, or by its number if there are numbers."""
        batch.reenqueued(now_ms)
        with self._lock:
            queue = self._batches.setdefault(batch.topic_partition, deque())
            self._insert(queue, batch)

    def _insert(self, queue: deque[ProducerBatch], batch: ProducerBatch) -> None:
        """Retried batches are the first of the queue, in the order of their numbers."""
        place = 0
        if batch.has_sequence and self._transactions is not None:
            order = self._transactions.order_of
            while place < len(queue) and queue[place].has_sequence and order(queue[place]) < order(batch):
                place += 1
        queue.insert(place, batch)

    def split_and_reenqueue(self, batch: ProducerBatch) -> int:
        """Make smaller batches of one that the broker found too large, and that ends thereby; returns how many.

        Each but the last is filled up to half of the size that was refused, at least ``batch.size``.
        """
        limit = max(self._batch_size_bytes, 1)
        if batch.size_in_bytes <= limit:
            limit = max(1, batch.size_in_bytes // 2)
        parts = self._split(batch, limit)
        if self._transactions is not None:
            self._transactions.split(batch, parts)
        with self._lock:
            queue = self._batches.setdefault(batch.topic_partition, deque())
            for part in reversed(parts):
                self._incomplete[part] = None
                self._insert(queue, part)  # behind a batch of a smaller number that waits for its retry
            del self._incomplete[batch]
        self._pool.exchange(batch.buffer, [part.buffer for part in parts])
        batch.result.done()  # who waits for it goes on to the parts, which must be known by now
        return len(parts)

    def _split(self, batch: ProducerBatch, limit: int) -> list[ProducerBatch]:
        parts: list[ProducerBatch] = []
        records = [record for each in batches(batch.records) for record in each.records()]
        for record, (callback, old_future) in zip(records, batch.take_thunks(), strict=True):
            headers = [(header.key, header.value) for header in record.headers]
            fields = (record.timestamp, record.key, record.value, headers)
            future = parts[-1].try_append(*fields, callback) if parts else None
            if future is None:
                size = max(limit, RecordsBuffer.estimate_size(batch.magic, record.key, record.value, headers))
                # Not from the pool: the sender must not wait. The memory of the whole will be counted for its parts.
                part = ProducerBatch(
                    batch.topic_partition, bytearray(size), batch.magic, self._compression, batch.created_ms,
                    self._compression_level,
                )  # fmt: skip
                part.is_part = True
                part.result.ended_by = self._sender
                parts.append(part)
                future = part.try_append(*fields, callback)
            assert future is not None
            old_future.chain(future)
        for part in parts:
            part.trim()  # were more appended, the number of the next batch would be taken already
        return parts

    def expired_batches(self, now_ms: float) -> list[ProducerBatch]:
        """Take out the batches that have waited longer than ``delivery.timeout.ms``."""
        expired = []
        with self._lock:
            for queue in self._batches.values():
                while queue and queue[0].has_reached_delivery_timeout(self._delivery_timeout_ms, now_ms):
                    expired.append(queue.popleft())
        return expired

    def next_expiry_ms(self, now_ms: float) -> float:
        """When the first batch that waits here expires, at least 0; infinity when none waits."""
        with self._lock:
            oldest = min((queue[0].created_ms for queue in self._batches.values() if queue), default=math.inf)
        return max(0.0, oldest + self._delivery_timeout_ms - now_ms)

    # ── The end of a batch, of many, of all ───────────────────────────────────────────────────────────────────────

    def deallocate(self, batch: ProducerBatch) -> None:
        """A batch has ended: its memory is free again."""
        with self._lock:
            known = self._incomplete.pop(batch, batch) is None
        if known:
            self._pool.deallocate(batch.buffer)

    def begin_flush(self) -> None:
        """From now on everything is ready, until ``await_flush_completion``."""
        with self._lock:
            self._flushes_in_progress += 1

    def await_flush_completion(self, timeout_ms: float | None = None) -> bool:
        """Wait until every record that was here at the beginning has ended; false after ``timeout_ms``."""
        deadline_ms = math.inf if timeout_ms is None else self._time.hi_res_ms() + timeout_ms
        try:
            with self._lock:
                batches_to_await = list(self._incomplete)
            for batch in batches_to_await:
                left_ms = deadline_ms - self._time.hi_res_ms()
                if not batch.result.wait(None if left_ms == math.inf else max(0.0, left_ms)):
                    return False
            were_split = any(not batch.is_done for batch in batches_to_await)
            return not were_split or self._await_parts(deadline_ms)
        finally:
            with self._lock:
                self._flushes_in_progress -= 1

    def _await_parts(self, deadline_ms: float) -> bool:
        """Wait for the parts of batches that were split."""
        while True:
            with self._lock:
                parts = [batch for batch in self._incomplete if batch.is_part]
            if not parts:
                return True
            left_ms = deadline_ms - self._time.hi_res_ms()
            if not parts[0].result.wait(None if left_ms == math.inf else max(0.0, left_ms)):
                return False

    @property
    def has_incomplete(self) -> bool:
        """Whether a record has not ended."""
        with self._lock:
            return bool(self._incomplete)

    def take_undrained(self) -> list[ProducerBatch]:
        """Take out the batches that wait here."""
        with self._lock:
            taken = [batch for queue in self._batches.values() for batch in queue]
            for queue in self._batches.values():
                queue.clear()
        return taken

    def abort_incomplete_batches(self, error: Exception) -> None:
        """End everything with ``error``, also what threads are about to append."""
        self.close()
        self._pool.close()
        self._abort_batches(error)
        while self._has_appends_in_progress:
            self._time.sleep(1)
            self._abort_batches(error)
        self._abort_batches(error)  # what was appended just before the last look

    @property
    def _has_appends_in_progress(self) -> bool:
        with self._lock:
            return self._appends_in_progress > 0

    def _abort_batches(self, error: Exception) -> None:
        with self._lock:
            aborted = list(self._incomplete)
            for queue in self._batches.values():
                queue.clear()
        for batch in aborted:
            batch.abort(error)
            self.deallocate(batch)

    def close(self) -> None:
        """Take no more records."""
        with self._lock:
            self._closed = True


def expired_error(batch: ProducerBatch, now_ms: float) -> Exception:
    """Why a batch was given up."""
    return Errors.REQUEST_TIMED_OUT.exception(
        f"Expiring {batch.record_count} record(s) for {batch.topic_partition}: "
        f"{now_ms - batch.created_ms:.0f} ms has passed since batch creation"
    )
