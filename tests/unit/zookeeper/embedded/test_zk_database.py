"""State that is restored from the log, from snapshots, and from both."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kafka_lite.zookeeper.embedded.protocol import OPEN_ACL_UNSAFE, OpCode
from kafka_lite.zookeeper.embedded.txn_log import CorruptLogError
from kafka_lite.zookeeper.embedded.txns import CloseSessionTxn, CreateSessionTxn, CreateTxn, SetDataTxn, Txn, TxnHeader
from kafka_lite.zookeeper.embedded.zk_database import ZKDatabase
from tests.support.full_disk import FullDisk

SESSION = 9


def opened(directory: Path, snap_count: int = 10_000) -> ZKDatabase:
    database = ZKDatabase(directory, force_sync=False, snap_count=snap_count)
    database.load()
    return database


def process(database: ZKDatabase, *txns: tuple[OpCode, Txn], session_id: int = SESSION) -> None:
    """Each transaction in a commit of its own."""
    for op, txn in txns:
        header = TxnHeader(session_id, 0, database.last_zxid + 1, 1000, op)
        database.process_txn(header, txn)
        database.commit()


def sets(count: int, first: int = 1) -> list[tuple[OpCode, Txn]]:
    return [(OpCode.SET_DATA, SetDataTxn("/a", str(i).encode(), i)) for i in range(first, first + count)]


def creates() -> list[tuple[OpCode, Txn]]:
    return [
        (OpCode.CREATE_SESSION, CreateSessionTxn(4000)),
        (OpCode.CREATE, CreateTxn("/a", b"", OPEN_ACL_UNSAFE, False, 1)),
        (OpCode.CREATE, CreateTxn("/e", b"", OPEN_ACL_UNSAFE, True, 2)),
    ]


def test_a_new_directory_has_an_empty_tree(tmp_path: Path) -> None:
    database = opened(tmp_path / "not" / "yet")
    assert (database.last_zxid, database.sessions) == (0, {})
    database.close()


@pytest.mark.parametrize("snap_count", [1, 3, 7, 1000])
def test_committed_transactions_survive_a_restart(tmp_path: Path, snap_count: int) -> None:
    database = opened(tmp_path, snap_count)
    process(database, *creates(), *sets(20))
    expected = {path: (node.data, node.stat()) for path, node in database.tree.nodes.items()}
    database.close()
    again = opened(tmp_path)
    assert {path: (node.data, node.stat()) for path, node in again.tree.nodes.items()} == expected
    assert again.sessions == {SESSION: 4000}
    assert again.last_zxid == 23
    process(again, (OpCode.CLOSE_SESSION, CloseSessionTxn(["/e"])))
    again.close()
    last = opened(tmp_path)
    assert last.sessions == {}
    assert "/e" not in last.tree.nodes
    last.close()


def test_old_snapshots_and_logs_are_deleted(tmp_path: Path) -> None:
    database = opened(tmp_path)
    process(database, *creates())
    for first in range(1, 60, 10):
        process(database, *sets(10, first))
        database.take_snapshot()
    names = sorted(path.name for path in database.directory.iterdir())
    database.close()
    # Each of the three snapshots, at 43, 53 and 63 (hex), still has the log that follows it.
    assert [name for name in names if name.startswith("snapshot")] == ["snapshot.2b", "snapshot.35", "snapshot.3f"]
    assert [name for name in names if name.startswith("log")] == ["log.2c", "log.36"]


def test_a_damaged_snapshot_is_replaced_by_an_older_one_and_its_log(tmp_path: Path) -> None:
    database = opened(tmp_path)
    process(database, *creates())
    database.take_snapshot()
    process(database, *sets(5))
    database.take_snapshot()
    process(database, *sets(2, 6))
    database.close()
    newest = database.directory / "snapshot.8"
    newest.write_bytes(newest.read_bytes()[:50])
    again = opened(tmp_path)
    assert (again.last_zxid, again.tree.get_data("/a")[0]) == (10, b"7")
    again.close()


def test_a_start_without_a_valid_snapshot_is_refused(tmp_path: Path) -> None:
    database = opened(tmp_path)
    process(database, *creates())
    database.take_snapshot()
    database.close()
    for name in ("snapshot.0", "snapshot.3"):
        (database.directory / name).write_bytes(b"")
    with pytest.raises(CorruptLogError, match="no snapshot"):
        opened(tmp_path)


def test_a_log_without_a_snapshot_is_refused(tmp_path: Path) -> None:
    database = opened(tmp_path)
    process(database, *creates())
    database.close()
    (database.directory / "snapshot.0").unlink()
    with pytest.raises(CorruptLogError, match="no snapshot"):
        opened(tmp_path)


def test_a_missing_log_file_is_detected(tmp_path: Path) -> None:
    for i in range(3):
        database = opened(tmp_path)
        process(database, *(creates() if i == 0 else sets(2, 2 * i)))
        database.close()
    (database.directory / "log.4").unlink()
    with pytest.raises(CorruptLogError, match="between 0x3 and 0x6 are missing"):
        opened(tmp_path)


def test_uncommitted_transactions_are_lost(tmp_path: Path) -> None:
    database = opened(tmp_path)
    process(database, *creates())
    database.process_txn(TxnHeader(SESSION, 0, 4, 0, OpCode.SET_DATA), SetDataTxn("/a", b"lost", 1))
    database.close()
    again = opened(tmp_path)
    assert again.tree.get_data("/a")[0] == b""
    assert again.last_zxid == 3
    again.close()


def test_what_a_killed_server_has_not_synced_is_synced_before_the_next_one_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a power failure might leave the next server's transactions without those before them."""
    killed = opened(tmp_path)  # this one never syncs its log
    process(killed, *creates())
    killed.close()

    files_when_synced: dict[str, list[str]] = {}
    fsync = os.fsync

    def noted(fd: int) -> None:
        name = Path(os.readlink(f"/proc/self/fd/{fd}")).name
        files_when_synced.setdefault(name, sorted(path.name for path in killed.directory.glob("log.*")))
        fsync(fd)

    monkeypatch.setattr("os.fsync", noted)
    database = ZKDatabase(tmp_path)
    database.load()
    database.close()
    assert files_when_synced["log.1"] == ["log.1"]
    assert (database.directory / "log.4").exists()


def test_one_server_per_directory(tmp_path: Path) -> None:
    database = opened(tmp_path)
    with pytest.raises(OSError, match="in use by another"):
        opened(tmp_path)
    database.close()
    opened(tmp_path).close()


def test_a_log_that_cannot_be_trimmed_releases_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    database = opened(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("os.ftruncate", fail)
        with pytest.raises(OSError, match="Input/output error"):
            database.close()
    opened(tmp_path).close()


def test_a_snapshot_that_cannot_be_written_loses_no_data(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    database = opened(tmp_path)
    process(database, *creates())
    # A directory in place of the file.
    (database.directory / "snapshot.3.tmp").mkdir()
    database.take_snapshot()
    assert "Could not write a snapshot" in caplog.text
    process(database, *sets(3))
    database.close()
    again = opened(tmp_path)
    assert again.tree.get_data("/a")[0] == b"3"
    again.close()


def test_a_failed_snapshot_leaves_no_file_and_the_next_one_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_room(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    database = opened(tmp_path)
    process(database, *creates())
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", no_room)
        database.take_snapshot()
    assert not list(database.directory.glob("*.tmp"))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    database.take_snapshot()
    assert (database.directory / "snapshot.3").exists()
    database.close()


def test_a_snapshot_left_incomplete_by_a_crash_is_deleted(tmp_path: Path) -> None:
    opened(tmp_path).close()
    unfinished = tmp_path / "version-2" / "snapshot.7.tmp"
    unfinished.write_bytes(b"half")
    opened(tmp_path).close()
    assert not unfinished.exists()


def test_a_start_without_space_for_the_log_is_refused(tmp_path: Path, full_disk: FullDisk) -> None:
    opened(tmp_path).close()
    database = ZKDatabase(tmp_path)
    full_disk.fill()
    with pytest.raises(OSError, match="No space left"):
        database.load()
    database.close()
