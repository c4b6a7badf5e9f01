"""The transaction log after crashes: every truncation, every damaged byte."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from kafka_lite.zookeeper.embedded.protocol import OPEN_ACL_UNSAFE, OpCode
from kafka_lite.zookeeper.embedded.txn_log import RESERVE_BYTES, CorruptLogError, TxnLog, read_log_file
from kafka_lite.zookeeper.embedded.txns import (
    CheckVersionTxn,
    CloseSessionTxn,
    CreateContainerTxn,
    CreateSessionTxn,
    CreateTTLTxn,
    CreateTxn,
    DeleteTxn,
    ErrorTxn,
    MultiTxn,
    SetACLTxn,
    SetDataTxn,
    Txn,
    TxnHeader,
    decode_txn,
    encode_txn,
)
from tests.support.full_disk import FullDisk

ALL_KINDS: list[tuple[OpCode, Txn]] = [
    (OpCode.CREATE_SESSION, CreateSessionTxn(4000)),
    (OpCode.CREATE, CreateTxn("/a", b"data", OPEN_ACL_UNSAFE, True, 1)),
    (OpCode.CREATE2, CreateTxn("/null", None, OPEN_ACL_UNSAFE, False, 2)),
    (OpCode.CREATE_CONTAINER, CreateContainerTxn("/c", b"", OPEN_ACL_UNSAFE, 3)),
    (OpCode.CREATE_TTL, CreateTTLTxn("/t", b"", OPEN_ACL_UNSAFE, 4, 1000)),
    (OpCode.SET_DATA, SetDataTxn("/a", b"more", 1)),
    (OpCode.SET_ACL, SetACLTxn("/a", OPEN_ACL_UNSAFE, 1)),
    (OpCode.MULTI, MultiTxn([(OpCode.CHECK, CheckVersionTxn("/a", 1)), (OpCode.DELETE, DeleteTxn("/null"))])),
    (OpCode.DELETE_CONTAINER, DeleteTxn("/c")),
    (OpCode.ERROR, ErrorTxn(-101)),
    (OpCode.CLOSE_SESSION, CloseSessionTxn(["/a"])),
]


def entries(kinds: list[tuple[OpCode, Txn]] = ALL_KINDS, first_zxid: int = 1) -> list[tuple[TxnHeader, Txn]]:
    return [(TxnHeader(7, i, first_zxid + i, 1000 + i, op), txn) for i, (op, txn) in enumerate(kinds)]


def write(directory: Path, history: list[tuple[TxnHeader, Txn]]) -> Path:
    log = TxnLog(directory)
    for header, txn in history:
        log.append(header, txn)
    log.commit()
    log.close()
    return log.files()[-1][1]


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: OpCode(entry[0].type).name)
def test_transactions_of_every_kind_are_read_back(entry: tuple[TxnHeader, Txn]) -> None:
    assert decode_txn(encode_txn(*entry)) == entry


def test_the_bytes_match_zookeeper(tmp_path: Path) -> None:
    path = write(tmp_path, [(TxnHeader(0x7, 1, 0x1F, 5, OpCode.DELETE), DeleteTxn("/a"))])
    assert path.name == "log.1f"
    txn = "0000000000000007 00000001 000000000000001f 0000000000000005 00000002 00000002 2f61"
    expected = f"5a4b4c47 00000002 0000000000000000  00000000047100c1 00000026 {txn} 42"
    assert path.read_bytes() == bytes.fromhex(expected)


def test_a_truncation_loses_only_the_transactions_behind_it(tmp_path: Path) -> None:
    history = entries()
    path = write(tmp_path, history)
    whole = path.read_bytes()
    survivors = []
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        read = list(read_log_file(path, is_newest=True))
        assert read == history[: len(read)]
        survivors.append(len(read))
    assert survivors == sorted(survivors)
    assert survivors[-1] == len(history) - 1


def test_a_damaged_byte_is_a_torn_end_or_corruption(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    history = entries()
    path = write(tmp_path, history)
    whole = path.read_bytes()
    start_of_last = len(whole) - len(encode_txn(*history[-1])) - 13
    for position in range(len(whole)):
        caplog.clear()
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x5A]) + whole[position + 1 :])
        if position >= start_of_last:
            assert list(read_log_file(path, is_newest=True)) == history[:-1]
            assert [record.levelno for record in caplog.records] == [logging.WARNING]
        elif 8 <= position < 16:
            # The database id, which nothing uses.
            assert list(read_log_file(path)) == history
        else:
            with pytest.raises(CorruptLogError):
                list(read_log_file(path, is_newest=True))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells the open files")
def test_a_log_that_is_closed_leaves_no_file_open(tmp_path: Path) -> None:
    path = write(tmp_path, entries())
    open_files = [os.path.realpath(each) for each in Path("/proc/self/fd").iterdir()]
    assert str(path.resolve()) not in open_files


def test_zeros_after_the_last_record_are_no_corruption(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write(tmp_path, entries())
    path.write_bytes(path.read_bytes() + bytes(10_000))
    assert list(read_log_file(path)) == entries()
    assert not caplog.records


def test_a_restart_begins_a_new_file_and_reading_skips_the_torn_end(tmp_path: Path) -> None:
    history = entries()
    first = write(tmp_path, history[:4])
    first.write_bytes(first.read_bytes()[:-3])
    write(tmp_path, history[3:])
    log = TxnLog(tmp_path)
    assert [zxid for zxid, _ in log.files()] == [1, 4]
    assert list(log.read(0)) == history
    assert list(log.read(5)) == history[5:]
    assert list(log.read(len(history))) == []


def test_a_file_without_committed_transactions_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "log.1").write_bytes(b"ZKLG\0\0")
    write(tmp_path, entries())
    assert list(TxnLog(tmp_path).read(0)) == entries()


def test_nothing_is_written_before_the_commit(tmp_path: Path) -> None:
    log = TxnLog(tmp_path)
    log.append(*entries()[0])
    assert list(log.read(0)) == []
    log.commit()
    assert list(log.read(0)) == entries()[:1]
    log.close()


def test_roll_and_purge(tmp_path: Path) -> None:
    log = TxnLog(tmp_path, force_sync=False)
    for header, txn in entries():
        log.append(header, txn)
        log.roll()
    log.purge(before_zxid=4)
    assert [zxid for zxid, _ in log.files()] == list(range(4, len(ALL_KINDS) + 1))
    assert list(log.read(3)) == entries()[3:]
    log.purge(before_zxid=10**6)
    # The newest one stays: it may contain later transactions.
    assert [zxid for zxid, _ in log.files()] == [len(ALL_KINDS)]


def test_other_files_are_ignored(tmp_path: Path) -> None:
    for name in ("log.xyz", "log.1.bak", "snapshot.1", "notes"):
        (tmp_path / name).write_text("not a log")
    assert TxnLog(tmp_path).files() == []


def test_a_transaction_of_an_unknown_type_is_rejected(tmp_path: Path) -> None:
    path = write(tmp_path, [(TxnHeader(0, 0, 1, 0, 99), DeleteTxn("/a"))])
    with pytest.raises(CorruptLogError, match="unknown type 99"):
        list(read_log_file(path))


def test_a_transaction_that_does_not_fit_on_the_disk_is_not_added(tmp_path: Path, full_disk: FullDisk) -> None:
    first, second, third = (
        (TxnHeader(7, 0, zxid, 0, OpCode.SET_DATA), SetDataTxn("/a", bytes(size), zxid))
        for zxid, size in ((1, 10), (2, RESERVE_BYTES), (2, 10))
    )
    log = TxnLog(tmp_path)
    log.append(*first)
    full_disk.fill()
    with pytest.raises(OSError, match="No space left"):
        log.append(*second)
    log.append(*third)
    log.commit()
    assert list(log.read(0)) == [first, third]
    log.close()
    assert list(TxnLog(tmp_path).read(0)) == [first, third]


def test_a_failed_commit_is_retried_from_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = TxnLog(tmp_path)
    history = entries()

    def refuse(_: int) -> None:
        raise OSError(5, "Input/output error")

    log.append(*history[0])
    with monkeypatch.context() as patch:
        patch.setattr("os.fdatasync", refuse)
        with pytest.raises(OSError, match="Input/output"):
            log.commit()
    (path,) = (path for _, path in log.files())
    path.write_bytes(bytes(len(path.read_bytes())))  # the disk has lost what it failed to sync
    log.append(*history[1])
    log.commit()
    log.close()
    (tmp_path / "other").mkdir()
    assert path.read_bytes()[16:] == write(tmp_path / "other", history[:2]).read_bytes()[16:]


def test_no_file_is_created_on_a_full_disk(tmp_path: Path, full_disk: FullDisk) -> None:
    log = TxnLog(tmp_path)
    full_disk.fill()
    for _ in range(2):
        with pytest.raises(OSError, match="No space left"):
            log.append(*entries()[0])
    full_disk.make_room()
    log.append(*entries()[0])
    log.commit()
    log.close()
    assert list(TxnLog(tmp_path).read(0)) == entries()[:1]
