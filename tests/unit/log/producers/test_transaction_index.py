"""The file of aborted transactions of a segment, and what is put into it."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.log.abstract_index import CorruptIndexError
from kafka_lite.log.producers.aborted_txn import ENTRY_SIZE, AbortedTxn
from kafka_lite.log.producers.open_transactions import CompletedTxn, OpenTransactions
from kafka_lite.log.producers.producer_state_entry import ProducerStateEntry
from kafka_lite.log.producers.transaction_index import TransactionIndex
from kafka_lite.log.producers.transaction_replay import TransactionReplay
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.default_record_batch import (
    CONTROL_FLAG_MASK,
    TRANSACTIONAL_FLAG_MASK,
    DefaultRecordBatch,
    encode_batch,
)
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import NO_TIMESTAMP

FIRST, SECOND = AbortedTxn(7, 20, 25, 26), AbortedTxn(9, 12, 31, 32)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "00000000000000000020.txnindex"


@pytest.fixture
def index(file: Path) -> TransactionIndex:
    return TransactionIndex(file)


@contextmanager
def files_of_at_most(size_bytes: int) -> Iterator[None]:
    """Limit the size of files: a write beyond it is cut short, and the next one fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# ── the entries


def test_entries_have_a_version_that_must_be_known() -> None:
    data = FIRST.encode() + SECOND.encode()
    assert len(data) == 2 * ENTRY_SIZE == 68
    assert data[:2] == b"\0\0"
    assert list(AbortedTxn.read_all(data)) == [FIRST, SECOND]
    assert list(AbortedTxn.read_all(data[:-1])) == [FIRST], "the last one is torn"
    with pytest.raises(KafkaError, match="version 1"):
        list(AbortedTxn.read_all(b"\0\1" + data[2:]))


# ── the file


def test_entries_are_read_back(index: TransactionIndex, file: Path) -> None:
    index.append([FIRST])
    index.append([SECOND])
    assert index.entries == TransactionIndex(file).entries == (FIRST, SECOND)
    TransactionIndex(file).sanity_check(20)


def test_without_entries_there_is_no_file(index: TransactionIndex, file: Path) -> None:
    index.append([])
    index.flush()
    index.sanity_check(20)
    assert not file.exists()


@pytest.mark.parametrize("marker", [25, 24])
def test_markers_must_be_in_order(index: TransactionIndex, file: Path, marker: int) -> None:
    index.append([FIRST])
    for refused in ([AbortedTxn(9, 12, marker, 26)], [SECOND, AbortedTxn(9, 12, marker, 26)]):
        with pytest.raises(ValueError, match=f"the marker at {marker} does not follow"):
            index.append(refused)
    assert index.entries == TransactionIndex(file).entries == (FIRST,)


def test_a_truncation_takes_markers_from_the_offset_on(index: TransactionIndex, file: Path) -> None:
    index.append([FIRST, SECOND])
    index.truncate_to(32)
    assert list(index.entries) == [FIRST, SECOND]
    index.truncate_to(31)
    assert list(index.entries) == list(TransactionIndex(file).entries) == [FIRST]
    index.truncate_to(25)
    assert list(index.entries) == list(TransactionIndex(file).entries) == []


def test_a_write_that_fails_leaves_the_file_as_it_was(index: TransactionIndex, file: Path) -> None:
    index.append([FIRST])
    with files_of_at_most(ENTRY_SIZE + 10), pytest.raises(OSError, match="File too large"):
        index.append([SECOND])
    assert index.entries == (FIRST,)
    assert file.read_bytes() == FIRST.encode()
    index.append([SECOND])
    assert TransactionIndex(file).entries == (FIRST, SECOND)


def test_flush_forces_the_entries_to_disk(index: TransactionIndex, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd)))
    index.append([FIRST])
    index.flush()
    assert [(stat.st_ino, stat.st_size) for stat in synced] == [(file.stat().st_ino, ENTRY_SIZE)]


def test_renamed_reset_and_deleted(index: TransactionIndex, file: Path) -> None:
    cleaned = file.with_name(file.name + ".cleaned")
    index.append([FIRST])
    index.rename_to(cleaned)
    index.append([SECOND])
    assert not file.exists()
    assert TransactionIndex(cleaned).entries == (FIRST, SECOND)
    index.reset()
    assert index.entries == ()
    assert not cleaned.exists()
    index.append([FIRST])
    index.delete()
    index.delete()
    assert not cleaned.exists()


# ── a corrupt file


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (FIRST.encode() + SECOND.encode()[:-1], "67 bytes"),
        (FIRST.encode() + b"\0", "35 bytes"),
        (b"\0\1" + FIRST.encode()[2:], "version 1"),
        (SECOND.encode() + FIRST.encode(), "out of order"),
        (FIRST.encode() + FIRST.encode(), "out of order"),
        (AbortedTxn(7, 12, 19, 26).encode(), "of another segment"),
        (AbortedTxn(7, 26, 25, 26).encode(), "out of order"),
    ],
)
def test_a_corrupt_file_is_noticed_and_can_be_replaced(file: Path, data: bytes, says: str) -> None:
    file.write_bytes(data)
    index = TransactionIndex(file)
    with pytest.raises(CorruptIndexError, match=says):
        index.sanity_check(20)
    index.reset()
    index.sanity_check(20)
    index.append([FIRST])
    index.sanity_check(20)
    assert TransactionIndex(file).entries == (FIRST,)


@pytest.mark.parametrize("entry", [AbortedTxn(7, 20, 20, 21), AbortedTxn(7, 3, 20, 21)])
def test_the_first_offset_of_the_segment_may_be_a_marker(file: Path, entry: AbortedTxn) -> None:
    file.write_bytes(entry.encode())
    TransactionIndex(file).sanity_check(20)


# ── open transactions


def test_the_earliest_transaction_that_is_open_or_not_replicated_counts() -> None:
    ended = (CompletedTxn(7, 40, 46, False), CompletedTxn(8, 41, 47, True))
    transactions = OpenTransactions({42: 9, 43: 10}, ended)
    assert [transactions.first_unstable_offset(hw) for hw in (46, 47, 48)] == [40, 41, 42]
    assert OpenTransactions({30: 9}, ended).first_unstable_offset(46) == 30
    assert [OpenTransactions({}, ended).first_unstable_offset(hw) for hw in (46, 47, 48)] == [40, 41, None]


def test_transactions_that_end_one_after_the_other_all_wait_for_the_high_watermark() -> None:
    transactions, _ = OpenTransactions({40: 7, 42: 9}).after([], [CompletedTxn(7, 40, 46, False)])
    transactions, aborted = transactions.after([], [CompletedTxn(9, 42, 48, True)])
    assert aborted == [AbortedTxn(9, 42, 48, 49)]
    assert transactions.first_unstable_offset(46) == 40
    assert transactions.replicated_up_to(46) is transactions
    assert transactions.replicated_up_to(47).ended == (CompletedTxn(9, 42, 48, True),)
    assert transactions.replicated_up_to(49).is_empty


# ── a replay


def data_batch(producer_id: int, offset: int, *, transactional: bool = True) -> DefaultRecordBatch:
    builder = MemoryRecordsBuilder(
        base_offset=offset, producer_id=producer_id, producer_epoch=0, base_sequence=0, is_transactional=transactional
    )
    builder.append(1000, None, b"v")
    data = bytes(builder.build())
    return DefaultRecordBatch(data, 0, len(data))


def marker(producer_id: int, offset: int, kind: ControlRecordType = ControlRecordType.ABORT) -> DefaultRecordBatch:
    data = bytes(EndTransactionMarker(kind, 0).to_batch(producer_id, 0, 1000, base_offset=offset))
    return DefaultRecordBatch(data, 0, len(data))


def test_a_replay_finds_aborted_transactions_and_what_was_open_before_it() -> None:
    entries = [
        ProducerStateEntry(7, producer_epoch=0, current_txn_first_offset=3),
        ProducerStateEntry(8, producer_epoch=0),
    ]
    replay = TransactionReplay(entries)
    for batch in (data_batch(9, 10), data_batch(9, 11), data_batch(7, 12)):
        assert replay.add(batch) == []
    assert replay.add(marker(9, 13)) == [AbortedTxn(9, 10, 13, 3)]
    assert replay.add(marker(7, 14)) == [AbortedTxn(7, 3, 14, 15)]
    assert replay.add(marker(7, 15)) == replay.add(marker(8, 16)) == [], "none is open"


def test_a_replay_ignores_commits_and_what_is_not_transactional() -> None:
    replay = TransactionReplay()
    replay.add(data_batch(7, 0))
    assert replay.add(marker(7, 1, ControlRecordType.COMMIT)) == []
    assert replay.add(marker(7, 2)) == [], "it was committed"
    replay.add(data_batch(8, 3, transactional=False))
    assert replay.add(marker(8, 4)) == []


def test_a_replay_ignores_control_batches_that_end_nothing() -> None:
    replay = TransactionReplay()
    replay.add(data_batch(7, 0))
    compacted_away = encode_batch(
        b"", base_offset=1, last_offset_delta=0, attributes=CONTROL_FLAG_MASK | TRANSACTIONAL_FLAG_MASK,
        base_timestamp=NO_TIMESTAMP, max_timestamp=1000, producer_id=7, producer_epoch=0, base_sequence=-1,
        partition_leader_epoch=0, record_count=0,
    )  # fmt: skip
    assert replay.add(DefaultRecordBatch(compacted_away, 0, len(compacted_away))) == []
    builder = MemoryRecordsBuilder(
        base_offset=2, producer_id=7, producer_epoch=0, is_transactional=True, is_control=True
    )
    builder.append(1000, b"\0\0\0\7", b"of a type that comes later")
    unknown = bytes(builder.build())
    assert replay.add(DefaultRecordBatch(unknown, 0, len(unknown))) == []
    assert replay.add(marker(7, 3)) == [AbortedTxn(7, 0, 3, 4)]
