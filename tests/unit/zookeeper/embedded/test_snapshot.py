"""Snapshots are read back as written, and damaged files are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.zookeeper.embedded.data_tree import DataTree
from kafka_lite.zookeeper.embedded.jute import JuteError
from kafka_lite.zookeeper.embedded.protocol import ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE, Id, OpCode
from kafka_lite.zookeeper.embedded.snapshot import SnapLog, Snapshot, decode_snapshot, encode_snapshot, freeze, thaw
from kafka_lite.zookeeper.embedded.txns import (
    CreateContainerTxn,
    CreateTTLTxn,
    CreateTxn,
    DeleteTxn,
    SetDataTxn,
    Txn,
    TxnHeader,
)

SESSION = 0x1234


def some_tree(extra: int = 0) -> DataTree:
    tree = DataTree()
    txns: list[Txn] = [
        CreateTxn("/a", None, OPEN_ACL_UNSAFE, False, 1),
        CreateTxn("/a/汉字", "数据".encode(), (ACL(31, Id("digest", "u:h")), *READ_ACL_UNSAFE), False, 1),
        CreateTxn("/e", b"", READ_ACL_UNSAFE, True, 2),
        CreateContainerTxn("/c", b"", OPEN_ACL_UNSAFE, 3),
        CreateTTLTxn("/t", b"", OPEN_ACL_UNSAFE, 4, 60_000),
        CreateTxn("/gone", b"", OPEN_ACL_UNSAFE, False, 5),
        DeleteTxn("/gone"),
        SetDataTxn("/a", b"x" * 1000, 1),
        *[SetDataTxn("/a", b"y", 2 + i) for i in range(extra)],
    ]
    for zxid, txn in enumerate(txns, 1):
        tree.process_txn(TxnHeader(SESSION, 0, zxid, 1000 + zxid, OpCode.CREATE), txn)
    return tree


def frozen(extra: int = 0) -> Snapshot:
    return freeze(some_tree(extra), [(SESSION, 4000), (99, 30_000)])


def test_a_snapshot_is_read_back() -> None:
    snapshot = frozen()
    tree, sessions = thaw(decode_snapshot(encode_snapshot(snapshot), snapshot.zxid))
    original = some_tree()
    assert sessions == {SESSION: 4000, 99: 30_000}
    assert tree.last_processed_zxid == original.last_processed_zxid
    assert list(tree.nodes) == list(original.nodes)
    for path, node in original.nodes.items():
        assert (tree.nodes[path].data, tree.nodes[path].acl) == (node.data, node.acl)
        assert tree.nodes[path].stat() == node.stat()
        assert list(tree.nodes[path].children) == list(node.children)
    assert tree.ephemerals(SESSION) == ["/e"]
    assert list(tree.removable_containers(10**12)) == list(original.removable_containers(10**12)) == ["/t"]


def test_a_frozen_state_does_not_change_with_the_tree() -> None:
    tree = some_tree()
    snapshot = freeze(tree, [])
    before = encode_snapshot(snapshot)
    tree.process_txn(TxnHeader(0, 0, 100, 0, OpCode.SET_DATA), SetDataTxn("/a", b"later", 9))
    tree.process_txn(TxnHeader(0, 0, 101, 0, OpCode.DELETE), DeleteTxn("/e"))
    assert encode_snapshot(snapshot) == before


def test_every_truncation_and_every_damaged_byte_is_detected() -> None:
    whole = encode_snapshot(frozen())
    for position in range(len(whole)):
        with pytest.raises(JuteError):
            decode_snapshot(whole[:position], 1)
        with pytest.raises(JuteError):
            decode_snapshot(whole[:position] + bytes([whole[position] ^ 0x5A]) + whole[position + 1 :], 1)


def test_the_newest_valid_snapshot_is_loaded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    snapshots = SnapLog(tmp_path)
    assert snapshots.load_newest() is None
    older, newer = frozen(), frozen(extra=5)
    snapshots.save(older)
    path = snapshots.save(newer)
    assert snapshots.load_newest() == newer
    path.write_bytes(path.read_bytes()[:-20])
    assert snapshots.load_newest() == older
    assert "Skipping snapshot" in caplog.text


def test_a_temporary_file_is_not_a_snapshot(tmp_path: Path) -> None:
    (tmp_path / "snapshot.ff.tmp").write_bytes(encode_snapshot(frozen())[:100])
    assert SnapLog(tmp_path).load_newest() is None


def test_purge_keeps_the_newest(tmp_path: Path) -> None:
    snapshots = SnapLog(tmp_path)
    assert snapshots.purge(3) == 0
    for extra in range(5):
        snapshots.save(frozen(extra))
    assert snapshots.purge(3) == 10
    assert [zxid for zxid, _ in snapshots.files()] == [10, 11, 12]
