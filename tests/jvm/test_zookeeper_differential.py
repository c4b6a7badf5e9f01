"""The embedded ZooKeeper compared with a real one: same requests, same replies; and each runs on the other's files."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kafka_lite.zookeeper.embedded.authentication import generate_digest
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.embedded.jute import JuteReader, read_record
from kafka_lite.zookeeper.embedded.protocol import (
    ACL,
    MULTI_END,
    OPEN_ACL_UNSAFE,
    READ_ACL_UNSAFE,
    AddWatchRequest,
    CheckVersionRequest,
    Create2Response,
    CreateRequest,
    CreateTTLRequest,
    DeleteRequest,
    ErrorResponse,
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
    SetACLRequest,
    SetDataRequest,
    SetWatches,
    SetWatches2,
    Stat,
    WatcherTypeRequest,
    WhoAmIResponse,
)
from tests.support.real_zookeeper import real_zookeeper
from tests.support.zookeeper_raw_client import RawClient, Reply

pytestmark = pytest.mark.jvm

RESPONSES: dict[OpCode, type] = {
    OpCode.CREATE: PathResponse,
    OpCode.CREATE2: Create2Response,
    OpCode.CREATE_CONTAINER: Create2Response,
    OpCode.CREATE_TTL: Create2Response,
    OpCode.SET_DATA: Stat,
    OpCode.SET_ACL: Stat,
    OpCode.EXISTS: Stat,
    OpCode.GET_DATA: GetDataResponse,
    OpCode.GET_ACL: GetACLResponse,
    OpCode.GET_CHILDREN: PathsResponse,
    OpCode.GET_CHILDREN2: GetChildren2Response,
    OpCode.SYNC: PathResponse,
    OpCode.GET_EPHEMERALS: PathsResponse,
    OpCode.GET_ALL_CHILDREN_NUMBER: GetAllChildrenNumberResponse,
    OpCode.ADD_WATCH: ErrorResponse,
    OpCode.WHO_AM_I: WhoAmIResponse,
}

# ---- Requests --------------------------------------------------------------------------------------------------------

paths = st.sampled_from(["/a", "/a", "/a/b", "/a/b", "/a/b/c", "/b", "/s-", "", "/a//b", "/a/", "/a/./b", "/a\x01"])
versions = st.sampled_from([-1, -1, -1, 0, 1, 2])
data = st.sampled_from([None, b"", b"x", b"longer"])
ALICE, BOB = b"alice:secret", b"bob:secret"
acls = st.sampled_from(
    [
        OPEN_ACL_UNSAFE,
        OPEN_ACL_UNSAFE,
        OPEN_ACL_UNSAFE,
        READ_ACL_UNSAFE,
        (),
        (ACL(31, Id("auth", "")),),
        (*OPEN_ACL_UNSAFE, ACL(31, Id("auth", ""))),
        (ACL(31, Id("digest", generate_digest(ALICE.decode()))), *READ_ACL_UNSAFE),
        (ACL(int(Perms.READ), Id("digest", generate_digest(BOB.decode()))),),
        (ACL(31, Id("digest", "nobody")),),
        (ACL(31, Id("ip", "127.0.0.1")),),
        (ACL(31, Id("ip", "127.0.0.0/8")), ACL(31, Id("ip", "127.0.0.0/8"))),
        (ACL(31, Id("ip", "10.0.0.1")),),
        (ACL(31, Id("ip", "not an address")),),
        (ACL(31, Id("world", "someone")),),
        (ACL(31, Id("unheard-of", "anyone")),),
    ]
)
watch = st.booleans()

creates = st.builds(
    lambda *r: (OpCode.CREATE, CreateRequest(*r)), paths, data, acls, st.sampled_from([0, 0, 0, 1, 2, 3])
)
writes = st.one_of(
    creates,
    creates,
    st.builds(lambda *r: (OpCode.CREATE2, CreateRequest(*r)), paths, data, acls, st.sampled_from([0, 1, 2, 3, 9])),
    st.builds(lambda *r: (OpCode.CREATE_CONTAINER, CreateRequest(*r)), paths, data, acls, st.just(4)),
    st.builds(
        lambda *r: (OpCode.CREATE_TTL, CreateTTLRequest(*r)),
        paths,
        data,
        acls,
        st.sampled_from([5, 6]),
        st.sampled_from([0, 1 << 30, 1 << 41]),
    ),
    st.builds(lambda *r: (OpCode.DELETE, DeleteRequest(*r)), paths, versions),
    st.builds(lambda *r: (OpCode.SET_DATA, SetDataRequest(*r)), paths, data, versions),
    st.builds(lambda *r: (OpCode.SET_ACL, SetACLRequest(*r)), paths, acls, versions),
)
checks = st.builds(lambda *r: (OpCode.CHECK, CheckVersionRequest(*r)), paths, versions)
# ZooKeeper's multi accepts neither setACL nor the operation createContainer.
multi_writes = writes.filter(lambda write: write[0] not in (OpCode.SET_ACL,))
multis = st.lists(st.one_of(multi_writes, checks), max_size=4).map(lambda ops: (OpCode.MULTI, *ops))
reads = st.one_of(
    st.builds(
        lambda op, *r: (op, PathWatchRequest(*r)),
        st.sampled_from([OpCode.EXISTS, OpCode.GET_DATA, OpCode.GET_CHILDREN, OpCode.GET_CHILDREN2]),
        paths.filter(bool),
        watch,
    ),
    st.builds(
        lambda op, *r: (op, PathRequest(*r)),
        st.sampled_from([OpCode.GET_ACL, OpCode.GET_ALL_CHILDREN_NUMBER, OpCode.GET_EPHEMERALS, OpCode.SYNC]),
        paths.filter(bool),
    ),
    st.just((OpCode.WHO_AM_I,)),
)
multi_reads = st.lists(
    st.builds(
        lambda op, path: (op, PathWatchRequest(path, False)),
        st.sampled_from([OpCode.GET_DATA, OpCode.GET_CHILDREN]),
        paths.filter(bool),
    ),
    max_size=3,
).map(lambda ops: (OpCode.MULTI_READ, *ops))
# In 3.8, standard and persistent watches of one watcher on the same path overwrite each other (ZOOKEEPER-4466, fixed in
# 3.9 as here): the persistent ones get paths of their own.
watched = st.sampled_from(["/w", "/w/x"])
watches = st.one_of(
    st.builds(lambda *r: (OpCode.ADD_WATCH, AddWatchRequest(*r)), watched, st.sampled_from([0, 1, 7])),
    # No checkWatches: 3.8 checks the watches of any client instead of the requesting one's.
    st.builds(
        lambda *r: (OpCode.REMOVE_WATCHES, WatcherTypeRequest(*r)),
        st.one_of(paths, watched),
        st.sampled_from([1, 2, 3]),
    ),
    st.builds(
        lambda path, flags: (OpCode.CREATE, CreateRequest(path, b"", OPEN_ACL_UNSAFE, flags)),
        st.sampled_from(["/w", "/w/x", "/w/x/y"]),
        st.sampled_from([0, 1, 2]),
    ),
    st.builds(lambda path: (OpCode.DELETE, DeleteRequest(path, -1)), st.sampled_from(["/w", "/w/x", "/w/x/y"])),
    st.builds(lambda path: (OpCode.SET_DATA, SetDataRequest(path, b"w", -1)), watched),
)
auths = st.sampled_from([(OpCode.AUTH, b"alice:secret"), (OpCode.AUTH, b"bob:secret")])
requests = st.tuples(
    st.integers(0, 1), st.one_of(writes, writes, writes, multis, reads, reads, multi_reads, watches, auths)
)

# ---- Both servers ----------------------------------------------------------------------------------------------------

_numbers = itertools.count()


class Side:
    """One of the two servers: two sessions, and names for the numbers that differ between the servers."""

    def __init__(self, connect_string: str, root: str) -> None:
        self.clients = [RawClient(connect_string) for _ in range(2)]
        self.root = root
        self._names: dict[int, str] = {0: "0"}
        self._zxids: dict[int, str] = {}
        for i, client in enumerate(self.clients):
            self._names[client.session_id] = f"session {i}"
        self.ask(0, (OpCode.CREATE, CreateRequest("", None, OPEN_ACL_UNSAFE, 0)))

    def ask(self, who: int, request: tuple[Any, ...]) -> tuple[Any, ...]:
        """The reply and every client's events, in terms that do not depend on the server."""
        op, *records = request
        client = self.clients[who]
        if op is OpCode.AUTH:
            reply = client.authenticate("digest", records[0])
        elif op in (OpCode.MULTI, OpCode.MULTI_READ):
            flat = [part for sub, record in records for part in (MultiHeader(sub, False, -1), self._rooted(record))]
            reply = client.call(op, *flat, MULTI_END)
        else:
            reply = client.call(op, *map(self._rooted, records))
        # Both number transactions, but only ZooKeeper numbers rejected ones, too: name them by their order.
        self._zxids.setdefault(reply.zxid, f"zxid {len(self._zxids)}") if self._is_write(op, reply) else None
        events = [client.take_events() for client in self.clients]
        return self._answer(op, reply), [[(kind, self._unrooted(path)) for kind, path in sorted(e)] for e in events]

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self.clients:
            client.close()

    def _is_write(self, op: OpCode, reply: Reply) -> bool:
        if op is OpCode.MULTI:
            return read_record(MultiHeader, JuteReader(reply.body)).type != OpCode.ERROR
        return reply.err == 0 and op in (
            OpCode.CREATE,
            OpCode.CREATE2,
            OpCode.CREATE_CONTAINER,
            OpCode.CREATE_TTL,
            OpCode.DELETE,
            OpCode.SET_DATA,
            OpCode.SET_ACL,
        )

    def _rooted(self, record: Any) -> Any:
        return record._replace(path=self.root + record.path)

    def _unrooted(self, path: str) -> str:
        return path.removeprefix(self.root)

    def _answer(self, op: OpCode, reply: Reply) -> Any:
        if reply.err:
            return reply.err
        if op in (OpCode.MULTI, OpCode.MULTI_READ):
            return self._multi_response(JuteReader(reply.body))
        if op not in RESPONSES:
            return reply.body
        return self._normal(reply.read(RESPONSES[op]))

    def _multi_response(self, reader: JuteReader) -> list[Any]:
        answers: list[Any] = []
        while not (header := read_record(MultiHeader, reader)).done:
            if header.type == OpCode.ERROR:
                answers.append((header.err, read_record(ErrorResponse, reader)))
            elif header.type in RESPONSES:
                answers.append((header, self._normal(read_record(RESPONSES[OpCode(header.type)], reader))))
            else:
                answers.append(header)
        return answers

    def _normal(self, value: Any) -> Any:
        if isinstance(value, Stat):
            return value._replace(
                ctime=0,
                mtime=0,
                czxid=self._zxids.get(value.czxid, value.czxid),
                mzxid=self._zxids.get(value.mzxid, value.mzxid),
                pzxid=self._zxids.get(value.pzxid, value.pzxid),
                ephemeral_owner=self._names.get(value.ephemeral_owner, value.ephemeral_owner),
            )
        if isinstance(value, str):
            return self._unrooted(value)
        if isinstance(value, list):
            return sorted(map(self._normal, value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self._normal, value))
        return value


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    directory = tmp_path_factory.mktemp("zookeeper")
    with (
        real_zookeeper(directory / "real") as real,
        EmbeddedZooKeeper(
            directory / "embedded", tick_time_ms=500, extended_types_enabled=True, force_sync=False
        ) as ours,
    ):
        yield real, ours.connect_string


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
@given(st.lists(requests, min_size=5, max_size=40))
def test_same_requests_get_the_same_replies(both: tuple[str, str], requests: list[tuple[int, tuple[Any, ...]]]) -> None:
    root = f"/example-{next(_numbers)}"
    with Side(both[0], root) as real, Side(both[1], root) as ours:
        for number, (who, request) in enumerate(requests):
            assert ours.ask(who, request) == real.ask(who, request), f"request {number}: {request}"


@pytest.mark.parametrize("relative", ["before", "after"])
def test_set_watches_after_a_reconnect(both: tuple[str, str], relative: str) -> None:
    root = f"/reconnect-{relative}"
    told = []
    for connect_string in both:
        client = RawClient(connect_string)
        for name in ("", "/changed", "/deleted", "/parent", "/same"):
            client.call(OpCode.CREATE, CreateRequest(root + name, b"", OPEN_ACL_UNSAFE, 0))
        seen = client.call(OpCode.SYNC, PathRequest("/")).zxid
        client.call(OpCode.SET_DATA, SetDataRequest(f"{root}/changed", b"x", -1))
        client.call(OpCode.DELETE, DeleteRequest(f"{root}/deleted", -1))
        client.call(OpCode.CREATE, CreateRequest(f"{root}/created", b"", OPEN_ACL_UNSAFE, 0))
        client.call(OpCode.CREATE, CreateRequest(f"{root}/parent/child", b"", OPEN_ACL_UNSAFE, 0))
        if relative == "after":
            seen = client.call(OpCode.SYNC, PathRequest("/")).zxid
        both_kinds = [f"{root}/{name}" for name in ("changed", "deleted", "created", "parent", "same")]
        absent = [*both_kinds, f"{root}/never"]
        client.call(OpCode.SET_WATCHES, SetWatches(seen, both_kinds, absent, both_kinds))
        missed = sorted(client.take_events())
        persistent = SetWatches2(seen, [], [], [], [f"{root}/same"], [f"{root}/parent"])
        client.call(OpCode.SET_WATCHES2, persistent)
        for _ in range(2):
            client.call(OpCode.SET_DATA, SetDataRequest(f"{root}/same", b"x", -1))
            client.call(OpCode.SET_DATA, SetDataRequest(f"{root}/parent/child", b"x", -1))
        told.append((missed, sorted(client.take_events())))
        client.close()
    assert told[0] == told[1]
    assert told[0][0]


# ---- Each on the other's files ---------------------------------------------------------------------------------------


def fill(connect_string: str) -> RawClient:
    """Every kind of znode and transaction; returns the session that owns the ephemeral ones, still open."""
    client = RawClient(connect_string, timeout_ms=10_000)
    client.authenticate("digest", ALICE)
    owned = (ACL(31, Id("auth", "")), *READ_ACL_UNSAFE)
    for number in range(40):
        client.call(OpCode.CREATE, CreateRequest(f"/n{number}", bytes([number]), OPEN_ACL_UNSAFE, 0))
    client.call(OpCode.CREATE, CreateRequest("/null", None, OPEN_ACL_UNSAFE, 0))
    client.call(OpCode.CREATE, CreateRequest("/汉字", "数据".encode(), owned, 0))
    client.call(OpCode.CREATE, CreateRequest("/n0/e", b"", OPEN_ACL_UNSAFE, 1))
    for _ in range(3):
        client.call(OpCode.CREATE, CreateRequest("/n1/s-", b"", OPEN_ACL_UNSAFE, 2))
    client.call(OpCode.DELETE, DeleteRequest("/n1/s-0000000001", -1))
    client.call(OpCode.CREATE_CONTAINER, CreateRequest("/container", b"", OPEN_ACL_UNSAFE, 4))
    client.call(OpCode.CREATE_TTL, CreateTTLRequest("/ttl", b"", OPEN_ACL_UNSAFE, 5, 1 << 35))
    client.call(OpCode.SET_DATA, SetDataRequest("/n2", b"changed", 0))
    client.call(OpCode.SET_ACL, SetACLRequest("/n3", owned, 0))
    client.call(
        OpCode.MULTI,
        MultiHeader(OpCode.CREATE, False, -1),
        CreateRequest("/n4/m", b"", OPEN_ACL_UNSAFE, 0),
        MultiHeader(OpCode.CHECK, False, -1),
        CheckVersionRequest("/n4", 0),
        MultiHeader(OpCode.SET_DATA, False, -1),
        SetDataRequest("/n4/m", b"multi", 0),
        MultiHeader(OpCode.DELETE, False, -1),
        DeleteRequest("/n5", -1),
        MULTI_END,
    )
    client.call(OpCode.DELETE, DeleteRequest("/n9/nothing", -1))
    other = RawClient(connect_string)
    other.call(OpCode.CREATE, CreateRequest("/n6/gone", b"", OPEN_ACL_UNSAFE, 1))
    other.close()
    client.call(OpCode.CREATE, CreateRequest("/last", b"", OPEN_ACL_UNSAFE, 0))
    return client


def tree_of(client: RawClient, path: str = "/") -> dict[str, Any]:
    """Path → data, complete stat and ACL, for everything below."""
    found = client.call(OpCode.GET_DATA, PathWatchRequest(path, False)).read(GetDataResponse)
    acl = client.call(OpCode.GET_ACL, PathRequest(path)).read(GetACLResponse).acl
    tree: dict[str, Any] = {path: (found, acl)}
    for name in client.call(OpCode.GET_CHILDREN, PathWatchRequest(path, False)).read(PathsResponse).paths:
        tree |= tree_of(client, f"{path.rstrip('/')}/{name}")
    return tree


def assert_goes_on(connect_string: str, before: RawClient, expected: dict[str, Any]) -> None:
    """The same tree, the same session, the next sequential name."""
    client = RawClient(connect_string, session=(before.session_id, before.password))
    assert client.session_id == before.session_id
    client.authenticate("digest", ALICE)
    assert tree_of(client) == expected
    created = client.call(OpCode.CREATE, CreateRequest("/n1/s-", b"", OPEN_ACL_UNSAFE, 2)).read(PathResponse)
    assert created.path == "/n1/s-0000000003"
    client.close()
    after = RawClient(connect_string)
    assert after.call(OpCode.EXISTS, PathWatchRequest("/n0/e", False)).err == -101
    after.close()


@pytest.mark.parametrize("snap_count", [20, 10_000], ids=["snapshots", "log only"])
def test_a_real_server_continues_from_our_files(tmp_path: Path, snap_count: int) -> None:
    with EmbeddedZooKeeper(tmp_path, snap_count=snap_count, extended_types_enabled=True) as ours:
        client = fill(ours.connect_string)
        expected = tree_of(client)
        client.disconnect()
    with real_zookeeper(tmp_path) as connect_string:
        assert_goes_on(connect_string, client, expected)


def test_a_real_server_continues_from_the_files_of_a_killed_server(tmp_path: Path) -> None:
    """Such a log ends with preallocated zeros; that of a server that wrote nothing has nothing else."""
    with EmbeddedZooKeeper(tmp_path / "ours", extended_types_enabled=True) as ours:
        client = fill(ours.connect_string)
        expected = tree_of(client)
        client.disconnect()
        shutil.copytree(tmp_path / "ours", tmp_path / "killed")
    with EmbeddedZooKeeper(tmp_path / "killed"):
        shutil.copytree(tmp_path / "killed", tmp_path / "killed again")
    with real_zookeeper(tmp_path / "killed again") as connect_string:
        assert_goes_on(connect_string, client, expected)


def test_we_continue_from_the_files_of_a_real_server(tmp_path: Path) -> None:
    with real_zookeeper(tmp_path) as connect_string:
        client = fill(connect_string)
        expected = tree_of(client)
        client.disconnect()
    with EmbeddedZooKeeper(tmp_path, extended_types_enabled=True) as ours:
        assert_goes_on(ours.connect_string, client, expected)
    # The real server made a snapshot at its start; now it makes another, with our writes.
    with real_zookeeper(tmp_path) as connect_string, RawClient(connect_string) as reader:
        assert "/n1/s-0000000003" in tree_of(reader)
    with EmbeddedZooKeeper(tmp_path) as ours, RawClient(ours.connect_string) as reader:
        assert "/n1/s-0000000003" in tree_of(reader)
