"""Sessions and packets, without sockets and without waiting."""

from __future__ import annotations

import contextlib
import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.zookeeper.digest_md5 import DigestMd5Client, DigestMd5Server
from kafka_lite.zookeeper.embedded.jute import JuteReader, decode, encode, read_record
from kafka_lite.zookeeper.embedded.keeper_exception import Code
from kafka_lite.zookeeper.embedded.protocol import (
    ACL,
    MULTI_END,
    OPEN_ACL_UNSAFE,
    AddWatchRequest,
    AuthPacket,
    ConnectRequest,
    ConnectResponse,
    Create2Response,
    CreateRequest,
    CreateTTLRequest,
    DeleteRequest,
    ErrorResponse,
    EventType,
    GetACLResponse,
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
    ReplyHeader,
    RequestHeader,
    SaslToken,
    SetACLRequest,
    SetDataRequest,
    SetWatches,
    SetWatches2,
    Stat,
    WatcherTypeRequest,
    WhoAmIResponse,
    Xid,
)
from kafka_lite.zookeeper.embedded.session_tracker import session_password
from kafka_lite.zookeeper.embedded.zk_database import ZKDatabase
from kafka_lite.zookeeper.embedded.zookeeper_server import CONTAINER_CHECK_INTERVAL_MS, BadPacket, ZooKeeperServer

TICK_MS = 2000


class FakeConnection:
    """A connection whose frames stay in a list."""

    def __init__(self) -> None:
        self.address = "127.0.0.1"
        self.identities = [Id("ip", "127.0.0.1")]
        self.sasl_server: DigestMd5Server | None = None
        self.session_id = 0
        self.is_initialized = False
        self.is_closing = False
        self.sent: list[Any] = []

    def send(self, payload: bytes) -> None:
        self.sent.append(payload)

    def process(self, event: EventType, path: str) -> None:
        self.sent.append((event, path))

    def close_after_send(self) -> None:
        self.is_closing = True

    def close(self) -> None:
        self.is_closing = True


class Client:
    """What a test sends to the server, and what it receives."""

    def __init__(
        self, server: ZooKeeperServer, session: tuple[int, bytes] = (0, b""), timeout_ms: int = 10_000
    ) -> None:
        self.server = server
        self.connection = FakeConnection()
        server.process_connect(self.connection, encode(ConnectRequest(0, 0, timeout_ms, *session)) + b"\0")
        self.connected = decode(ConnectResponse, self.connection.sent.pop())
        self.session = (self.connected.session_id, self.connected.passwd or b"")

    def ask(self, op: int, *records: tuple[Any, ...], xid: int = 1) -> tuple[ReplyHeader, JuteReader]:
        self.server.process_packet(self.connection, encode(RequestHeader(xid, op), *records))
        reader = JuteReader(self.connection.sent.pop())
        return read_record(ReplyHeader, reader), reader

    def error(self, op: int, *records: tuple[Any, ...]) -> int:
        return self.ask(op, *records)[0].err

    def read(self, response_class: type, op: int, *records: tuple[Any, ...]) -> Any:
        header, reader = self.ask(op, *records)
        assert header.err == 0
        return read_record(response_class, reader)

    def create(self, path: str, mode: int = 0, acl: tuple[ACL, ...] = OPEN_ACL_UNSAFE) -> str:
        response: PathResponse = self.read(PathResponse, OpCode.CREATE, CreateRequest(path, b"", acl, mode))
        return response.path


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[ZKDatabase]:
    database = ZKDatabase(tmp_path, force_sync=False)
    yield database
    database.close()


def serving(database: ZKDatabase, time: MockTime, **users: str) -> ZooKeeperServer:
    return ZooKeeperServer(
        database,
        time,
        tick_time_ms=TICK_MS,
        min_session_timeout_ms=2 * TICK_MS,
        max_session_timeout_ms=20 * TICK_MS,
        extended_types_enabled=True,
        sasl_users=users,
    )


@pytest.fixture
def server(database: ZKDatabase, time: MockTime) -> ZooKeeperServer:
    return serving(database, time)


# ---- Sessions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "granted"), [(0, 4000), (3999, 4000), (10_000, 10_000), (1 << 30, 40_000), (-1, 4000)]
)
def test_the_session_timeout_is_negotiated(server: ZooKeeperServer, asked: int, granted: int) -> None:
    assert Client(server, timeout_ms=asked).connected.time_out == granted


def test_an_old_client_gets_no_read_only_byte(server: ZooKeeperServer) -> None:
    lengths = []
    for echo in (b"", b"\0"):
        connection = FakeConnection()
        server.process_connect(connection, encode(ConnectRequest(0, 0, 4000, 0, bytes(16))) + echo)
        lengths.append(len(connection.sent[0]))
    assert lengths == [36, 37]


def test_an_expired_session_loses_its_ephemeral_znodes(server: ZooKeeperServer, time: MockTime) -> None:
    client, other = Client(server, timeout_ms=4000), Client(server, timeout_ms=40_000)
    client.create("/e", 1)
    other.ask(OpCode.EXISTS, PathWatchRequest("/e", True))
    time.sleep(4000 + TICK_MS)
    server.expire_sessions()
    assert client.connection.is_closing
    assert other.connection.sent == [(EventType.NODE_DELETED, "/e")]
    again = Client(server, client.session)
    assert (again.connected.time_out, again.connected.session_id, again.connected.passwd) == (0, 0, bytes(16))
    assert again.connection.is_closing


def test_any_packet_extends_the_session(server: ZooKeeperServer, time: MockTime) -> None:
    client = Client(server, timeout_ms=4000)
    for _ in range(10):
        time.sleep(3000)
        assert client.ask(OpCode.PING, xid=Xid.PING)[0].xid == Xid.PING
        server.expire_sessions()
    assert not client.connection.is_closing


def test_a_session_moves_to_a_new_connection(server: ZooKeeperServer) -> None:
    old = Client(server)
    old.create("/e", 1)
    old.ask(OpCode.GET_DATA, PathWatchRequest("/e", True))
    new = Client(server, old.session, timeout_ms=20_000)
    assert (new.connected.session_id, new.connected.time_out) == (old.connected.session_id, 20_000)
    assert old.connection.is_closing
    # The watch ended with the connection; the znode did not.
    new.ask(OpCode.SET_DATA, SetDataRequest("/e", b"", -1))
    assert old.connection.sent == []
    # The late end of the old connection must not close the session of the new one.
    server.detach(old.connection)
    assert new.error(OpCode.EXISTS, PathWatchRequest("/e", False)) == 0


def test_a_wrong_password_gets_no_session_and_closes_none(server: ZooKeeperServer) -> None:
    client = Client(server)
    thief = Client(server, (client.session[0], b"guessed"))
    assert thief.connected.time_out == 0
    assert not client.connection.is_closing


def test_a_session_survives_a_restart_of_the_server(
    server: ZooKeeperServer, database: ZKDatabase, time: MockTime
) -> None:
    client = Client(server, timeout_ms=4000)
    client.create("/e", 1)
    time.sleep(100_000)
    restarted = serving(database, time)
    restarted.expire_sessions()
    back = Client(restarted, client.session)
    assert back.connected.session_id == client.connected.session_id
    assert back.error(OpCode.EXISTS, PathWatchRequest("/e", False)) == 0


def test_closing_a_session(server: ZooKeeperServer) -> None:
    client = Client(server)
    client.create("/e", 1)
    assert client.ask(OpCode.CLOSE_SESSION, xid=9)[0].xid == 9
    assert client.connection.is_closing
    assert "/e" not in server.database.tree.nodes
    assert Client(server, client.session).connected.time_out == 0


def test_a_client_with_a_newer_zxid_is_rejected(server: ZooKeeperServer) -> None:
    with pytest.raises(BadPacket, match="has seen zxid 0x5"):
        server.process_connect(FakeConnection(), encode(ConnectRequest(0, 5, 4000, 0, b"")))


def test_the_password_of_a_session_survives_a_restart(server: ZooKeeperServer) -> None:
    client = Client(server)
    assert client.connected.passwd == session_password(client.connected.session_id)


# ---- Requests --------------------------------------------------------------------------------------------------------


def test_read_requests(server: ZooKeeperServer) -> None:
    client = Client(server)
    client.create("/a")
    client.create("/a/e", 1)
    assert client.read(Stat, OpCode.EXISTS, PathWatchRequest("/a", False)).num_children == 1
    assert client.read(GetDataResponse, OpCode.GET_DATA, PathWatchRequest("/a", False)).data == b""
    assert client.read(PathsResponse, OpCode.GET_CHILDREN, PathWatchRequest("/a", False)).paths == ["e"]
    assert client.read(GetChildren2Response, OpCode.GET_CHILDREN2, PathWatchRequest("/a", False)).stat.cversion == 1
    assert client.read(GetACLResponse, OpCode.GET_ACL, PathRequest("/a")).acl == OPEN_ACL_UNSAFE
    assert client.read(PathResponse, OpCode.SYNC, PathRequest("/a")).path == "/a"
    assert client.read(PathsResponse, OpCode.GET_EPHEMERALS, PathRequest("/a")).paths == ["/a/e"]
    assert client.read(PathsResponse, OpCode.GET_EPHEMERALS, PathRequest("/b")).paths == []


def test_replies_carry_the_newest_zxid(server: ZooKeeperServer) -> None:
    client = Client(server)
    assert client.ask(OpCode.CREATE, CreateRequest("/a", b"", OPEN_ACL_UNSAFE, 0))[0].zxid == 2
    assert client.ask(OpCode.CREATE, CreateRequest("/a", b"", OPEN_ACL_UNSAFE, 0))[0] == (1, 2, Code.NODE_EXISTS)
    assert client.ask(OpCode.PING)[0].zxid == 2


def test_an_event_is_queued_before_the_reply_to_the_change(server: ZooKeeperServer) -> None:
    client = Client(server)
    client.create("/a")
    client.ask(OpCode.GET_DATA, PathWatchRequest("/a", True))
    request = encode(RequestHeader(7, OpCode.SET_DATA), SetDataRequest("/a", b"x", -1))
    server.process_packet(client.connection, request)
    event, reply = client.connection.sent
    assert event == (EventType.NODE_DATA_CHANGED, "/a")
    assert decode(ReplyHeader, reply).xid == 7


def test_a_connection_keeps_all_its_identities(server: ZooKeeperServer) -> None:
    client = Client(server)
    assert client.error(OpCode.GET_DATA, PathWatchRequest("/", False)) == 0
    for credentials in (b"alice:secret", b"alice:secret", b"bob:secret"):
        assert client.ask(OpCode.AUTH, AuthPacket(0, "digest", credentials), xid=Xid.AUTH)[0].err == 0
    info = client.read(WhoAmIResponse, OpCode.WHO_AM_I).client_info
    assert info == [Id("ip", "127.0.0.1"), Id("digest", "alice"), Id("digest", "bob")]
    client.create("/mine", acl=(ACL(31, Id("auth", "")),))
    stranger = Client(server)
    assert stranger.error(OpCode.GET_DATA, PathWatchRequest("/mine", False)) == Code.NO_AUTH
    assert stranger.error(OpCode.GET_CHILDREN, PathWatchRequest("/mine", False)) == Code.NO_AUTH
    assert stranger.error(OpCode.GET_ACL, PathRequest("/mine")) == Code.NO_AUTH


def test_digests_are_masked_for_clients_without_admin_permission(server: ZooKeeperServer) -> None:
    client = Client(server)
    client.ask(OpCode.AUTH, AuthPacket(0, "digest", b"alice:secret"))
    client.create("/mine", acl=(ACL(31, Id("auth", "")), ACL(1, Id("world", "anyone"))))
    seen = Client(server).read(GetACLResponse, OpCode.GET_ACL, PathRequest("/mine")).acl
    assert seen[0].id == Id("digest", "alice:x")
    assert client.read(GetACLResponse, OpCode.GET_ACL, PathRequest("/mine")).acl[0].id != seen[0].id


def test_a_failed_authentication_ends_the_connection(server: ZooKeeperServer) -> None:
    client = Client(server)
    assert client.error(OpCode.AUTH, AuthPacket(0, "unheard-of", b"")) == Code.AUTH_FAILED
    assert client.connection.is_closing


def by_sasl(client: Client, user: str, password: str) -> int:
    """Authenticate by SASL's four messages; the error of the last one."""
    end, token = DigestMd5Client(user, password), b""
    while not end.is_complete:
        header, reader = client.ask(OpCode.SASL, SaslToken(token))
        if header.err:
            return header.err
        token = end.evaluate_challenge(read_record(SaslToken, reader).token or b"")
    return 0


def test_a_user_of_sasl_owns_what_it_creates(database: ZKDatabase, time: MockTime) -> None:
    server = serving(database, time, kafka="secret", other="word")
    client, stranger = Client(server), Client(server)
    assert by_sasl(client, "kafka", "secret") == 0
    client.create("/mine", acl=(ACL(Perms.ALL, Id("auth", "")),))
    assert client.read(GetACLResponse, OpCode.GET_ACL, PathRequest("/mine")).acl == (
        ACL(Perms.ALL, Id("sasl", "kafka")),
    )
    assert by_sasl(stranger, "other", "word") == 0
    assert stranger.error(OpCode.GET_DATA, PathWatchRequest("/mine", False)) == Code.NO_AUTH
    assert client.error(OpCode.GET_DATA, PathWatchRequest("/mine", False)) == 0


@pytest.mark.parametrize(("user", "password"), [("kafka", "wrong"), ("nobody", "secret"), ("", "")])
def test_who_does_not_know_the_password_is_disconnected(
    database: ZKDatabase, time: MockTime, user: str, password: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = Client(serving(database, time, kafka="secret"))
    assert by_sasl(client, user, password) == Code.AUTH_FAILED
    assert client.connection.is_closing
    assert client.connection.identities == [Id("ip", "127.0.0.1")]
    assert "by SASL failed: wrong user or password" in caplog.text


def test_bad_tokens_of_sasl_end_the_connection(database: ZKDatabase, time: MockTime) -> None:
    server = serving(database, time, kafka="secret")
    for tokens in ([b"", b""], [b"", b"\xff"], [b"", b'response="' + b"x" * 5000], [b"x", b"username=kafka"]):
        client = Client(server)
        errors = [client.error(OpCode.SASL, SaslToken(token)) for token in tokens]
        assert (errors, client.connection.is_closing) == ([0, Code.AUTH_FAILED], True)


def test_nobody_authenticates_twice_on_a_connection(database: ZKDatabase, time: MockTime) -> None:
    client = Client(serving(database, time, kafka="secret"))
    assert by_sasl(client, "kafka", "secret") == 0
    assert by_sasl(client, "kafka", "secret") == Code.AUTH_FAILED


def test_a_failed_multi_returns_a_result_for_each_operation(server: ZooKeeperServer) -> None:
    client = Client(server)
    create = CreateRequest("/a", b"", OPEN_ACL_UNSAFE, 0)
    header = MultiHeader(OpCode.CREATE, False, -1)
    reply, reader = client.ask(OpCode.MULTI, header, create, header, create, header, create, MULTI_END)
    assert reply.err == 0
    codes = []
    while not (result := read_record(MultiHeader, reader)).done:
        codes.append((result.type, result.err, read_record(ErrorResponse, reader).err))
    assert codes == [(-1, code, code) for code in (Code.OK, Code.NODE_EXISTS, Code.RUNTIME_INCONSISTENCY)]


@pytest.mark.parametrize(
    ("op", "request_record", "response"),
    [
        (OpCode.CREATE, CreateRequest("/new", b"", OPEN_ACL_UNSAFE, 0), PathResponse),
        (OpCode.CREATE2, CreateRequest("/new", b"", OPEN_ACL_UNSAFE, 0), Create2Response),
        (OpCode.CREATE_CONTAINER, CreateRequest("/new", b"", OPEN_ACL_UNSAFE, 4), Create2Response),
        (OpCode.SET_DATA, SetDataRequest("/a", b"", -1), Stat),
        (OpCode.SET_ACL, SetACLRequest("/a", OPEN_ACL_UNSAFE, -1), Stat),
        (OpCode.DELETE, DeleteRequest("/a", -1), None),
    ],
)
def test_a_write_is_answered_by_what_it_has_made(
    server: ZooKeeperServer, op: OpCode, request_record: tuple[Any, ...], response: type | None
) -> None:
    client = Client(server)
    client.create("/a")
    header, reader = client.ask(op, request_record)
    assert header.err == 0
    if response is not None:
        made = read_record(response, reader)
        assert getattr(made, "path", "/new") == "/new"
        assert getattr(made, "stat", made) is not None
    assert reader.remaining == 0


def test_watches_are_removed_by_type(server: ZooKeeperServer) -> None:
    client = Client(server)
    client.ask(OpCode.GET_CHILDREN, PathWatchRequest("/", True))
    children, data, any_kind = (WatcherTypeRequest("/", kind) for kind in (1, 2, 3))
    assert client.error(OpCode.CHECK_WATCHES, children) == 0
    assert client.error(OpCode.CHECK_WATCHES, data) == Code.NO_WATCHER
    assert client.error(OpCode.CHECK_WATCHES, any_kind) == 0
    assert Client(server).error(OpCode.CHECK_WATCHES, any_kind) == Code.NO_WATCHER
    assert client.error(OpCode.REMOVE_WATCHES, data) == Code.NO_WATCHER
    assert client.error(OpCode.REMOVE_WATCHES, any_kind) == 0
    assert client.error(OpCode.REMOVE_WATCHES, any_kind) == Code.NO_WATCHER
    assert client.error(OpCode.REMOVE_WATCHES, WatcherTypeRequest("/", 4)) == Code.MARSHALLING_ERROR
    assert client.error(OpCode.ADD_WATCH, AddWatchRequest("/", 0)) == 0
    assert client.error(OpCode.REMOVE_WATCHES, data) == 0


def test_a_client_that_reconnects_sets_its_watches_again(server: ZooKeeperServer) -> None:
    client, other = Client(server), Client(server)
    for path in ("/data", "/children", "/persistent", "/recursive"):
        other.create(path)
    watches = SetWatches2(1 << 40, ["/data"], ["/new"], ["/children"], ["/persistent"], ["/recursive"])
    assert client.error(OpCode.SET_WATCHES2, watches) == 0
    for path in ("/new", "/children/a", "/children/b", "/persistent/a", "/persistent/b", "/recursive/a"):
        other.create(path)
    other.create("/recursive/a/b")
    for _ in range(2):
        other.ask(OpCode.SET_DATA, SetDataRequest("/data", b"", -1))
    assert client.connection.sent == [
        (EventType.NODE_CREATED, "/new"),
        (EventType.NODE_CHILDREN_CHANGED, "/children"),
        (EventType.NODE_CHILDREN_CHANGED, "/persistent"),
        (EventType.NODE_CHILDREN_CHANGED, "/persistent"),
        (EventType.NODE_CREATED, "/recursive/a"),
        (EventType.NODE_CREATED, "/recursive/a/b"),
        (EventType.NODE_DATA_CHANGED, "/data"),
    ]


def test_requests_for_ensembles_are_rejected(server: ZooKeeperServer) -> None:
    client = Client(server)
    assert client.error(OpCode.RECONFIG, PathRequest("")) == Code.RECONFIG_DISABLED
    assert client.error(OpCode.SASL, PathRequest("")) == Code.AUTH_FAILED


@pytest.mark.parametrize("op", [0, 55, -1, -10, 20, 999])
def test_an_unknown_request_closes_the_connection(server: ZooKeeperServer, op: int) -> None:
    client = Client(server)
    assert client.error(op) == Code.UNIMPLEMENTED
    assert client.connection.is_closing


@pytest.mark.parametrize("op", sorted(set(OpCode) - {OpCode.PING, OpCode.CLOSE_SESSION, OpCode.WHO_AM_I}))
def test_a_truncated_request_does_not_stop_the_server(server: ZooKeeperServer, op: OpCode) -> None:
    client = Client(server)
    assert client.error(op) != Code.OK
    assert Client(server).error(OpCode.EXISTS, PathWatchRequest("/", False)) == 0


@pytest.mark.parametrize("frame", [b"", b"\0", b"\0\0\0\1\0\0\0"])
def test_a_packet_without_a_complete_header_is_bad(server: ZooKeeperServer, frame: bytes) -> None:
    client = Client(server)
    with pytest.raises(BadPacket):
        server.process_packet(client.connection, frame)
    with pytest.raises(BadPacket):
        server.process_connect(FakeConnection(), frame)


def valid_requests() -> list[bytes]:
    """One of every kind, as bytes."""
    path, watch = PathRequest("/a"), PathWatchRequest("/a", True)
    create = CreateRequest("/a/s-", b"data", (ACL(31, Id("ip", "127.0.0.0/8")), *OPEN_ACL_UNSAFE), 3)
    requests: list[tuple[int, tuple[Any, ...]]] = [
        (OpCode.CREATE, (create,)),
        (OpCode.CREATE2, (create,)),
        (OpCode.CREATE_CONTAINER, (create._replace(flags=4),)),
        (OpCode.CREATE_TTL, (CreateTTLRequest(*create[:3], 6, 1000),)),
        (OpCode.DELETE, (DeleteRequest("/a", -1),)),
        (OpCode.SET_DATA, (SetDataRequest("/a", b"data", -1),)),
        (OpCode.SET_ACL, (SetACLRequest("/a", create.acl, -1),)),
        (
            OpCode.MULTI,
            (MultiHeader(1, False, -1), create, MultiHeader(13, False, -1), DeleteRequest("/a", 0), MULTI_END),
        ),
        (OpCode.MULTI_READ, (MultiHeader(4, False, -1), watch, MULTI_END)),
        (OpCode.AUTH, (AuthPacket(0, "digest", b"alice:secret"),)),
        (OpCode.SET_WATCHES, (SetWatches(1, ["/a"], ["/b"], ["/c"]),)),
        (OpCode.SET_WATCHES2, (SetWatches2(1, ["/a"], ["/b"], ["/c"], ["/d"], ["/e"]),)),
        (OpCode.ADD_WATCH, (AddWatchRequest("/a", 1),)),
        (OpCode.REMOVE_WATCHES, (WatcherTypeRequest("/a", 3),)),
        *[(op, (watch,)) for op in (OpCode.EXISTS, OpCode.GET_DATA, OpCode.GET_CHILDREN, OpCode.GET_CHILDREN2)],
        *[(op, (path,)) for op in (OpCode.GET_ACL, OpCode.SYNC, OpCode.GET_EPHEMERALS, OpCode.GET_ALL_CHILDREN_NUMBER)],
    ]
    return [encode(RequestHeader(1, op), *records) for op, records in requests]


def test_random_bytes_do_not_break_the_server(server: ZooKeeperServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    source = random.Random(3)
    client = Client(server)
    client.create("/a")
    for frame in valid_requests() * 400:
        mutated = bytearray(frame)
        for _ in range(source.randrange(0, 4)):
            mutated[source.randrange(len(mutated))] = source.choice(
                (0, 1, 0x2F, 0x7F, 0x80, 0xFF, source.randrange(256))
            )
        with contextlib.suppress(BadPacket):
            server.process_packet(client.connection, bytes(mutated[: source.choice((len(mutated), len(mutated), 20))]))
        if client.connection.is_closing:
            server.detach(client.connection)
            client = Client(server)
            client.error(OpCode.CREATE, CreateRequest("/a", b"", OPEN_ACL_UNSAFE, 0))
        client.connection.sent.clear()
    server.database.commit()
    assert Client(server).error(OpCode.EXISTS, PathWatchRequest("/", False)) == Code.OK


def test_empty_containers_are_deleted(server: ZooKeeperServer, time: MockTime) -> None:
    client = Client(server)
    client.create("/c", 4)
    client.create("/c/child")
    time.sleep(CONTAINER_CHECK_INTERVAL_MS)
    server.delete_containers()
    assert client.error(OpCode.DELETE, DeleteRequest("/c/child", -1)) == 0
    server.delete_containers()
    assert client.error(OpCode.EXISTS, PathWatchRequest("/c", False)) == 0
    time.sleep(CONTAINER_CHECK_INTERVAL_MS)
    server.delete_containers()
    assert client.error(OpCode.EXISTS, PathWatchRequest("/c", False)) == Code.NO_NODE


def test_a_multi_read_returns_a_result_for_each_path(server: ZooKeeperServer) -> None:
    client = Client(server)
    records = [
        part
        for op, path in ((OpCode.GET_CHILDREN, "/"), (OpCode.GET_DATA, "/nothing"), (OpCode.GET_DATA, "/"))
        for part in (MultiHeader(op, False, -1), PathWatchRequest(path, False))
    ]
    _, reader = client.ask(OpCode.MULTI_READ, *records, MULTI_END)
    assert read_record(MultiHeader, reader).type == OpCode.GET_CHILDREN
    assert read_record(PathsResponse, reader).paths == ["zookeeper"]
    assert read_record(MultiHeader, reader) == (OpCode.ERROR, False, Code.NO_NODE)
    assert read_record(ErrorResponse, reader).err == Code.NO_NODE
    assert read_record(MultiHeader, reader).type == OpCode.GET_DATA
    assert read_record(GetDataResponse, reader).data == b""
    assert read_record(MultiHeader, reader) == MULTI_END


def test_time_until_the_next_expiration_or_container_check(server: ZooKeeperServer, time: MockTime) -> None:
    assert server.ms_until_next_check() == CONTAINER_CHECK_INTERVAL_MS
    Client(server, timeout_ms=4000)
    assert server.ms_until_next_check() == 6000
    time.sleep(CONTAINER_CHECK_INTERVAL_MS)
    assert server.ms_until_next_check() == 0
