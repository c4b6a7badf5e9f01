"""Collects records in batches by partition until the sender takes them.

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
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.batch_split import split
from kafka_lite.producer.buffer_pool import BufferPool, ProducerClosedError
from kafka_lite.producer.future_record_metadata import FutureRecordMetadata
from kafka_lite.producer.incomplete_batches import IncompleteBatches
from kafka_lite.producer.producer_batch import BatchListener, Callback, ProducerBatch
from kafka_lite.producer.records_buffer import Headers, RecordsBuffer
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record import CURRENT_MAGIC

logger = logging.getLogger(__name__)

RecordFields = tuple[int, bytes | None, bytes | None, Headers, Callback | None]
"""A record to append: timestamp (ms), key, value, headers, callback. A plain tuple, since every record needs one."""


class RecordAppendResult:
    """The result of ``append``."""

    __slots__ = ("batch_is_full", "future", "new_batch_created")

    def __init__(self, future: FutureRecordMetadata, batch_is_full: bool, new_batch_created: bool) -> None:
        self.future = future
        self.batch_is_full = batch_is_full
        """Whether a batch is now ready to be sent, regardless of ``linger.ms``."""
        self.new_batch_created = new_batch_created


@dataclass
class ReadyCheckResult:
    """The brokers that have batches to be sent."""

    ready_nodes: set[Node] = field(default_factory=set)
    next_ready_check_delay_ms: float = math.inf
    """When to check again at the latest, ms."""
    unknown_leader_topics: set[str] = field(default_factory=set)


class RecordAccumulator:
    """A queue of batches for each partition. They enter at the right and leave at the left, where retries return.

    ::

        append ─▶  t-0  [ batch ] [ batch ] [ filling ]
                   t-1  [ filling ]                         ready ─▶ which leaders ─▶ drain ─▶ one list for each
                   t-2  [ retry ] [ filling ]

    Any thread appends. The sender's thread calls ``ready``, ``drain``, ``reenqueue`` and ``expired_batches``. One lock
    guards the queues. It is held while a record is copied, but never while waiting for memory.
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
        self._incomplete = IncompleteBatches(time)
        self._muted: set[TopicPartition] = set()
        self._drain_index: dict[int, int] = {}
        self._flushes_in_progress = 0
        self._appends_in_progress = 0
        self._closed = False
        self._sender: threading.Thread | None = None

    def taken_by(self, sender: threading.Thread) -> None:
        """Set the thread that drains and completes batches: it must not block on batch completion or buffer memory."""
        self._sender = self._pool.freed_by = sender

    # ── appending ─────────────────────────────────────────────────────────────────────────────────────────────────

    def append(
        self, topic_partition: TopicPartition, fields: RecordFields, max_time_to_block_ms: float
    ) -> RecordAppendResult:
        """Add a record to the last batch of its partition, or start a new one.

        Raises BufferExhaustedError if there is no memory for ``max_time_to_block_ms``, ProducerClosedError.
        """
        with self._lock:
            result = self._try_append(topic_partition, fields)
            if result is not None:
                return result
            self._appends_in_progress += 1
        try:
            return self._append_to_new_batch(topic_partition, fields, max_time_to_block_ms)
        finally:
            with self._lock:
                self._appends_in_progress -= 1

    def append_to_last_batch(self, topic_partition: TopicPartition, fields: RecordFields) -> RecordAppendResult | None:
        """Add a record to the last batch of its partition; None if there is none, or it is full.

        For records without a fixed partition: if a new batch is needed, the partitioner decides where.
        """
        with self._lock:
            return self._try_append(topic_partition, fields)

    def append_for(
        self,
        listener: BatchListener,
        topic_partition: TopicPartition,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
    ) -> bool:
        """Add a record without a future to the last batch of its partition; false if there is none with room for it.

        The sender is not told of a batch that is full now: the next record begins another one, or ``linger.ms`` ends.
        """
        with self._lock:
            queue = self._batches.get(topic_partition)
            if self._closed or not queue:
                return False
            return queue[-1].try_append_for(listener, timestamp, key, value)

    def _append_to_new_batch(
        self, topic_partition: TopicPartition, fields: RecordFields, max_time_to_block_ms: float
    ) -> RecordAppendResult:
        """Start a new batch with the record, unless another thread has started one with room for it.

        Waits for memory without the lock, for up to ``max_time_to_block_ms``, and returns it if it is not needed.
        """
        timestamp, key, value, headers, callback = fields
        magic = self._max_usable_magic()
        size = max(self._batch_size_bytes, RecordsBuffer.estimate_size(magic, key, value, headers))
        buffer = self._pool.allocate(size, max_time_to_block_ms)
        with self._lock:
            try:
                # Another thread may have started a batch while this one waited for memory.
                result = self._try_append(topic_partition, fields)
                if result is None:
                    batch = self._new_batch(topic_partition, buffer, magic)
                    future = batch.try_append(timestamp, key, value, headers, callback)
            except BaseException:
                self._pool.deallocate(buffer)
                raise
            if result is not None:
                self._pool.deallocate(buffer)
                return result
            assert future is not None, "the buffer was allocated for this record"
            queue = self._batches.setdefault(topic_partition, deque())
            queue.append(batch)
            self._incomplete.add(batch)
            return RecordAppendResult(future, len(queue) > 1 or batch.is_full, True)

    def _try_append(self, topic_partition: TopicPartition, fields: RecordFields) -> RecordAppendResult | None:
        """Append to the partition's last batch, with the lock held; None if there is none, or it has no room.

        Raises ProducerClosedError.
        """
        if self._closed:
            raise ProducerClosedError("Cannot send after the producer is closed")
        queue = self._batches.get(topic_partition)
        if not queue:
            return None
        last = queue[-1]
        timestamp, key, value, headers, callback = fields
        future = last.try_append(timestamp, key, value, headers, callback)
        # The sender already knows of full batches before the last one, since the last one was started.
        return None if future is None else RecordAppendResult(future, last.is_full, False)

    def _new_batch(self, topic_partition: TopicPartition, buffer: bytearray, magic: int) -> ProducerBatch:
        now_ms = self._time.hi_res_ms()
        batch = ProducerBatch(topic_partition, buffer, magic, self._compression, now_ms, self._compression_level)
        batch.result.ended_by = self._sender
        return batch

    # ── which brokers are ready ───────────────────────────────────────────────────────────────────────────────────

    def ready(self, cluster: Cluster, now_ms: float) -> ReadyCheckResult:
        """The brokers that lead partitions with batches to be sent.

        A batch is ready if it is full or old enough (``linger.ms``, or the backoff of a retry). Every batch is ready
        while memory is exhausted, a flush is in progress, a transaction is about to end, or the producer is closing.
        """
        result = ReadyCheckResult()
        with self._lock:
            exhausted = self._pool.queued > 0
            completing = self._transactions is not None and self._transactions.is_completing
            hurry = exhausted or self._closed or self._flushes_in_progress > 0 or completing
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
        """Add the leader to ``result`` if the queue's first batch is ready, or else lower its delay until a check."""
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
        """Whether any batch is queued."""
        with self._lock:
            return any(self._batches.values())

    # ── draining ──────────────────────────────────────────────────────────────────────────────────────────────────

    def drain(
        self, cluster: Cluster, nodes: Iterable[Node], max_size_bytes: int, now_ms: float
    ) -> dict[int, list[ProducerBatch]]:
        """For each broker, at most one closed batch of each partition that it leads, up to ``max_size_bytes`` in total.

        A larger batch is drained alone. The first partition changes from call to call, so that none starves.
        """
        return {node.id: self._drain_node(cluster, node, max_size_bytes, now_ms) for node in nodes}

    def _drain_node(self, cluster: Cluster, node: Node, max_size_bytes: int, now_ms: float) -> list[ProducerBatch]:
        """Batches for one node: at most one per partition, up to ``max_size_bytes`` in total, or a single larger one.

        Starts with the partition at which the last call ended, so that all get their turn.
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
        """Encode and compress, without the lock, since only this thread has the batch; false if that failed."""
        try:
            batch.close()
        except Exception as error:
            logger.exception("Failed to encode a batch for %s", batch.topic_partition)
            if self._transactions is not None:
                self._transactions.failed(batch, error, broker_has_refused=True)
            batch.abort(error)
            self.deallocate(batch)
            return False
        return True

    def _may_drain(self, batch: ProducerBatch, now_ms: float) -> bool:
        if batch.topic_partition in self._muted or self._is_backing_off(batch, now_ms):
            return False
        return self._transactions is None or self._transactions.may_send(batch)

    def mute_partition(self, partition: TopicPartition) -> None:
        """Do not drain the partition: a batch is in flight, and the order must be kept."""
        self._muted.add(partition)

    def unmute_partition(self, partition: TopicPartition) -> None:
        """Drain the partition again."""
        self._muted.discard(partition)

    # ── retries ───────────────────────────────────────────────────────────────────────────────────────────────────

    def reenqueue(self, batch: ProducerBatch, now_ms: float) -> None:
        """Put back a batch for a retry: at the left, or by sequence number if it has one."""
        batch.reenqueued(now_ms)
        with self._lock:
            queue = self._batches.setdefault(batch.topic_partition, deque())
            self._insert(queue, batch)

    def _insert(self, queue: deque[ProducerBatch], batch: ProducerBatch) -> None:
        """Insert a retried batch before all new ones, in order of sequence numbers."""
        place = 0
        if batch.has_sequence and self._transactions is not None:
            order = self._transactions.sequences.order_of
            while place < len(queue) and queue[place].has_sequence and order(queue[place]) < order(batch):
                place += 1
        queue.insert(place, batch)

    def split_and_reenqueue(self, batch: ProducerBatch) -> int:
        """Split a batch that the broker found too large, which completes it; returns the number of parts.

        Parts are filled up to ``batch.size``, or up to half of the refused size if that was not larger.
        """
        limit = max(self._batch_size_bytes, 1)
        if batch.size_in_bytes <= limit:
            limit = max(1, batch.size_in_bytes // 2)
        parts = split(batch, limit, lambda buffer: self._new_part(batch, buffer))
        if self._transactions is not None:
            self._transactions.sequences.split(batch, parts)
        with self._lock:
            queue = self._batches.setdefault(batch.topic_partition, deque())
            for part in reversed(parts):
                self._insert(queue, part)  # after a batch with a smaller number that waits for its retry
            self._incomplete.split(batch, parts)
        self._pool.exchange(batch.buffer, [part.buffer for part in parts])
        batch.result.done()  # threads that wait for it now wait for the parts, which must be registered by now
        return len(parts)

    def _new_part(self, batch: ProducerBatch, buffer: bytearray) -> ProducerBatch:
        """Not from the pool, because the sender must not wait: the memory of the batch is exchanged for its parts'."""
        tp, created_ms = batch.topic_partition, batch.created_ms
        part = ProducerBatch(tp, buffer, batch.magic, self._compression, created_ms, self._compression_level)
        part.result.ended_by = self._sender
        return part

    def expired_batches(self, now_ms: float) -> list[ProducerBatch]:
        """Remove and return batches whose ``delivery.timeout.ms`` has expired."""
        expired = []
        with self._lock:
            for queue in self._batches.values():
                while queue and queue[0].has_reached_delivery_timeout(self._delivery_timeout_ms, now_ms):
                    expired.append(queue.popleft())
        return expired

    def next_expiry_ms(self, now_ms: float) -> float:
        """The time until the first queued batch expires, ms, at least 0; infinity without batches."""
        with self._lock:
            oldest = min((queue[0].created_ms for queue in self._batches.values() if queue), default=math.inf)
        return max(0.0, oldest + self._delivery_timeout_ms - now_ms)

    # ── completing batches, flush, close ──────────────────────────────────────────────────────────────────────────

    def deallocate(self, batch: ProducerBatch) -> None:
        """Release the memory of a completed batch."""
        if self._incomplete.remove(batch):
            self._pool.deallocate(batch.buffer)

    def begin_flush(self) -> None:
        """Make all batches ready until ``await_flush_completion`` returns."""
        with self._lock:
            self._flushes_in_progress += 1

    def await_flush_completion(self, timeout_ms: float | None = None) -> bool:
        """Wait until all records that were appended before have completed; false after ``timeout_ms``."""
        try:
            return self._incomplete.await_all(timeout_ms)
        finally:
            with self._lock:
                self._flushes_in_progress -= 1

    @property
    def has_incomplete(self) -> bool:
        """Whether any record has not completed."""
        return bool(self._incomplete)

    def take_undrained(self) -> list[ProducerBatch]:
        """Remove and return all queued batches."""
        with self._lock:
            taken = [batch for queue in self._batches.values() for batch in queue]
            for queue in self._batches.values():
                queue.clear()
        return taken

    def take_unnumbered(self) -> list[ProducerBatch]:
        """Remove and return the queued batches that were never sent. The others are retried."""
        taken = []
        with self._lock:
            for queue in self._batches.values():
                taken += [batch for batch in queue if not batch.has_sequence]
                retried = [batch for batch in queue if batch.has_sequence]
                queue.clear()
                queue.extend(retried)
        return taken

    def abort_incomplete_batches(self, error: Exception) -> None:
        """Fail all batches with ``error``, including those that other threads are appending to."""
        self.close()
        self._pool.close()
        self._abort_batches(error)
        while self._has_appends_in_progress:
            self._time.sleep(1)
            self._abort_batches(error)
        self._abort_batches(error)  # those that were appended just before the last check

    @property
    def _has_appends_in_progress(self) -> bool:
        with self._lock:
            return self._appends_in_progress > 0

    def _abort_batches(self, error: Exception) -> None:
        with self._lock:
            aborted = self._incomplete.all()
            for queue in self._batches.values():
                queue.clear()
        for batch in aborted:
            batch.abort(error)
            self.deallocate(batch)

    def close(self) -> None:
        """Accept no more records."""
        with self._lock:
            self._closed = True
