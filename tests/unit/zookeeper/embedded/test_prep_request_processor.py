"""Validation: which requests are rejected, with which error, and which transactions the others become."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from kafka_lite.zookeeper.embedded.authentication import generate_digest
from kafka_lite.zookeeper.embedded.data_tree import DataTree
from kafka_lite.zookeeper.embedded.jute import JuteError, JuteReader, encode
from kafka_lite.zookeeper.embedded.keeper_exception import Code, KeeperException
from kafka_lite.zookeeper.embedded.path_utils import parent_path, validate_path
from kafka_lite.zookeeper.embedded.prep_request_processor import MultiFailed, PrepRequestProcessor
from kafka_lite.zookeeper.embedded.protocol import (
    ACL,
    MULTI_END,
    OPEN_ACL_UNSAFE,
    READ_ACL_UNSAFE,
    CheckVersionRequest,
    CreateMode,
    CreateRequest,
    CreateTTLRequest,
    DeleteRequest,
    Id,
    MultiHeader,
    OpCode,
    SetACLRequest,
    SetDataRequest,
)
from kafka_lite.zookeeper.embedded.txns import (
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

SESSION = 5
ALICE = Id("digest", generate_digest("alice:secret"))


class Server:
    """A tree, the processor in front of it, and one client."""

    def __init__(self, extended_types_enabled: bool = False) -> None:
        self.tree = DataTree()
        self.prep = PrepRequestProcessor(self.tree, extended_types_enabled)
        self.identities: list[Id] = []
        self._zxids = itertools.count(1)

    def decide(self, op: OpCode, *records: tuple[Any, ...]) -> Txn:
        return self.prep.prepare(op, JuteReader(encode(*records)), SESSION, self.identities)

    def do(self, op: OpCode, *records: tuple[Any, ...]) -> Txn:
        txn = self.decide(op, *records)
        self.tree.process_txn(TxnHeader(SESSION, 0, next(self._zxids), 0, op), txn)
        return txn

    def create(self, path: str, mode: int = 0, acl: tuple[ACL, ...] = OPEN_ACL_UNSAFE) -> Txn:
        return self.do(OpCode.CREATE, CreateRequest(path, b"", acl, mode))

    def refused(self, op: OpCode, *records: tuple[Any, ...]) -> Code:
        with pytest.raises(KeeperException) as refusal:
            self.decide(op, *records)
        return refusal.value.code

    def multi(self, *operations: tuple[OpCode, tuple[Any, ...]]) -> Txn:
        flat = [part for op, record in operations for part in (MultiHeader(op, False, -1), record)]
        return self.do(OpCode.MULTI, *flat, MULTI_END)


@pytest.fixture
def server() -> Server:
    return Server()


def create(path: str, mode: int = 0) -> tuple[OpCode, CreateRequest]:
    return OpCode.CREATE, CreateRequest(path, b"", OPEN_ACL_UNSAFE, mode)


def test_a_create_becomes_a_transaction_with_every_field(server: Server) -> None:
    assert server.create("/a") == CreateTxn("/a", b"", OPEN_ACL_UNSAFE, False, 1)
    assert server.create("/a/e", CreateMode.EPHEMERAL) == CreateTxn("/a/e", b"", OPEN_ACL_UNSAFE, True, 1)


def test_sequential_names_count_all_creations_below_the_parent(server: Server) -> None:
    server.create("/a")
    paths = [server.create("/a/s-", CreateMode.PERSISTENT_SEQUENTIAL) for _ in range(2)]
    server.do(OpCode.DELETE, DeleteRequest("/a/s-0000000001", -1))
    server.create("/a/other")
    paths.append(server.create("/a/", CreateMode.EPHEMERAL_SEQUENTIAL))
    assert [txn.path for txn in paths if isinstance(txn, CreateTxn)] == [
        "/a/s-0000000000",
        "/a/s-0000000001",
        "/a/0000000003",
    ]


@pytest.mark.parametrize(
    ("path", "mode", "code"),
    [
        ("/a", 0, Code.NODE_EXISTS),
        ("/", 0, Code.NODE_EXISTS),
        ("/nothing/a", 0, Code.NO_NODE),
        ("/e/a", 0, Code.NO_CHILDREN_FOR_EPHEMERALS),
        ("/readonly/a", 0, Code.NO_AUTH),
        ("/x", 7, Code.BAD_ARGUMENTS),
        ("/x", -1, Code.BAD_ARGUMENTS),
        ("x", 0, Code.BAD_ARGUMENTS),
        ("", 0, Code.BAD_ARGUMENTS),
        ("/x/", 0, Code.NO_NODE),
        ("/a/", 0, Code.BAD_ARGUMENTS),
        ("/x\0", 0, Code.BAD_ARGUMENTS),
        ("/a/..", 0, Code.BAD_ARGUMENTS),
        ("/x", CreateMode.PERSISTENT_WITH_TTL, Code.UNIMPLEMENTED),
    ],
)
def test_invalid_creates_are_rejected(server: Server, path: str, mode: int, code: Code) -> None:
    server.create("/a")
    server.create("/e", CreateMode.EPHEMERAL)
    server.create("/readonly", acl=READ_ACL_UNSAFE)
    assert server.refused(*create(path, mode)) is code


@pytest.mark.parametrize(
    ("path", "version", "code"),
    [
        ("/nothing", -1, Code.NO_NODE),
        ("/nothing/below", -1, Code.NO_NODE),
        ("/a", 0, Code.BAD_VERSION),
        ("/a", 2, Code.BAD_VERSION),
        ("/full", -1, Code.NOT_EMPTY),
        ("/readonly/x", -1, Code.NO_NODE),
        ("/", -1, Code.BAD_ARGUMENTS),
        ("/zookeeper", -1, Code.BAD_ARGUMENTS),
        ("/zookeeper/config", -1, Code.BAD_ARGUMENTS),
    ],
)
def test_invalid_deletes_are_rejected(server: Server, path: str, version: int, code: Code) -> None:
    server.create("/a")
    server.do(OpCode.SET_DATA, SetDataRequest("/a", b"", 0))
    server.create("/full")
    server.create("/full/child")
    assert server.refused(OpCode.DELETE, DeleteRequest(path, version)) is code
    assert server.decide(OpCode.DELETE, DeleteRequest("/a", 1)) == DeleteTxn("/a")


def test_conditional_writes_check_version_and_acl(server: Server) -> None:
    server.create("/a")
    assert server.do(OpCode.SET_DATA, SetDataRequest("/a", b"1", 0)) == SetDataTxn("/a", b"1", 1)
    assert server.refused(OpCode.SET_DATA, SetDataRequest("/a", b"1", 0)) is Code.BAD_VERSION
    assert server.do(OpCode.SET_DATA, SetDataRequest("/a", b"2", -1)) == SetDataTxn("/a", b"2", 2)
    assert server.do(OpCode.SET_ACL, SetACLRequest("/a", READ_ACL_UNSAFE, 0)) == SetACLTxn("/a", READ_ACL_UNSAFE, 1)
    assert server.refused(OpCode.SET_ACL, SetACLRequest("/a", OPEN_ACL_UNSAFE, 1)) is Code.NO_AUTH
    assert server.refused(OpCode.SET_DATA, SetDataRequest("/a", b"3", 2)) is Code.NO_AUTH
    assert server.refused(OpCode.SET_DATA, SetDataRequest("/b", b"", -1)) is Code.NO_NODE
    assert server.refused(OpCode.SET_DATA, SetDataRequest("b", b"", -1)) is Code.BAD_ARGUMENTS


def test_an_acl_with_the_scheme_auth_gets_the_identity_of_its_creator(server: Server) -> None:
    server.identities = [ALICE]
    txn = server.create("/mine", acl=(ACL(31, Id("auth", "")),))
    assert isinstance(txn, CreateTxn)
    assert txn.acl == (ACL(31, ALICE),)
    server.identities = []
    assert server.refused(OpCode.SET_DATA, SetDataRequest("/mine", b"", -1)) is Code.NO_AUTH
    assert server.refused(*create("/mine/child")) is Code.NO_AUTH
    server.identities = [ALICE]
    server.create("/mine/child")


def test_versions_wrap_around_without_becoming_minus_one(server: Server) -> None:
    server.create("/a")
    server.tree.process_txn(TxnHeader(0, 0, 50, 0, OpCode.SET_DATA), SetDataTxn("/a", b"", (1 << 31) - 1))
    assert server.do(OpCode.SET_DATA, SetDataRequest("/a", b"", -1)) == SetDataTxn("/a", b"", -(1 << 31))
    assert server.do(OpCode.SET_DATA, SetDataRequest("/a", b"", -(1 << 31))) == SetDataTxn("/a", b"", 1 - (1 << 31))


def test_containers_and_ttl_znodes() -> None:
    server = Server(extended_types_enabled=True)
    assert server.create("/c", CreateMode.CONTAINER) == CreateContainerTxn("/c", b"", OPEN_ACL_UNSAFE, 1)
    server.create("/c/child")
    request = CreateTTLRequest("/t-", b"", OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL, 1000)
    expected = CreateTTLTxn("/t-0000000001", b"", OPEN_ACL_UNSAFE, 2, 1000)
    assert server.do(OpCode.CREATE_TTL, request) == expected
    for ttl_ms in (0, -5, 1 << 40):
        assert server.refused(OpCode.CREATE_TTL, request._replace(ttl=ttl_ms)) is Code.BAD_ARGUMENTS
    for ttl_ms in (1, (1 << 40) - 1):
        server.do(OpCode.CREATE_TTL, request._replace(ttl=ttl_ms))
    assert server.refused(OpCode.CREATE_TTL, request._replace(flags=0)) is Code.BAD_ARGUMENTS
    assert server.refused(*create("/x", CreateMode.PERSISTENT_WITH_TTL)) is Code.BAD_ARGUMENTS


# ---- Multi -----------------------------------------------------------------------------------------------------------


def test_an_operation_of_a_multi_sees_the_earlier_ones(server: Server) -> None:
    server.create("/a")
    txn = server.multi(
        create("/a/b"),
        create("/a/s-", CreateMode.PERSISTENT_SEQUENTIAL),
        create("/a/s-", CreateMode.PERSISTENT_SEQUENTIAL),
        (OpCode.SET_DATA, SetDataRequest("/a/b", b"x", 0)),
        (OpCode.CHECK, CheckVersionRequest("/a/b", 1)),
        (OpCode.DELETE, DeleteRequest("/a/b", 1)),
        create("/a/b"),
        (OpCode.CHECK, CheckVersionRequest("/a/b", 0)),
    )
    assert isinstance(txn, MultiTxn)
    assert [sub.path for _, sub in txn.txns if isinstance(sub, CreateTxn)] == [
        "/a/b",
        "/a/s-0000000001",
        "/a/s-0000000002",
        "/a/b",
    ]
    assert list(server.tree.get_node("/a").children) == ["s-0000000001", "s-0000000002", "b"]


def test_a_failed_operation_rolls_back_the_whole_multi(server: Server) -> None:
    server.create("/a")
    before = server.tree.stat_node("/a")
    with pytest.raises(MultiFailed) as failure:
        server.multi(create("/a/b"), create("/nothing/b"), create("/a/c"), create("/a/d"))
    assert failure.value.errors == [
        Code.OK,
        Code.NO_NODE,
        Code.RUNTIME_INCONSISTENCY,
        Code.RUNTIME_INCONSISTENCY,
    ]
    assert server.tree.stat_node("/a") == before
    # No pending changes are left, either.
    assert server.decide(*create("/a/b")) == CreateTxn("/a/b", b"", OPEN_ACL_UNSAFE, False, 1)


@pytest.mark.parametrize(
    ("operations", "code"),
    [
        ([(OpCode.DELETE, DeleteRequest("/a", -1))], Code.NOT_EMPTY),
        ([create("/x", CreateMode.EPHEMERAL), create("/x/y")], Code.NO_CHILDREN_FOR_EPHEMERALS),
        ([create("/x"), create("/x")], Code.NODE_EXISTS),
        ([(OpCode.DELETE, DeleteRequest("/a/b", -1))] * 2, Code.NO_NODE),
        ([(OpCode.SET_DATA, SetDataRequest("/a", b"", 0))] * 2, Code.BAD_VERSION),
        ([(OpCode.CHECK, CheckVersionRequest("/a", 1))], Code.BAD_VERSION),
        ([(OpCode.CHECK, CheckVersionRequest("/nothing", -1))], Code.NO_NODE),
    ],
)
def test_a_failed_multi_has_the_error_of_its_failed_operation(
    server: Server, operations: list[tuple[OpCode, Any]], code: Code
) -> None:
    server.create("/a")
    server.create("/a/b")
    with pytest.raises(MultiFailed) as failure:
        server.multi(*operations)
    assert failure.value.errors[-1] is code
    assert all(error is Code.OK for error in failure.value.errors[:-1])


def test_a_multi_creates_znodes_below_its_own(server: Server) -> None:
    server.multi(create("/a"), create("/a/b"))
    assert {"/a", "/a/b"} <= server.tree.nodes.keys()


def test_a_multi_may_empty_a_znode_and_delete_it(server: Server) -> None:
    server.create("/a")
    server.create("/a/b")
    server.multi((OpCode.DELETE, DeleteRequest("/a/b", -1)), (OpCode.DELETE, DeleteRequest("/a", -1)))
    assert "/a" not in server.tree.nodes


def test_operations_that_a_multi_may_not_contain(server: Server) -> None:
    for op, record in ((OpCode.SET_ACL, SetACLRequest("/", OPEN_ACL_UNSAFE, -1)), (OpCode.PING, MULTI_END)):
        code = server.refused(OpCode.MULTI, MultiHeader(op, False, -1), record, MULTI_END)
        assert code is Code.MARSHALLING_ERROR
    with pytest.raises(JuteError):
        server.decide(OpCode.MULTI, MultiHeader(OpCode.CREATE, False, -1))
    assert server.multi() == MultiTxn([])


# ---- Paths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/a", "/a/b", "/a.b", "/...", "/a/.b", "/汉字", "/a b", "/~"])
def test_valid_paths(path: str) -> None:
    assert validate_path(path) is None


@pytest.mark.parametrize(
    "path",
    ["", "a", "/a/", "//", "/a//b", "/.", "/..", "/a/./b", "/a/..", "/\0", "/\x1f", "/\x7f", "/\ue000", "/\uffff"],
)
def test_invalid_paths(path: str) -> None:
    assert validate_path(path) is not None


def test_parent_path() -> None:
    assert [parent_path(path) for path in ("/a", "/a/b", "/a/b/c")] == ["/", "/a", "/a/b"]
