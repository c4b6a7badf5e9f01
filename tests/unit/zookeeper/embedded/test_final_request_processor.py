"""Bodies of responses: what reads return and leave behind as watches, and what the results of writes look like."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from kafka_lite.zookeeper.embedded.authentication import generate_digest
from kafka_lite.zookeeper.embedded.data_tree import DataTree, ProcessTxnResult
from kafka_lite.zookeeper.embedded.final_request_processor import FinalRequestProcessor
from kafka_lite.zookeeper.embedded.jute import JuteReader, decode, encode, read_record
from kafka_lite.zookeeper.embedded.keeper_exception import Code, KeeperException
from kafka_lite.zookeeper.embedded.prep_request_processor import REQUEST_CLASSES
from kafka_lite.zookeeper.embedded.protocol import (
    ACL,
    ANYONE,
    MULTI_END,
    OPEN_ACL_UNSAFE,
    AddWatchRequest,
    Create2Response,
    ErrorResponse,
    EventType,
    GetACLResponse,
    GetAllChildrenNumberResponse,
    GetChildren2Response,
    GetDataResponse,
    Id,
    MultiHeader,
    OpCode,
    PathRequest,
    PathResponse,
    PathsResponse,
    PathWatchRequest,
    Perms,
    SetWatches,
    SetWatches2,
    Stat,
    WatcherTypeRequest,
    WhoAmIResponse,
)
from kafka_lite.zookeeper.embedded.txns import CreateTxn, DeleteTxn, SetDataTxn, Txn, TxnHeader

ALICE = Id("digest", generate_digest("alice:secret"))
CHILDREN, DATA, ANY = 1, 2, 3
"""The kinds of watch that CheckWatches and RemoveWatches name."""


class Client:
    """A connection that keeps its events."""

    def __init__(self, session_id: int = 5, *identities: Id) -> None:
        self.session_id = session_id
        self.identities = [Id("ip", "127.0.0.1"), *identities]
        self.events: list[tuple[EventType, str]] = []

    def process(self, event: EventType, path: str) -> None:
        self.events.append((event, path))


class Server:
    """A tree with ``/a`` (data ``1``), its child ``/a/b``, and the secret of alice ``/s``."""

    def __init__(self) -> None:
        self.tree = DataTree()
        self.final = FinalRequestProcessor(self.tree)
        self.client, self.alice = Client(), Client(6, ALICE)
        self._zxids = itertools.count(1)
        self.create("/a", b"1")
        self.create("/a/b")
        self.create("/s", b"secret", (ACL(int(Perms.ALL), ALICE),))

    def do(self, txn: Txn, session_id: int = 5) -> ProcessTxnResult:
        return self.tree.process_txn(TxnHeader(session_id, 0, next(self._zxids), 1_000, 0), txn)

    def create(self, path: str, data: bytes = b"", acl: tuple[ACL, ...] = OPEN_ACL_UNSAFE) -> ProcessTxnResult:
        return self.do(CreateTxn(path, data, acl, False, -1))

    def read(self, op: OpCode, *records: Any, client: Client | None = None) -> bytes:
        return self.final.read(op, JuteReader(encode(*records)), client or self.client)

    def refused(self, op: OpCode, *records: Any, client: Client | None = None) -> tuple[Code, str]:
        with pytest.raises(KeeperException) as refusal:
            self.read(op, *records, client=client)
        return refusal.value.code, refusal.value.path

    def get(self, path: str, *, watch: bool = False, client: Client | None = None) -> GetDataResponse:
        return decode(GetDataResponse, self.read(OpCode.GET_DATA, PathWatchRequest(path, watch), client=client))


@pytest.fixture
def server() -> Server:
    return Server()


# ── reads ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_data_comes_with_its_stat(server: Server) -> None:
    read = server.get("/a")
    assert (read.data, read.stat) == (b"1", server.tree.get_node("/a").stat())
    assert decode(Stat, server.read(OpCode.EXISTS, PathWatchRequest("/a", False))) == read.stat
    assert server.refused(OpCode.GET_DATA, PathWatchRequest("/c", False)) == (Code.NO_NODE, "/c")
    assert server.refused(OpCode.EXISTS, PathWatchRequest("/c", False)) == (Code.NO_NODE, "/c")


def test_children_come_with_and_without_the_stat_of_their_parent(server: Server) -> None:
    server.create("/a/c")
    request = PathWatchRequest("/a", False)
    assert decode(PathsResponse, server.read(OpCode.GET_CHILDREN, request)).paths == ["b", "c"]
    with_stat = decode(GetChildren2Response, server.read(OpCode.GET_CHILDREN2, request))
    assert (with_stat.children, with_stat.stat.num_children) == (["b", "c"], 2)
    everything = decode(GetAllChildrenNumberResponse, server.read(OpCode.GET_ALL_CHILDREN_NUMBER, PathRequest("/")))
    assert everything.total_number == len(server.tree.nodes) - 1


@pytest.mark.parametrize(
    ("op", "record"),
    [
        (OpCode.GET_DATA, PathWatchRequest("/s", False)),
        (OpCode.GET_CHILDREN, PathWatchRequest("/s", False)),
        (OpCode.GET_CHILDREN2, PathWatchRequest("/s", False)),
        (OpCode.GET_ACL, PathRequest("/s")),
        (OpCode.GET_ALL_CHILDREN_NUMBER, PathRequest("/s")),
    ],
)
def test_what_a_client_may_not_read_is_refused(server: Server, op: OpCode, record: Any) -> None:
    assert server.refused(op, record) == (Code.NO_AUTH, "/s")
    assert server.read(op, record, client=server.alice)


def test_a_refused_read_leaves_no_watch(server: Server) -> None:
    server.refused(OpCode.GET_DATA, PathWatchRequest("/s", True))
    server.do(SetDataTxn("/s", b"new", 1))
    assert server.client.events == []


def test_existence_may_be_asked_without_permission_to_read(server: Server) -> None:
    assert decode(Stat, server.read(OpCode.EXISTS, PathWatchRequest("/s", False))).data_length == len(b"secret")


def test_an_acl_is_masked_for_those_who_may_not_change_it(server: Server) -> None:
    acl = (ACL(int(Perms.READ), ANYONE), ACL(int(Perms.ALL), ALICE))
    server.create("/m", acl=acl)
    shown = decode(GetACLResponse, server.read(OpCode.GET_ACL, PathRequest("/m")))
    assert shown.acl == (acl[0], ACL(int(Perms.ALL), Id("digest", "alice:x")))
    server.create("/w", acl=(ACL(int(Perms.WRITE), ANYONE),))
    assert server.refused(OpCode.GET_ACL, PathRequest("/w")) == (Code.NO_AUTH, "/w")
    whole = decode(GetACLResponse, server.read(OpCode.GET_ACL, PathRequest("/m"), client=server.alice))
    assert whole == (acl, server.tree.get_node("/m").stat())


def test_ephemeral_znodes_are_those_of_the_session_below_a_prefix(server: Server) -> None:
    for path, session_id in [("/a/e", 5), ("/e", 5), ("/a/other", 6)]:
        server.do(CreateTxn(path, b"", OPEN_ACL_UNSAFE, True, -1), session_id)

    def asked(prefix: str, client: Client) -> list[str]:
        return decode(PathsResponse, server.read(OpCode.GET_EPHEMERALS, PathRequest(prefix), client=client)).paths

    assert asked("/", server.client) == ["/a/e", "/e"]
    assert asked("/a", server.client) == ["/a/e"]
    assert asked("/", server.alice) == ["/a/other"]


def test_a_sync_returns_its_path(server: Server) -> None:
    assert decode(PathResponse, server.read(OpCode.SYNC, PathRequest("/any"))).path == "/any"


def test_a_client_is_told_who_it_is_without_its_secret(server: Server) -> None:
    told = decode(WhoAmIResponse, server.read(OpCode.WHO_AM_I, client=server.alice))
    assert told.client_info == [Id("ip", "127.0.0.1"), Id("digest", "alice")]


@pytest.mark.parametrize("op", [OpCode.EXISTS, OpCode.GET_DATA, OpCode.GET_CHILDREN, OpCode.GET_CHILDREN2])
def test_a_path_with_a_null_character_is_refused(server: Server, op: OpCode) -> None:
    assert server.refused(op, PathWatchRequest("/a\0", True)) == (Code.BAD_ARGUMENTS, "/a\0")


def test_every_operation_that_clients_send_is_a_read_or_a_write(server: Server) -> None:
    reads, writes = server.final.read_ops, frozenset(REQUEST_CLASSES) | {OpCode.MULTI}
    assert not reads & writes
    session = {OpCode.CREATE_SESSION, OpCode.CLOSE_SESSION, OpCode.PING, OpCode.AUTH, OpCode.SASL}
    assert frozenset(OpCode) - reads - writes == session | {OpCode.ERROR, OpCode.DELETE_CONTAINER, OpCode.RECONFIG}


# ── several reads ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_multi_read_has_a_result_or_an_error_for_each_operation(server: Server) -> None:
    operations = [(OpCode.GET_DATA, "/a"), (OpCode.GET_DATA, "/s"), (OpCode.GET_CHILDREN, "/a")]
    records = [part for op, path in operations for part in (MultiHeader(op, False, -1), PathWatchRequest(path, False))]
    reader = JuteReader(server.read(OpCode.MULTI_READ, *records, MULTI_END))
    assert read_record(MultiHeader, reader) == MultiHeader(OpCode.GET_DATA, False, Code.OK)
    assert read_record(GetDataResponse, reader).data == b"1"
    assert read_record(MultiHeader, reader) == MultiHeader(OpCode.ERROR, False, Code.NO_AUTH)
    assert read_record(ErrorResponse, reader) == ErrorResponse(Code.NO_AUTH)
    assert read_record(MultiHeader, reader) == MultiHeader(OpCode.GET_CHILDREN, False, Code.OK)
    assert read_record(PathsResponse, reader).paths == ["b"]
    assert read_record(MultiHeader, reader) == MULTI_END
    assert reader.remaining == 0


def test_a_multi_read_does_nothing_but_read_data_and_children(server: Server) -> None:
    records = MultiHeader(OpCode.EXISTS, False, -1), PathWatchRequest("/a", False), MULTI_END
    assert server.refused(OpCode.MULTI_READ, *records) == (Code.MARSHALLING_ERROR, "")


# ── watches ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_read_with_a_watch_hears_of_the_next_change(server: Server) -> None:
    server.get("/a", watch=True)
    server.get("/a", client=server.alice)
    server.read(OpCode.GET_CHILDREN, PathWatchRequest("/a", True))
    server.refused(OpCode.EXISTS, PathWatchRequest("/new", True))
    server.do(SetDataTxn("/a", b"2", 1))
    server.do(SetDataTxn("/a", b"3", 2))
    server.create("/a/c")
    server.create("/new")
    assert server.client.events == [
        (EventType.NODE_DATA_CHANGED, "/a"),
        (EventType.NODE_CHILDREN_CHANGED, "/a"),
        (EventType.NODE_CREATED, "/new"),
    ]
    assert server.alice.events == []


@pytest.mark.parametrize(("mode", "below"), [(0, []), (1, [(EventType.NODE_CREATED, "/a/c")])])
def test_a_persistent_watch_stays_and_a_recursive_one_hears_of_all_below(
    server: Server, mode: int, below: list[tuple[EventType, str]]
) -> None:
    response = server.read(OpCode.ADD_WATCH, AddWatchRequest("/a", mode))
    assert decode(ErrorResponse, response) == ErrorResponse(Code.OK)
    for version in (1, 2):
        server.do(SetDataTxn("/a", b"2", version))
    assert server.client.events == [(EventType.NODE_DATA_CHANGED, "/a")] * 2
    server.client.events.clear()
    server.create("/a/c")
    assert server.client.events == (below or [(EventType.NODE_CHILDREN_CHANGED, "/a")])


def test_a_watch_of_an_unknown_mode_or_path_is_refused(server: Server) -> None:
    assert server.refused(OpCode.ADD_WATCH, AddWatchRequest("/a", 2)) == (Code.MARSHALLING_ERROR, "/a")
    assert server.refused(OpCode.ADD_WATCH, AddWatchRequest("/\0", 0)) == (Code.BAD_ARGUMENTS, "/\0")


@pytest.mark.parametrize(("kind", "left"), [(CHILDREN, DATA), (DATA, CHILDREN), (ANY, None)])
def test_watches_are_looked_for_and_removed_by_their_kind(server: Server, kind: int, left: int | None) -> None:
    server.get("/a", watch=True)
    server.read(OpCode.GET_CHILDREN, PathWatchRequest("/a", True))
    asked = WatcherTypeRequest("/a", kind)
    assert server.read(OpCode.CHECK_WATCHES, asked) == b""
    assert server.refused(OpCode.CHECK_WATCHES, asked, client=server.alice) == (Code.NO_WATCHER, "/a")
    assert server.read(OpCode.REMOVE_WATCHES, asked) == b""
    for op in (OpCode.CHECK_WATCHES, OpCode.REMOVE_WATCHES):
        assert server.refused(op, asked) == (Code.NO_WATCHER, "/a")
    if left is not None:
        assert server.read(OpCode.CHECK_WATCHES, WatcherTypeRequest("/a", left)) == b""
    server.do(SetDataTxn("/a", b"2", 1))
    server.create("/a/c")
    heard = {DATA: EventType.NODE_DATA_CHANGED, CHILDREN: EventType.NODE_CHILDREN_CHANGED}
    assert server.client.events == ([] if left is None else [(heard[left], "/a")])


def test_an_unknown_kind_of_watch_cannot_be_read(server: Server) -> None:
    assert server.refused(OpCode.CHECK_WATCHES, WatcherTypeRequest("/a", 0))[0] is Code.MARSHALLING_ERROR


def test_a_client_that_comes_back_sets_its_watches_and_hears_what_it_missed(server: Server) -> None:
    seen = server.tree.last_processed_zxid
    server.do(SetDataTxn("/a", b"2", 1))
    assert server.read(OpCode.SET_WATCHES, SetWatches(seen, ["/a", "/s"], ["/later"], ["/a/b"])) == b""
    assert server.client.events == [(EventType.NODE_DATA_CHANGED, "/a")]
    server.client.events.clear()
    server.create("/later")
    server.create("/a/b/c")
    assert server.client.events == [(EventType.NODE_CREATED, "/later"), (EventType.NODE_CHILDREN_CHANGED, "/a/b")]


def test_persistent_watches_are_set_again_too(server: Server) -> None:
    seen = server.tree.last_processed_zxid
    assert server.read(OpCode.SET_WATCHES2, SetWatches2(seen, [], [], [], ["/a"], ["/s"])) == b""
    server.do(SetDataTxn("/a", b"2", 1))
    server.do(DeleteTxn("/a/b"))
    server.create("/s/below")
    assert server.client.events == [
        (EventType.NODE_DATA_CHANGED, "/a"),
        (EventType.NODE_CHILDREN_CHANGED, "/a"),
        (EventType.NODE_CREATED, "/s/below"),
    ]


# ── writes ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_write_has_the_body_that_clients_expect(server: Server) -> None:
    written, stat = server.final.written, server.tree.get_node("/a").stat()
    result = ProcessTxnResult("/a", stat)
    assert decode(PathResponse, written(OpCode.CREATE, result)) == PathResponse("/a")
    for op in (OpCode.CREATE2, OpCode.CREATE_CONTAINER, OpCode.CREATE_TTL):
        assert decode(Create2Response, written(op, result)) == Create2Response("/a", stat)
    for op in (OpCode.SET_DATA, OpCode.SET_ACL):
        assert decode(Stat, written(op, result)) == stat
    for op in (OpCode.DELETE, OpCode.CHECK):
        assert written(op, ProcessTxnResult("/a")) == b""


def test_a_multi_has_the_result_of_each_of_its_operations(server: Server) -> None:
    stat = server.tree.get_node("/a").stat()
    results = [(OpCode.CREATE, "/a"), (OpCode.CREATE_CONTAINER, "/c"), (OpCode.DELETE, "/d"), (OpCode.SET_DATA, "/a")]
    body = server.final.written(
        OpCode.MULTI, ProcessTxnResult(multi=tuple((op, ProcessTxnResult(path, stat)) for op, path in results))
    )
    ok = Code.OK
    assert body == encode(
        MultiHeader(OpCode.CREATE, False, ok), PathResponse("/a"),
        MultiHeader(OpCode.CREATE2, False, ok), Create2Response("/c", stat),
        MultiHeader(OpCode.DELETE, False, ok),
        MultiHeader(OpCode.SET_DATA, False, ok), stat,
        MULTI_END,
    )  # fmt: skip


def test_a_failed_multi_has_an_error_for_each_of_its_operations(server: Server) -> None:
    errors = [Code.OK, Code.NO_NODE, Code.RUNTIME_INCONSISTENCY]
    parts = [part for code in errors for part in (MultiHeader(OpCode.ERROR, False, code), ErrorResponse(code))]
    assert server.final.multi_failed(errors) == encode(*parts, MULTI_END)
