"""The producer state of a log: enough to append every batch of an idempotent producer once and in order.

Kafka 0.11: core/.../log/ProducerStateManager.scala; since 3.5 ProducerStateManager.java · book 10.3
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple, cast

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log_file_utils import (
    DELETED_FILE_SUFFIX,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    offset_from_snapshot_file,
    producer_snapshot_file,
)
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.log.producers.open_transactions import OpenTransactions
from kafka_lite.log.producers.producer_append_info import ProducerAppendInfo
from kafka_lite.log.producers.producer_snapshot import CorruptSnapshotError, read_snapshot, write_snapshot
from kafka_lite.log.producers.producer_state_entry import BatchMetadata, ProducerStateEntry
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.log.producers.verification_state_entry import VerificationGuard, VerificationStateEntry
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.record_batch import RecordBatch

logger = logging.getLogger(__name__)

LATE_TRANSACTION_BUFFER_MS = 5 * 60 * 1000
"""How long after the longest transaction timeout the coordinator may take to end a transaction."""

_CLIENT: Final = AppendOrigin.CLIENT  # looked up once, see record.record
_REPLICATION: Final = AppendOrigin.REPLICATION


class PreparedUpdates:
    """The result of checking an append: a duplicate, which is not appended, or the state to merge afterwards."""

    __slots__ = ("appends", "duplicate")

    def __init__(self, appends: Collection[ProducerAppendInfo] = (), duplicate: BatchMetadata | None = None) -> None:
        self.appends = appends
        self.duplicate = duplicate


class LastRecord(NamedTuple):
    """The last record that a producer wrote."""

    last_data_offset: int | None
    """None if only a transaction marker of the producer is known."""
    producer_epoch: int


class ProducerStateManager:
    """A map from producer id to ProducerStateEntry, with snapshots next to the segments.

    ::

        log        │ segment 0 ──── 19 │ segment 20 ──── 44 │ segment 45 ── 57
        snapshots                  20.snapshot          45.snapshot      58.snapshot (after a clean shutdown)

    A snapshot at offset 45 holds the state after all batches below 45. The map reflects all batches below
    ``map_end_offset``. At start-up it is rebuilt from the latest snapshot and the batches after it
    (``producer_state_loader``).

    It has no lock and no clock: the log calls it under the log's lock and passes the time (ms).
    """

    def __init__(
        self, topic_partition: TopicPartition, directory: Path, config: ProducerStateManagerConfig | None = None
    ) -> None:
        self._topic_partition = topic_partition
        self._dir = directory
        self._config = config or ProducerStateManagerConfig()
        self._producers: dict[int, ProducerStateEntry] = {}
        self._verifications: dict[int, VerificationStateEntry] = {}
        """By producer id. Neither snapshots nor followers have them: after a restart a batch is verified again."""
        self.transactions = OpenTransactions()
        """The transactions that ``read_committed`` readers must wait for. Each change replaces the object."""
        self._map_end_offset = 0
        self._last_snapshot_offset = 0
        self._snapshots = self._list_snapshots()

    # -- the map -----------------------------------------------------------------------------------------------------

    @property
    def active_producers(self) -> Mapping[int, ProducerStateEntry]:
        """All entries by producer id."""
        return MappingProxyType(self._producers)

    @property
    def is_empty(self) -> bool:
        """Whether no producer is known."""
        return not self._producers

    @property
    def map_end_offset(self) -> int:
        """The map reflects everything below this offset."""
        return self._map_end_offset

    def update_map_end_offset(self, offset: int) -> None:
        """Record that the map reflects everything below ``offset``."""
        self._map_end_offset = offset

    def last_records(self) -> dict[int, LastRecord]:
        """The last record of every producer; compaction must retain its batch."""
        return {
            producer_id: LastRecord(entry.last_data_offset if not entry.is_empty else None, entry.producer_epoch)
            for producer_id, entry in self._producers.items()
        }

    def prepare_updates(
        self, batches: Iterable[RecordBatch], origin: AppendOrigin, verification_guard: VerificationGuard | None = None
    ) -> PreparedUpdates:
        """Check batches whose offsets have been assigned; nothing changes before ``update``.

        Raises ApiError as ``ProducerAppendInfo.append`` does, and INVALID_TXN_STATE for the first batch of a
        transaction without a valid ``verification_guard``.
        """
        appends: dict[int, ProducerAppendInfo] = {}
        for batch in batches:
            if not batch.has_producer_id:
                continue
            found = cast(DefaultRecordBatch, batch)  # other formats have no producer ids
            if origin is _CLIENT and (duplicate := self._find_duplicate(found)) is not None:
                return PreparedUpdates(duplicate=duplicate)
            if origin is not _REPLICATION and self._lacks_verification(found, verification_guard):
                raise Errors.INVALID_TXN_STATE.exception(
                    f"{self._topic_partition} is not in an open transaction of producer {found.producer_id}"
                )
            append = appends.get(found.producer_id)
            if append is None:
                append = appends[found.producer_id] = self.prepare_update(found.producer_id, origin)
            append.append(found)
        return PreparedUpdates(appends.values())

    def _find_duplicate(self, batch: DefaultRecordBatch) -> BatchMetadata | None:
        entry = self._producers.get(batch.producer_id)
        if entry is None:
            return None
        return entry.find_duplicate_batch(batch.producer_epoch, batch.base_sequence, batch.last_sequence)

    def prepare_update(self, producer_id: int, origin: AppendOrigin) -> ProducerAppendInfo:
        """Start collecting the batches of one producer."""
        current = self._producers.get(producer_id) or ProducerStateEntry(producer_id)
        return ProducerAppendInfo(self._topic_partition, current, origin, self._verifications.get(producer_id))

    def update(self, append_info: ProducerAppendInfo) -> None:
        """Merge batches that have been appended."""
        if append_info.changes_transactions:
            self.transactions, _ = _after(self.transactions, [append_info])
        updated = append_info.updated_entry
        if append_info.has_transactional and not self._is_of_next_transaction(updated):
            self._verifications.pop(append_info.producer_id, None)
        current = self._producers.get(updated.producer_id)
        if current is None:
            self._producers[updated.producer_id] = updated
        else:
            current.update(updated)

    def aborted_by(self, append_infos: Collection[ProducerAppendInfo]) -> list[AbortedTxn]:
        """The entries that an append adds to the transaction index, in order. To be called before ``update``."""
        if not any(append.completed for append in append_infos):
            return []
        _, aborted = _after(self.transactions, append_infos)
        return aborted

    def on_high_watermark_updated(self, high_watermark: int) -> None:
        """Forget the transactions whose markers are replicated."""
        if self.transactions.ended:
            self.transactions = self.transactions.replicated_up_to(high_watermark)

    def remove_expired_producers(self, now_ms: int) -> None:
        """Remove producers that have not written for ``producer.id.expiration.ms``."""
        for producer_id in [e.producer_id for e in self._producers.values() if self._is_expired(e, now_ms)]:
            del self._producers[producer_id]
        oldest_ms = now_ms - self._config.producer_id_expiration_ms
        self._verifications = {key: entry for key, entry in self._verifications.items() if entry.timestamp > oldest_ms}

    def _is_expired(self, entry: ProducerStateEntry, now_ms: int) -> bool:
        return (
            entry.current_txn_first_offset is None
            and now_ms - entry.last_timestamp >= self._config.producer_id_expiration_ms
        )

    # -- transactions ------------------------------------------------------------------------------------------------

    def has_ongoing_transaction(self, producer_id: int, epoch: int) -> bool:
        """Whether the producer has a transaction of this epoch open in this log."""
        entry = self._producers.get(producer_id)
        return entry is not None and entry.current_txn_first_offset is not None and entry.producer_epoch == epoch

    def maybe_start_verification(
        self, producer_id: int, sequence: int, epoch: int, now_ms: int, supports_epoch_bump: bool = False
    ) -> VerificationGuard | None:
        """Begin to verify a transactional batch, or continue. None if its transaction is already open in this log.

        ``supports_epoch_bump``: whether the producer's epoch is raised after every transaction. Raises ApiError
        INVALID_PRODUCER_EPOCH for an epoch before the last one.
        """
        last = self._producers.get(producer_id)
        if last is not None and epoch < last.producer_epoch:
            raise Errors.INVALID_PRODUCER_EPOCH.exception(
                f"Epoch of producer {producer_id} in {self._topic_partition} is {epoch}, which is smaller than the "
                f"last seen epoch {last.producer_epoch}"
            )
        if self.has_ongoing_transaction(producer_id, epoch):
            return None
        entry = self._verifications.get(producer_id)
        if entry is None:
            entry = VerificationStateEntry(now_ms, sequence, epoch, supports_epoch_bump)
            self._verifications[producer_id] = entry
        else:
            entry.maybe_update_lowest_sequence_and_epoch(sequence, epoch)
        return entry.verification_guard

    def _lacks_verification(self, batch: DefaultRecordBatch, guard: VerificationGuard | None) -> bool:
        if not self._config.transaction_verification_enabled or not batch.is_transactional or batch.is_control:
            return False
        if self.has_ongoing_transaction(batch.producer_id, batch.producer_epoch):
            return False
        entry = self._verifications.get(batch.producer_id)
        return entry is None or guard is None or entry.verification_guard is not guard

    def _is_of_next_transaction(self, ended: ProducerStateEntry) -> bool:
        """Whether the producer's verification is that of the transaction after the one that a marker has ended."""
        entry = self._verifications.get(ended.producer_id)
        return (
            entry is not None
            and entry.supports_epoch_bump
            and entry.epoch == ended.producer_epoch
            and ended.current_txn_first_offset is None
        )

    def has_late_transaction(self, now_ms: int, max_timeout_ms: int) -> bool:
        """Whether the oldest open transaction should have ended: most likely no coordinator will end it.

        ``max_timeout_ms`` is the longest timeout of a transaction. Needs no lock.
        """
        unended = self.transactions.unended
        entry = self._producers.get(unended[min(unended)]) if unended else None
        if entry is None or entry.last_timestamp <= 0:
            return False
        return now_ms - entry.last_timestamp > max_timeout_ms + LATE_TRANSACTION_BUFFER_MS

    # -- changes of the log ------------------------------------------------------------------------------------------

    def truncate_and_reload(self, log_start_offset: int, log_end_offset: int, now_ms: int) -> None:
        """Go back to a snapshot within the log, which now extends from ``log_start_offset`` to ``log_end_offset``.

        The batches from ``map_end_offset`` on must then be read.
        """
        for offset in self._snapshots:
            if not log_start_offset < offset <= log_end_offset:
                self._delete_snapshot(offset)
        if log_end_offset == self._map_end_offset:
            self.on_log_start_offset_incremented(log_start_offset)
            return
        self._producers.clear()
        self._load_from_snapshot(log_start_offset, now_ms)
        self.transactions = OpenTransactions(
            {
                entry.current_txn_first_offset: entry.producer_id
                for entry in self._producers.values()
                if entry.current_txn_first_offset is not None
            }
        )

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Clear everything: the log is empty and starts again at ``offset``."""
        self._producers.clear()
        self.transactions = OpenTransactions()
        for snapshot in self._snapshots:
            self._delete_snapshot(snapshot)
        self._last_snapshot_offset = 0
        self._map_end_offset = offset

    def on_log_start_offset_incremented(self, log_start_offset: int) -> None:
        """Adjust to a new log start offset. Producers of deleted batches are kept until they expire."""
        self._map_end_offset = max(self._map_end_offset, log_start_offset)
        self._last_snapshot_offset = self._latest_snapshot(log_start_offset)

    def update_directory(self, directory: Path) -> None:
        """Use the new directory after a rename."""
        self._dir = directory

    # -- snapshots ---------------------------------------------------------------------------------------------------

    @property
    def snapshot_offsets(self) -> tuple[int, ...]:
        """The offsets of all snapshots, ascending."""
        return self._snapshots

    def _latest_snapshot(self, default: int) -> int:
        return self._snapshots[-1] if self._snapshots else default

    def _list_snapshots(self) -> tuple[int, ...]:
        files = self._dir.glob("*" + PRODUCER_SNAPSHOT_FILE_SUFFIX)
        return tuple(sorted(offset for file in files if (offset := offset_from_snapshot_file(file)) is not None))

    def take_snapshot(self, *, sync: bool = True) -> Path | None:
        """Write a snapshot unless there is one at this offset. Returns the new file, or None. Raises OSError.

        Without ``sync`` the caller forces it to disk later, so that no append waits for it.
        """
        offset = self._map_end_offset
        if offset <= self._last_snapshot_offset:
            return None
        file = producer_snapshot_file(self._dir, offset)
        write_snapshot(file, self._producers.values(), sync=sync)
        self._snapshots = tuple(sorted({*self._snapshots, offset}))
        self._last_snapshot_offset = offset
        logger.debug("Wrote producer snapshot %s with %d producer ids", file, len(self._producers))
        return file

    def _load_from_snapshot(self, log_start_offset: int, now_ms: int) -> None:
        """Load the latest readable snapshot; corrupt ones are deleted."""
        for offset in reversed(self._snapshots):
            file = producer_snapshot_file(self._dir, offset)
            try:
                entries = read_snapshot(file)
            except CorruptSnapshotError as error:
                logger.warning("Deleting the producer snapshot %s: %s", file, error)
                self._delete_snapshot(offset)
                continue
            self._producers = {e.producer_id: e for e in entries if not self._is_expired(e, now_ms)}
            self._map_end_offset = self._last_snapshot_offset = offset
            return
        self._map_end_offset = self._last_snapshot_offset = log_start_offset

    def read_snapshot_before(self, offset: int) -> tuple[int, list[ProducerStateEntry]]:
        """The newest readable snapshot at or before ``offset``: its offset and entries; (0, []) if there is none.

        Unlike a reload, this changes nothing. Raises OSError.
        """
        for found in reversed(self._snapshots):
            if found <= offset:
                try:
                    return found, read_snapshot(producer_snapshot_file(self._dir, found))
                except CorruptSnapshotError as error:
                    logger.warning("Skipping the producer snapshot at %d: %s", found, error)
        return 0, []

    def remove_stray_snapshots(self, segment_base_offsets: Iterable[int]) -> None:
        """Delete snapshots that belong to no segment, except the latest one if it is after all segments.

        That one was written by a clean shutdown.
        """
        bases = set(segment_base_offsets)
        stray = [offset for offset in self._snapshots if offset not in bases]
        if stray and stray[-1] >= max(bases, default=-1):
            stray.pop()
        for offset in stray:
            self._delete_snapshot(offset)

    def remove_and_mark_snapshot_for_deletion(self, offset: int) -> Path | None:
        """Rename the snapshot of a deleted segment. Returns the renamed file, to be removed later, or None.

        Raises OSError.
        """
        if offset not in self._snapshots:
            return None
        self._forget_snapshot(offset)
        file = producer_snapshot_file(self._dir, offset)
        with contextlib.suppress(FileNotFoundError):
            return file.rename(file.with_name(file.name + DELETED_FILE_SUFFIX))
        return None

    def _delete_snapshot(self, offset: int) -> None:
        self._forget_snapshot(offset)
        producer_snapshot_file(self._dir, offset).unlink(missing_ok=True)

    def _forget_snapshot(self, offset: int) -> None:
        self._snapshots = tuple(known for known in self._snapshots if known != offset)


def _after(
    transactions: OpenTransactions, append_infos: Collection[ProducerAppendInfo]
) -> tuple[OpenTransactions, list[AbortedTxn]]:
    """See ``OpenTransactions.after``."""
    entries = [append.updated_entry for append in append_infos]
    begun = [
        (entry.current_txn_first_offset, entry.producer_id)
        for entry in entries
        if entry.current_txn_first_offset is not None
    ]
    return transactions.after(begun, [each for append in append_infos for each in append.completed])
