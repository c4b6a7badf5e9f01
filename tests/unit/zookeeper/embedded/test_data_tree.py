"""Znodes, their stats, and the events of their changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from kafka_lite.zookeeper.embedded.data_tree import (
    CONTAINER_OWNER,
    MAX_TTL_MS,
    DataTree,
    ProcessTxnResult,
    is_session_owner,
    ttl_ms_of,
    ttl_owner,
)
from kafka_lite.zookeeper.embedded.keeper_exception import Code, KeeperException
from kafka_lite.zookeeper.embedded.protocol import OPEN_ACL_UNSAFE, READ_ACL_UNSAFE, EventType, OpCode
from kafka_lite.zookeeper.embedded.txns import (
    CheckVersionTxn,
    CloseSessionTxn,
    CreateContainerTxn,
    CreateTTLTxn,
    CreateTxn,
    DeleteTxn,
    MultiTxn,
    SetACLTxn,
    SetDataTxn,
    Txn,
    TxnHeader,
)
from kafka_lite.zookeeper.embedded.watch_manager import WatcherMode

SESSION = 77
CREATED, DELETED, CHANGED, CHILDREN = EventType


class Recorder:
    def __init__(self) -> None:
        self.heard: list[tuple[EventType, str]] = []

    def process(self, event: EventType, path: str) -> None:
        self.heard.append((event, path))


@pytest.fixture
def tree() -> DataTree:
    return DataTree()


@pytest.fixture
def apply(tree: DataTree) -> Callable[[Txn], ProcessTxnResult]:
    zxids = itertools.count(1)

    def apply(txn: Txn) -> ProcessTxnResult:
        zxid = next(zxids)
        return tree.process_txn(TxnHeader(SESSION, 0, zxid, 1000 * zxid, OpCode.MULTI), txn)

    return apply


Apply = Callable[[Txn], ProcessTxnResult]


def create(path: str, number: int = 1, data: bytes | None = b"", ephemeral: bool = False) -> CreateTxn:
    return CreateTxn(path, data, OPEN_ACL_UNSAFE, ephemeral, number)


def test_a_new_tree_has_zookeepers_own_znodes(tree: DataTree) -> None:
    assert set(tree.nodes) == {"/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"}
    assert tree.stat_node("/").cversion == -1
    assert tree.get_node("/zookeeper/config").acl == READ_ACL_UNSAFE


def test_each_change_updates_the_stat(tree: DataTree, apply: Apply) -> None:
    stat = apply(create("/a", 1, b"12")).stat
    assert stat is not None
    assert (stat.czxid, stat.mzxid, stat.pzxid, stat.ctime, stat.mtime) == (1, 1, 1, 1000, 1000)
    assert (stat.version, stat.cversion, stat.aversion, stat.data_length, stat.num_children) == (0, 0, 0, 2, 0)
    stat = apply(SetDataTxn("/a", b"longer", 1)).stat
    assert stat is not None
    assert (stat.czxid, stat.mzxid, stat.mtime, stat.version, stat.data_length) == (1, 2, 2000, 1, 6)
    stat = apply(SetACLTxn("/a", READ_ACL_UNSAFE, 1)).stat
    assert stat is not None
    assert (stat.mzxid, stat.version, stat.aversion) == (2, 1, 1)
    apply(create("/a/b"))
    stat = tree.stat_node("/a")
    assert (stat.mzxid, stat.pzxid, stat.cversion, stat.num_children) == (2, 4, 1, 1)
    apply(DeleteTxn("/a/b"))
    stat = tree.stat_node("/a")
    assert (stat.pzxid, stat.cversion, stat.num_children) == (5, 2, 0)


def test_children_are_listed_in_the_order_of_their_creation(tree: DataTree, apply: Apply) -> None:
    for number, name in enumerate(("b", "a", "c"), 1):
        apply(create(f"/{name}", number))
    apply(DeleteTxn("/b"))
    apply(create("/b", 4))
    assert tree.get_children("/")[0] == ["zookeeper", "a", "c", "b"]


def test_null_data_is_not_empty_data(tree: DataTree, apply: Apply) -> None:
    apply(create("/null", 1, None))
    apply(create("/empty", 2, b""))
    assert tree.get_data("/null")[0] is None
    assert tree.get_data("/empty")[0] == b""
    assert tree.stat_node("/null").data_length == 0


def test_reading_a_missing_znode_raises_no_node(tree: DataTree) -> None:
    for read in (tree.get_node, tree.get_data, tree.get_children, tree.stat_node):
        with pytest.raises(KeeperException) as refusal:
            read("/nothing")
        assert refusal.value.code is Code.NO_NODE


def test_get_all_children_number(tree: DataTree, apply: Apply) -> None:
    for path in ("/a", "/a/b", "/a/b/c", "/ab"):
        apply(create(path))
    assert tree.get_all_children_number("/a") == 2
    assert tree.get_all_children_number("/ab") == 0
    assert tree.get_all_children_number("/") == 7


def test_closing_a_session_deletes_its_ephemeral_znodes(tree: DataTree, apply: Apply) -> None:
    apply(create("/p", 1))
    apply(create("/e1", 2, ephemeral=True))
    apply(create("/p/e2", 1, ephemeral=True))
    assert tree.stat_node("/e1").ephemeral_owner == SESSION
    assert tree.ephemerals(SESSION) == ["/e1", "/p/e2"]
    watcher = Recorder()
    tree.get_children("/p", watcher)
    apply(CloseSessionTxn([]))
    assert tree.ephemerals(SESSION) == []
    assert tree.sessions_with_ephemerals() == {}
    assert "/e1" not in tree.nodes
    assert tree.stat_node("/p").pzxid == 4
    assert watcher.heard == [(CHILDREN, "/p")]


def test_a_multi_is_one_transaction(tree: DataTree, apply: Apply) -> None:
    apply(create("/a"))
    subs: list[tuple[OpCode, Txn]] = [
        (OpCode.CREATE, create("/a/b")),
        (OpCode.CHECK, CheckVersionTxn("/a", 0)),
        (OpCode.SET_DATA, SetDataTxn("/a/b", b"x", 1)),
        (OpCode.DELETE, DeleteTxn("/a/b")),
    ]
    result = apply(MultiTxn(subs))
    assert [op for op, _ in result.multi] == [op for op, _ in subs]
    assert [sub.path for _, sub in result.multi] == ["/a/b", "/a", "/a/b", "/a/b"]
    assert result.multi[2][1].stat is not None
    assert result.multi[2][1].stat.mzxid == 2
    assert tree.last_processed_zxid == 2


# ---- Watches ---------------------------------------------------------------------------------------------------------


def test_an_exists_watch_fires_at_creation(tree: DataTree, apply: Apply) -> None:
    exists, children = Recorder(), Recorder()
    with pytest.raises(KeeperException):
        tree.stat_node("/a", exists)
    tree.get_children("/", children)
    apply(create("/a"))
    assert (exists.heard, children.heard) == ([(CREATED, "/a")], [(CHILDREN, "/")])


def test_a_failed_read_sets_no_watch(tree: DataTree, apply: Apply) -> None:
    watcher = Recorder()
    for read in (tree.get_data, tree.get_children):
        with pytest.raises(KeeperException):
            read("/a", watcher)
    apply(create("/a"))
    assert watcher.heard == []


def test_data_and_child_watches_get_different_events(tree: DataTree, apply: Apply) -> None:
    data, children = Recorder(), Recorder()
    apply(create("/a"))
    tree.get_data("/a", data)
    tree.get_children("/a", children)
    apply(SetACLTxn("/a", READ_ACL_UNSAFE, 1))
    assert (data.heard, children.heard) == ([], [])
    apply(SetDataTxn("/a", b"", 1))
    apply(create("/a/b"))
    assert (data.heard, children.heard) == ([(CHANGED, "/a")], [(CHILDREN, "/a")])


def test_a_deletion_fires_one_event_per_watcher(tree: DataTree, apply: Apply) -> None:
    watcher = Recorder()
    apply(create("/a"))
    tree.get_data("/a", watcher)
    tree.get_children("/a", watcher)
    apply(DeleteTxn("/a"))
    assert watcher.heard == [(DELETED, "/a")]
    assert tree.child_watches.size == tree.data_watches.size == 0


def test_persistent_watches_stay_after_an_event(tree: DataTree, apply: Apply) -> None:
    persistent, recursive = Recorder(), Recorder()
    tree.add_watch("/a", persistent, WatcherMode.PERSISTENT)
    tree.add_watch("/a", recursive, WatcherMode.PERSISTENT_RECURSIVE)
    for txn in (create("/a"), create("/a/b"), SetDataTxn("/a/b", b"", 1), DeleteTxn("/a/b"), DeleteTxn("/a")):
        apply(txn)
    assert persistent.heard == [(CREATED, "/a"), (CHILDREN, "/a"), (CHILDREN, "/a"), (DELETED, "/a")]
    expected = [(CREATED, "/a"), (CREATED, "/a/b"), (CHANGED, "/a/b"), (DELETED, "/a/b"), (DELETED, "/a")]
    assert recursive.heard == expected


def test_a_removed_watcher_gets_no_events(tree: DataTree, apply: Apply) -> None:
    watcher = Recorder()
    tree.get_children("/", watcher)
    tree.get_data("/", watcher)
    tree.remove_watcher(watcher)
    apply(create("/a"))
    assert watcher.heard == []


def test_set_watches_after_a_reconnect_fires_missed_events(tree: DataTree, apply: Apply) -> None:
    for number, path in enumerate(("/same", "/changed", "/deleted", "/parent"), 1):
        apply(create(path, number))
    seen = tree.last_processed_zxid
    apply(SetDataTxn("/changed", b"", 1))
    apply(DeleteTxn("/deleted"))
    apply(create("/created", 5))
    apply(create("/parent/child"))
    watcher = Recorder()
    tree.set_watches(
        seen, ["/same", "/changed", "/deleted"], ["/created", "/never"], ["/same", "/parent", "/deleted"], watcher
    )
    assert watcher.heard == [
        (CHANGED, "/changed"),
        (DELETED, "/deleted"),
        (CREATED, "/created"),
        (CHILDREN, "/parent"),
        (DELETED, "/deleted"),
    ]
    watcher.heard.clear()
    apply(SetDataTxn("/same", b"", 1))
    apply(create("/never", 6))
    apply(create("/same/child"))
    assert watcher.heard == [(CHANGED, "/same"), (CREATED, "/never"), (CHILDREN, "/same")]


# ---- Containers and TTLs ---------------------------------------------------------------------------------------------


def test_owners_of_ephemerals_containers_and_ttl_znodes() -> None:
    assert is_session_owner(SESSION)
    assert not any(map(is_session_owner, (0, CONTAINER_OWNER, ttl_owner(1), ttl_owner(MAX_TTL_MS))))
    assert [ttl_ms_of(owner) for owner in (ttl_owner(5), ttl_owner(MAX_TTL_MS), SESSION, CONTAINER_OWNER, 0)] == [
        5,
        MAX_TTL_MS,
        0,
        0,
        0,
    ]


def test_an_empty_container_is_removable_only_after_it_had_children(tree: DataTree, apply: Apply) -> None:
    apply(CreateContainerTxn("/c", b"", OPEN_ACL_UNSAFE, 1))
    assert tree.stat_node("/c").ephemeral_owner == 0
    assert list(tree.removable_containers(10**9)) == []
    apply(create("/c/child"))
    assert list(tree.removable_containers(10**9)) == []
    apply(DeleteTxn("/c/child"))
    assert list(tree.removable_containers(0)) == ["/c"]
    apply(DeleteTxn("/c"))
    assert list(tree.removable_containers(10**9)) == []


def test_a_change_restarts_the_ttl(tree: DataTree, apply: Apply) -> None:
    apply(CreateTTLTxn("/t", b"", OPEN_ACL_UNSAFE, 1, 5000))
    assert list(tree.removable_containers(1000 + 5000)) == []
    assert list(tree.removable_containers(1000 + 5001)) == ["/t"]
    apply(SetDataTxn("/t", b"", 1))
    assert list(tree.removable_containers(1000 + 5001)) == []
    apply(create("/t/child"))
    assert list(tree.removable_containers(10**9)) == []
