"""One turn of ZooKeeper's loop after the other, on a clock that stands: reads, one wait for the disk, all replies."""

from __future__ import annotations

import contextlib
import logging
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.zookeeper.embedded.four_letter_words import FourLetterWords
from kafka_lite.zookeeper.embedded.jute import JuteReader, encode, read_record
from kafka_lite.zookeeper.embedded.protocol import (
    OPEN_ACL_UNSAFE,
    ConnectRequest,
    ConnectResponse,
    CreateRequest,
    OpCode,
    PathWatchRequest,
    ReplyHeader,
    RequestHeader,
    SetDataRequest,
)
from kafka_lite.zookeeper.embedded.server_cnxn_factory import (
    PAUSE_AFTER_ERROR_MS,
    SESSIONLESS_TIMEOUT_MS,
    ServerCnxnFactory,
)
from kafka_lite.zookeeper.embedded.zk_database import ZKDatabase
from kafka_lite.zookeeper.embedded.zookeeper_server import ZooKeeperServer
from tests.support.eventually import eventually
from tests.support.patience import patient_s

EPHEMERAL = 1
SMALL_BUFFER_BYTES = 64 * 1024
"""So that few replies fill the buffers of the system."""


class Client:
    """A socket that is read without waiting."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER_BYTES)
        self.sock.settimeout(patient_s(30))
        self.sock.connect(address)
        self.sock.setblocking(False)
        self._incoming = b""

    def send(self, *payloads: bytes) -> None:
        self.sock.sendall(b"".join(struct.pack(">i", len(payload)) + payload for payload in payloads))

    def frame(self) -> bytes | None:
        """The next frame that has arrived; b"" for the end of the stream."""
        with contextlib.suppress(BlockingIOError):
            data = self.sock.recv(1 << 20)
            if not data and not self._incoming:
                return b""
            self._incoming += data
        if len(self._incoming) < 4:
            return None
        (length,) = struct.unpack_from(">i", self._incoming)
        if len(self._incoming) < 4 + length:
            return None
        frame, self._incoming = self._incoming[4 : 4 + length], self._incoming[4 + length :]
        return frame


class Loop:
    """A server whose turns the test takes."""

    def __init__(self, folder: Path, max_client_cnxns: int = 0) -> None:
        self.time = MockTime()
        self.database = ZKDatabase(folder, force_sync=False)
        self.database.load()
        self.server = ZooKeeperServer(
            self.database, self.time, tick_time_ms=2000, min_session_timeout_ms=4000, max_session_timeout_ms=40_000
        )
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL_BUFFER_BYTES)
        listener.setblocking(False)
        self.address: tuple[str, int] = listener.getsockname()
        self.factory = ServerCnxnFactory(
            self.server, [(listener, None)], FourLetterWords(self.server, {}), self.time,
            max_packet_bytes=1_000_000, max_client_cnxns=max_client_cnxns,
        )  # fmt: skip
        self._clients: list[Client] = []

    def turn(self) -> None:
        """One turn, which does not wait."""
        self.factory.wake_up()
        self.factory.do_work()

    def connect(self) -> Client:
        """A client that the loop has accepted."""
        known = set(self.factory.connections)
        client = Client(self.address)
        self._clients.append(client)
        self.until(lambda: self.factory.connections - known)
        return client

    def with_session(self, timeout_ms: int = 10_000) -> Client:
        client = self.connect()
        client.send(encode(ConnectRequest(0, 0, timeout_ms, 0, b"")) + b"\0")
        assert read_record(ConnectResponse, JuteReader(self.next_frame(client))).time_out == timeout_ms
        return client

    def next_frame(self, client: Client) -> bytes:
        frames: list[bytes] = []

        def arrived() -> bool:
            frame = client.frame()
            frames.extend([] if frame is None else [frame])
            return bool(frames)

        self.until(arrived)
        return frames[0]

    def until(self, condition: Callable[[], object]) -> None:
        def look() -> object:
            self.turn()
            return condition()

        eventually(look)

    def close(self) -> None:
        self.factory.on_exit()
        for client in self._clients:
            client.sock.close()


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Loop]:
    loop = Loop(tmp_path)
    yield loop
    loop.close()


def create(path: str, mode: int = 0, xid: int = 1) -> bytes:
    return encode(RequestHeader(xid, OpCode.CREATE), CreateRequest(path, b"", OPEN_ACL_UNSAFE, mode))


def exists(path: str, xid: int = 1) -> bytes:
    return encode(RequestHeader(xid, OpCode.EXISTS), PathWatchRequest(path, False))


def header(frame: bytes) -> ReplyHeader:
    return read_record(ReplyHeader, JuteReader(frame))


def test_the_requests_of_many_clients_share_one_wait_for_the_disk(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    clients = [loop.with_session() for _ in range(3)]
    pending: list[int] = []
    commit = loop.database.commit
    monkeypatch.setattr(loop.database, "commit", lambda: (pending.append(loop.database.last_zxid), commit()))
    before = loop.database.last_zxid
    for number, client in enumerate(clients):
        client.send(create(f"/{number}"), create(f"/{number}/a", xid=2))
    loop.until(lambda: loop.database.last_zxid == before + 6)
    assert [header(loop.next_frame(client)).xid for client in clients for _ in range(2)] == [1, 2] * 3
    assert len(set(pending) - {before}) <= 3, "a wait for each request, or none"


def test_no_reply_leaves_before_its_transaction_is_on_disk(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    client, commit = loop.with_session(), loop.database.commit
    sent_before: list[bytes | None] = []

    def watched() -> None:
        sent_before.append(client.frame())
        commit()

    with monkeypatch.context() as watching:
        watching.setattr(loop.database, "commit", watched)
        client.send(create("/a"))
        loop.until(lambda: "/a" in loop.database.tree.nodes)
    assert set(sent_before) == {None}
    assert header(loop.next_frame(client)).err == 0


def test_a_client_that_does_not_read_its_replies_is_not_read_from(loop: Loop) -> None:
    client = loop.with_session()
    client.send(encode(RequestHeader(0, OpCode.CREATE), CreateRequest("/big", b"x" * 200_000, OPEN_ACL_UNSAFE, 0)))
    assert header(loop.next_frame(client)).err == 0
    requests = [encode(RequestHeader(xid, OpCode.GET_DATA), PathWatchRequest("/big", False)) for xid in range(1, 31)]
    before = loop.server.stats.packets_received
    client.send(*requests)
    for _ in range(20):
        loop.turn()
    assert loop.server.stats.packets_received - before < len(requests), "its replies are kept in memory without end"
    assert [header(loop.next_frame(client)).xid for _ in requests] == list(range(1, 31))


def test_a_connection_without_a_session_is_closed_in_time(loop: Loop, caplog: pytest.LogCaptureFixture) -> None:
    silent, with_session = loop.connect(), loop.with_session(40_000)
    loop.time.sleep(SESSIONLESS_TIMEOUT_MS - 1)
    loop.turn()
    assert len(loop.factory.connections) == 2
    loop.time.sleep(1)
    loop.turn()
    assert loop.next_frame(silent) == b""
    assert f"no session in {SESSIONLESS_TIMEOUT_MS} ms" in caplog.text
    with_session.send(exists("/"))
    assert header(loop.next_frame(with_session)).err == 0


def test_an_expired_session_loses_its_connection(loop: Loop) -> None:
    leaves, stays = loop.with_session(4_000), loop.with_session(40_000)
    leaves.send(create("/e", EPHEMERAL))
    loop.next_frame(leaves)
    loop.time.sleep(8_000)
    assert loop.next_frame(leaves) == b""
    stays.send(exists("/e"))
    assert header(loop.next_frame(stays)).err != 0


def test_the_owner_of_a_znode_is_ended_by_another_thread(loop: Loop) -> None:
    owner = loop.with_session()
    owner.send(create("/e", EPHEMERAL))
    loop.next_frame(owner)
    loop.factory.end_owner_of("/nobodys")
    loop.factory.end_owner_of("/e")
    assert "/e" in loop.database.tree.nodes, "not in this thread"
    assert loop.next_frame(owner) == b""
    assert "/e" not in loop.database.tree.nodes


def test_connections_of_one_address_are_limited(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    loop = Loop(tmp_path, max_client_cnxns=2)
    try:
        first, _ = loop.connect(), loop.connect()
        third = Client(loop.address)
        loop._clients.append(third)
        assert loop.next_frame(third) == b""
        assert "Too many connections from 127.0.0.1 - max is 2" in caplog.text
        first.sock.close()
        loop.until(lambda: len(loop.factory.connections) == 1)
        loop.connect()
    finally:
        loop.close()


class NoDescriptors:
    """A listening socket that cannot accept while ``error`` is set."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener, self.tries = listener, 0
        self.error: OSError | None = OSError(24, "Too many open files")

    def accept(self) -> tuple[socket.socket, tuple[str, int]]:
        self.tries += 1
        if self.error is not None:
            raise self.error
        return self._listener.accept()

    def __getattr__(self, name: str) -> object:
        return getattr(self._listener, name)


def test_accepting_pauses_after_an_error_of_the_system_and_others_are_served(
    loop: Loop, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = loop.with_session()
    (listener,) = loop.factory._listeners
    failing = NoDescriptors(listener)
    loop.factory._selector.unregister(listener)
    monkeypatch.setattr(loop.factory, "_listeners", {failing: None})
    loop.factory._selector.register(failing, 1)
    waiting = Client(loop.address)
    loop._clients.append(waiting)
    loop.until(lambda: failing.tries)
    for _ in range(3):
        loop.turn()
    assert failing.tries == 1, "the listener stays readable: it must not be tried in each turn"
    served.send(exists("/"))
    assert header(loop.next_frame(served)).err == 0
    loop.time.sleep(PAUSE_AFTER_ERROR_MS)
    loop.until(lambda: failing.tries == 2)
    assert len(caplog.records) == 1
    failing.error = None
    loop.time.sleep(PAUSE_AFTER_ERROR_MS)
    loop.until(lambda: len(loop.factory.connections) == 2)


def test_bad_bytes_close_their_connection_alone(loop: Loop, caplog: pytest.LogCaptureFixture) -> None:
    good, bad, asking = loop.with_session(), loop.connect(), loop.connect()
    bad.sock.sendall(b"\xff\xff\xff\xff")
    asking.sock.sendall(b"ruok")
    assert loop.next_frame(bad) == b""
    assert "Closing /127.0.0.1" in caplog.text
    loop.until(lambda: len(loop.factory.connections) == 1)
    assert asking.sock.recv(100) == b"imok"
    good.send(exists("/"))
    assert header(loop.next_frame(good)).err == 0


def test_while_the_disk_fails_all_replies_are_held_back(
    loop: Loop, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    client = loop.with_session(4_000)
    commit, failures = loop.database.commit, [OSError(5, "Input/output error")] * 2

    def fail_twice() -> None:
        assert client.frame() is None
        if failures:
            loop.time.sleep(3_000)
            raise failures.pop()
        commit()

    monkeypatch.setattr(loop.database, "commit", fail_twice)
    monkeypatch.setattr(loop.factory, "pause", lambda _ms: False)
    client.send(encode(RequestHeader(7, OpCode.SET_DATA), SetDataRequest("/", b"x", -1)))
    assert header(loop.next_frame(client)) == ReplyHeader(7, loop.database.last_zxid, 0)
    messages = [record.getMessage() for record in caplog.records]
    assert [message.split(str(loop.database.directory))[0] for message in messages] == [
        "ZooKeeper cannot write ", "ZooKeeper can write ",
    ]  # fmt: skip
    loop.turn()
    assert client.frame() is None, "the session has its whole timeout again"


def test_a_shutdown_ends_the_wait_for_a_failing_disk(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    client = loop.with_session()
    client.send(create("/a"))

    def fail() -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as failing:
        failing.setattr(loop.database, "commit", fail)
        loop.factory.initiate_shutdown()
        loop.factory.do_work()
        assert client.frame() is None
