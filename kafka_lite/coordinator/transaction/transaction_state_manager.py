"""The transactional ids of this broker: cached in memory, and stored in ``__transaction_state``.

Kafka 0.11: core/.../coordinator/transaction/TransactionStateManager.scala · book 10.3
"""

from __future__ import annotations

import heapq
import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_names import TRANSACTION_STATE_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.common.utils import java_abs, java_string_hash
from kafka_lite.coordinator.group.group_loader import batches_of
from kafka_lite.coordinator.group.offsets_log import (
    COMMIT_POLL_MS,
    LOAD_RETRY_MS,
    AppendResult,
    OffsetsLog,
    uncommitted_end,
)
from kafka_lite.coordinator.transaction import transaction_log
from kafka_lite.coordinator.transaction.transaction_config import TransactionConfig
from kafka_lite.coordinator.transaction.transaction_metadata import TransactionMetadata, TxnTransitMetadata
from kafka_lite.coordinator.transaction.transaction_metrics import TransactionStateManagerMetrics
from kafka_lite.coordinator.transaction.transaction_state import FINISHED, PREPARED
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record_batch import RecordBatch

logger = logging.getLogger(__name__)

APPEND_ERRORS: Mapping[Errors, Errors] = {
    Errors.UNKNOWN_TOPIC_OR_PARTITION: Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.NOT_ENOUGH_REPLICAS: Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND: Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.REQUEST_TIMED_OUT: Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.NOT_LEADER_OR_FOLLOWER: Errors.NOT_COORDINATOR,
    Errors.KAFKA_STORAGE_ERROR: Errors.NOT_COORDINATOR,
    Errors.MESSAGE_TOO_LARGE: Errors.UNKNOWN_SERVER_ERROR,
    Errors.RECORD_LIST_TOO_LARGE: Errors.UNKNOWN_SERVER_ERROR,
}
"""The error that a producer gets when its transition cannot be appended, by the error of the append."""


MAX_TRANSACTIONAL_IDS: Final = 50_000
"""How many ids a broker keeps: each takes about two kilobytes, until it has not been used for a week by default."""
EVICTED_AT_ONCE: Final = 500


@dataclass
class TxnPartition:
    """The ids of one partition of ``__transaction_state`` that this broker leads."""

    coordinator_epoch: int
    """The leader epoch of the partition. Markers have it, too: a partition refuses those of an older coordinator."""

    transactions: dict[str, TransactionMetadata] = field(default_factory=dict)


PreparedCallback = Callable[[int, TransactionMetadata], None]
"""Takes a coordinator epoch, and a decided transaction whose markers may not be written yet."""


class TransactionStateManager:
    """The transactional ids whose partitions of ``__transaction_state`` this broker leads.

    ::

        transactional id ─ hash ─▶ partition of __transaction_state     its leader coordinates the id's transactions

        key                       value (null deletes it)
        transactional id     →    producer id, epoch, timeout, state, partitions of the transaction, times

    As with groups, the log is the state: the topic is compacted, and a new leader reads it from the beginning. Until
    that is done (``loading``) its ids are not available. ``append`` writes a transition with acks=all, and changes the
    cache once it is committed.

    An append belongs to the leadership in which it was prepared. If the partition moves away and back meanwhile, its
    record would follow newer ones of another coordinator. So ``append`` checks the coordinator epoch, and ``load``
    waits for appends that have passed this check.
    """

    def __init__(
        self,
        config: TransactionConfig,
        log: OffsetsLog,
        scheduler: Scheduler,
        time: Time,
        transaction_version: Callable[[], int] = lambda: 0,
    ) -> None:
        """``transaction_version`` returns the finalized level of the feature."""
        self.config = config
        self.transaction_version = transaction_version
        self.metrics = TransactionStateManagerMetrics()
        self._log = log
        self._scheduler = scheduler
        self._time = time
        # Guards the maps and insertions into a partition's transactions. Notified when an append ends.
        self._changed = threading.Condition(threading.Lock())
        self._loading: dict[int, int] = {}
        """Coordinator epochs of the partitions that are being read."""
        self._owned: dict[int, TxnPartition] = {}
        self._appending: Counter[int] = Counter()
        """How many threads are appending to each partition."""
        self._num_partitions = config.topic_num_partitions
        self._shutting_down = threading.Event()

    def startup(self, num_partitions: int) -> None:
        """Set the number of partitions of the topic, and start to remove expired ids periodically."""
        self._num_partitions = num_partitions
        self._scheduler.startup()
        interval_ms = self.config.remove_expired_interval_ms
        self._scheduler.schedule("transactionalId-expiration", self.remove_expired_ids, interval_ms, interval_ms)

    def shutdown(self) -> None:
        """Stop loading and expiring."""
        self._shutting_down.set()
        self._scheduler.shutdown()

    # ── the cache ─────────────────────────────────────────────────────────────────────────────────────────────────

    def partition_for(self, transactional_id: str) -> int:
        """The partition of ``__transaction_state`` that stores the id."""
        return java_abs(java_string_hash(transactional_id)) % self._num_partitions

    def topic_partition_for(self, transactional_id: str) -> TopicPartition:
        """The same, with the topic."""
        return TopicPartition(TRANSACTION_STATE_TOPIC_NAME, self.partition_for(transactional_id))

    def get(self, transactional_id: str) -> tuple[int, TransactionMetadata | None]:
        """The coordinator epoch, and the id's metadata if it is known.

        Raises NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS.
        """
        with self._changed:
            partition = self._partition_of(transactional_id)
            return partition.coordinator_epoch, partition.transactions.get(transactional_id)

    def peek(self, transactional_id: str) -> TransactionMetadata | None:
        """An id's metadata in the cache, or None. Takes no lock: for an onlooker whom nobody should notice."""
        owned = (partition.transactions.get(transactional_id) for partition in list(self._owned.values()))
        return next(filter(None, owned), None)

    def put_if_absent(self, metadata: TransactionMetadata) -> tuple[int, TransactionMetadata]:
        """Add an id unless it is there; returns the one in the cache.

        Raises like ``get``, and COORDINATOR_NOT_AVAILABLE if there are as many as may be and all have open
        transactions. Otherwise those that have not been used for longest make room.
        """
        self._make_room()
        with self._changed:
            partition = self._partition_of(metadata.transactional_id)
            return partition.coordinator_epoch, partition.transactions.setdefault(metadata.transactional_id, metadata)

    def _partition_of(self, transactional_id: str) -> TxnPartition:
        number = self.partition_for(transactional_id)
        if number in self._loading:
            raise Errors.COORDINATOR_LOAD_IN_PROGRESS.exception()
        partition = self._owned.get(number)
        if partition is None:
            raise Errors.NOT_COORDINATOR.exception()
        return partition

    def all_transactions(self) -> list[tuple[int, TransactionMetadata]]:
        """All ids of this broker, each with its coordinator epoch."""
        with self._changed:
            return [
                (owned.coordinator_epoch, each)
                for owned in self._owned.values()
                for each in owned.transactions.values()
            ]

    @property
    def is_loading(self) -> bool:
        """Whether any partition is being read."""
        return bool(self._loading)

    def timed_out(self) -> list[tuple[int, TransactionMetadata]]:
        """The transactions that have been open for too long, each with its coordinator epoch."""
        now_ms = self._time.milliseconds()
        found = []
        for coordinator_epoch, metadata in self.all_transactions():
            with metadata.lock:
                if metadata.is_timed_out(now_ms):
                    found.append((coordinator_epoch, metadata))
        return found

    # ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def append(
        self,
        metadata: TransactionMetadata,
        coordinator_epoch: int,
        transit: TxnTransitMetadata,
        respond: Callable[[Errors], None],
        *,
        stay_pending_after: Collection[Errors] = (),
    ) -> None:
        """Write a prepared transition. ``respond`` gets NONE once it is committed and in the cache.

        After an error the transition is not pending any more, unless ``stay_pending_after`` has the error: then the
        caller appends it again. Must be called without the metadata's lock: an append may complete other requests,
        which need locks of their own.
        """

        def on_appended(result: AppendResult) -> None:
            error = APPEND_ERRORS.get(result.error, result.error)
            with metadata.lock:
                if error is Errors.NONE and not self.is_current(metadata, coordinator_epoch):
                    error = Errors.NOT_COORDINATOR
                if error is Errors.NONE:
                    metadata.complete(transit)
                elif error not in stay_pending_after:
                    metadata.cancel()
            if error is not Errors.NONE:
                message = "The transition of %s to %s was not written: %s"
                logger.info(message, metadata.transactional_id, transit.state.title, result.error.name)
            respond(error)

        value = transaction_log.value_of(transit, self.transaction_version())
        self._append_record(metadata, coordinator_epoch, value, on_appended)

    def is_current(self, metadata: TransactionMetadata, coordinator_epoch: int) -> bool:
        """Whether this broker still coordinates the id, without an interruption since ``coordinator_epoch``."""
        with self._changed:
            return self._is_current(metadata, coordinator_epoch)

    def _is_current(self, metadata: TransactionMetadata, coordinator_epoch: int) -> bool:
        owned = self._owned.get(self.partition_for(metadata.transactional_id))
        return (
            owned is not None
            and owned.coordinator_epoch == coordinator_epoch
            and owned.transactions.get(metadata.transactional_id) is metadata
        )

    def _append_record(
        self,
        metadata: TransactionMetadata,
        coordinator_epoch: int,
        value: bytes | None,
        on_appended: Callable[[AppendResult], None],
    ) -> None:
        topic_partition = self.topic_partition_for(metadata.transactional_id)
        builder = MemoryRecordsBuilder()
        builder.append(self._time.milliseconds(), transaction_log.key_of(metadata.transactional_id), value)
        with self._changed:
            is_current = self._is_current(metadata, coordinator_epoch)
            self._appending[topic_partition.partition] += is_current
        if not is_current:
            on_appended(_NotAppended(Errors.NOT_COORDINATOR))
            return
        try:
            self._log.append_records(
                self.config.request_timeout_ms,
                -1,
                True,
                {topic_partition: bytearray(builder.build())},
                lambda results: on_appended(results[topic_partition]),
                AppendOrigin.COORDINATOR,
            )
        finally:
            with self._changed:
                self._appending[topic_partition.partition] -= 1
                self._changed.notify_all()

    # ── forgetting ────────────────────────────────────────────────────────────────────────────────────────────────

    def remove_expired_ids(self) -> None:
        """Delete ids without an open transaction that have not been used for ``transactional.id.expiration.ms``."""
        now_ms = self._time.milliseconds()
        for coordinator_epoch, metadata in self.all_transactions():
            with metadata.lock:
                if not self._is_expired(metadata, now_ms):
                    continue
                transit = metadata.prepare_dead(now_ms)
            self._remove(metadata, coordinator_epoch, transit)

    def _is_expired(self, metadata: TransactionMetadata, now_ms: int) -> bool:
        age_ms = now_ms - metadata.current.last_update_timestamp_ms
        return _is_unused(metadata) and age_ms >= self.config.transactional_id_expiration_ms

    def _make_room(self) -> None:
        """Have the ids expire early that have not been used for longest, if there are too many."""
        with self._changed:
            count = sum(len(owned.transactions) for owned in self._owned.values())
        if count < MAX_TRANSACTIONAL_IDS:
            return
        unused = [each for each in self.all_transactions() if _is_unused(each[1])]
        oldest = heapq.nsmallest(EVICTED_AT_ONCE, unused, key=lambda each: each[1].current.last_update_timestamp_ms)
        if not oldest:
            raise Errors.COORDINATOR_NOT_AVAILABLE.exception(f"{count} transactional ids have open transactions")
        logger.warning("There are %d transactional ids: the %d that were used longest ago expire", count, len(oldest))
        for coordinator_epoch, metadata in oldest:
            with metadata.lock:
                transit = metadata.prepare_dead(self._time.milliseconds()) if _is_unused(metadata) else None
            if transit is not None:
                self._remove(metadata, coordinator_epoch, transit)

    def _remove(self, metadata: TransactionMetadata, coordinator_epoch: int, transit: TxnTransitMetadata) -> None:
        def on_appended(result: AppendResult) -> None:
            with metadata.lock, self._changed:
                if result.error is not Errors.NONE or not self._is_current(metadata, coordinator_epoch):
                    logger.warning("Cannot remove %s: %s", metadata.transactional_id, result.error.name)
                    metadata.cancel()
                    return
                metadata.complete(transit)
                del self._owned[self.partition_for(metadata.transactional_id)].transactions[metadata.transactional_id]

        self._append_record(metadata, coordinator_epoch, None, on_appended)

    # ── partitions come and go ────────────────────────────────────────────────────────────────────────────────────

    def schedule_load(self, partition: int, coordinator_epoch: int, on_prepared: PreparedCallback) -> None:
        """Load the ids of a partition that this broker now leads, in the background.

        ``on_prepared`` is called for each decided transaction among them. If this broker has led the partition before,
        and only its epoch was raised, nothing changes.
        """
        with self._changed:
            if partition in self._owned or partition in self._loading:
                return
            self._loading[partition] = coordinator_epoch
        self._scheduler.schedule(
            f"load-txns-for-partition-{partition}", lambda: self.load(partition, coordinator_epoch, on_prepared)
        )

    def load(
        self, partition: int, coordinator_epoch: int, on_prepared: PreparedCallback, end: int | None = None
    ) -> None:
        """Load a partition, then serve its ids, unless its leadership has changed meanwhile.

        It waits until the log is committed (``uncommitted_end``, which has returned ``end`` before).
        """
        awaited = uncommitted_end(self._log, TopicPartition(TRANSACTION_STATE_TOPIC_NAME, partition), end)
        if awaited is not None:
            self._load_later(partition, coordinator_epoch, on_prepared, awaited, COMMIT_POLL_MS)
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._appending[partition])
        start_ms = self._time.hi_res_ms()
        try:
            transactions = self._read(partition)
        except MemoryError:
            logger.warning("No memory to load %s-%d: trying again", TRANSACTION_STATE_TOPIC_NAME, partition)
            self._load_later(partition, coordinator_epoch, on_prepared, awaited, LOAD_RETRY_MS)
            return
        except Exception:
            # None of its ids is served: with only a part of them, a zombie's request could succeed.
            logger.exception("Error loading transactions from %s-%d", TRANSACTION_STATE_TOPIC_NAME, partition)
            self._stop_loading(partition, coordinator_epoch)
            return
        with self._changed:
            if self._loading.get(partition) != coordinator_epoch or self._shutting_down.is_set():
                return
            del self._loading[partition]
            self._owned[partition] = TxnPartition(coordinator_epoch, transactions)
        took_ms = self._time.hi_res_ms() - start_ms
        self.metrics.loaded(took_ms)
        name = f"{TRANSACTION_STATE_TOPIC_NAME}-{partition}"
        logger.info("Finished loading %d transactional ids of %s in %d ms", len(transactions), name, took_ms)
        for metadata in transactions.values():
            if metadata.state in PREPARED:
                on_prepared(coordinator_epoch, metadata)

    def _load_later(
        self, partition: int, coordinator_epoch: int, on_prepared: PreparedCallback, end: int | None, delay_ms: int
    ) -> None:
        if self._loading.get(partition) == coordinator_epoch:
            self._scheduler.schedule(
                f"load-txns-for-partition-{partition}",
                lambda: self.load(partition, coordinator_epoch, on_prepared, end),
                delay_ms,
            )

    def _stop_loading(self, partition: int, coordinator_epoch: int) -> None:
        with self._changed:
            if self._loading.get(partition) == coordinator_epoch:
                del self._loading[partition]

    def _read(self, partition: int) -> dict[str, TransactionMetadata]:
        try:
            _, _, log = self._log.get_leader_log(TopicPartition(TRANSACTION_STATE_TOPIC_NAME, partition))
        except ApiError as gone:  # it moved to another broker, or was deleted, before this task ran
            logger.warning("No transactional ids are loaded from partition %d: %s", partition, gone)
            return {}
        found: dict[str, TransactionMetadata] = {}
        for batch in batches_of(log, self.config.load_buffer_size):
            if self._shutting_down.is_set():
                break
            for transactional_id, transit in _read_batch(batch):
                if transit is None:
                    found.pop(transactional_id, None)
                else:
                    found[transactional_id] = TransactionMetadata(transactional_id, transit)
        return found

    def unload(self, partition: int, coordinator_epoch: int | None) -> None:
        """Forget the ids of a partition that another broker now leads. None as epoch: whatever epoch it has here."""
        with self._changed:
            if coordinator_epoch is None or self._loading.get(partition, coordinator_epoch) <= coordinator_epoch:
                self._loading.pop(partition, None)
            owned = self._owned.get(partition)
            if owned is not None and (coordinator_epoch is None or owned.coordinator_epoch <= coordinator_epoch):
                del self._owned[partition]


class _NotAppended:
    """The result of an append that was not attempted."""

    base_offset = -1

    def __init__(self, error: Errors) -> None:
        self.error = error


def _read_batch(batch: RecordBatch) -> Iterator[tuple[str, TxnTransitMetadata | None]]:
    """The ids of a batch with their states, None for a tombstone. A record that cannot be decoded is skipped."""
    if batch.is_control:
        return
    for record in batch.records():
        try:
            transactional_id = transaction_log.read_key(record.key or b"")
            if transactional_id is None:
                logger.warning("Ignoring the record with an unknown key at offset %d", record.offset)
            else:
                yield transactional_id, None if record.value is None else transaction_log.read_value(record.value)
        except SchemaError as failure:
            logger.error("Skipping the record at offset %d of __transaction_state: %s", record.offset, failure)


def _is_unused(metadata: TransactionMetadata) -> bool:
    """Whether an id may be forgotten: it has no open transaction, and no request is changing it."""
    return metadata.state in FINISHED and not metadata.is_pending
