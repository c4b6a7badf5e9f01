"""The whole server over real sockets, with real clients and with arbitrary bytes."""

from __future__ import annotations

import errno
import logging
import random
import re
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.zookeeper.embedded import txn_log, zk_database
from kafka_lite.zookeeper.embedded.embedded_zookeeper import JUTE_MAX_BUFFER_BYTES, EmbeddedZooKeeper
from kafka_lite.zookeeper.embedded.jute import encode
from kafka_lite.zookeeper.embedded.keeper_exception import Code
from kafka_lite.zookeeper.embedded.protocol import (
    OPEN_ACL_UNSAFE,
    ConnectRequest,
    CreateRequest,
    EventType,
    GetDataResponse,
    OpCode,
    PathRequest,
    PathsResponse,
    PathWatchRequest,
    RequestHeader,
    SetDataRequest,
)
from kafka_lite.zookeeper.embedded.server_cnxn import ServerCnxn
from kafka_lite.zookeeper.embedded.server_cnxn_factory import (
    PAUSE_AFTER_ERROR_MS,
    SESSIONLESS_TIMEOUT_MS,
    ServerCnxnFactory,
)
from kafka_lite.zookeeper.embedded.txn_log import TxnLog
from kafka_lite.zookeeper.embedded.txns import Txn, TxnHeader
from kafka_lite.zookeeper.embedded.zk_database import ZKDatabase
from kafka_lite.zookeeper.embedded.zookeeper_server import EXPIRY_RETRY_MS
from tests.support.full_disk import FullDisk
from tests.support.patience import patient_s
from tests.support.zookeeper_raw_client import RawClient


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedZooKeeper]:
    with EmbeddedZooKeeper(tmp_path, force_sync=False) as server:
        yield server


def word(server: EmbeddedZooKeeper, command: bytes) -> str:
    with socket.create_connection((server.host, server.port), 60) as connection:
        connection.sendall(command)
        return connection.makefile("rb").read().decode()


def hangs_up_on(server: EmbeddedZooKeeper, sent: bytes) -> bool:
    with socket.create_connection((server.host, server.port), 60) as connection:
        connection.sendall(sent)
        try:
            return connection.recv(1) == b""
        except ConnectionResetError:
            return True


def test_session_znode_and_watch(server: EmbeddedZooKeeper) -> None:
    with RawClient(server.connect_string) as client, RawClient(server.connect_string) as other:
        client.call(OpCode.CREATE, CreateRequest("/a", b"1", OPEN_ACL_UNSAFE, 0))
        other.call(OpCode.GET_DATA, PathWatchRequest("/a", True))
        client.call(OpCode.SET_DATA, SetDataRequest("/a", b"2", 0))
        read = other.call(OpCode.GET_DATA, PathWatchRequest("/a", False)).read(GetDataResponse)
        assert (read.data, read.stat.version) == (b"2", 1)
        assert other.events == [(EventType.NODE_DATA_CHANGED, "/a")]


def test_replies_come_in_the_order_of_the_requests(server: EmbeddedZooKeeper) -> None:
    with RawClient(server.connect_string) as client:
        frames = b""
        for xid in range(1, 301):
            record = PathWatchRequest("/", False) if xid % 2 else SetDataRequest("/", b"x" * xid, -1)
            payload = encode(RequestHeader(xid, OpCode.GET_DATA if xid % 2 else OpCode.SET_DATA), record)
            frames += struct.pack(">i", len(payload)) + payload
        client.sock.sendall(frames)
        replies = [struct.unpack_from(">iqi", client.receive_frame()) for _ in range(300)]
    assert [xid for xid, _, _ in replies] == list(range(1, 301))
    zxids = [zxid for _, zxid, _ in replies]
    assert zxids == sorted(zxids)


def test_a_frame_may_arrive_byte_by_byte(server: EmbeddedZooKeeper) -> None:
    with RawClient(server.connect_string) as client:
        payload = encode(RequestHeader(1, OpCode.GET_CHILDREN), PathWatchRequest("/", False))
        for byte in struct.pack(">i", len(payload)) + payload:
            client.sock.sendall(bytes([byte]))
        assert struct.unpack_from(">iqi", client.receive_frame())[0] == 1


@pytest.mark.parametrize(
    "sent",
    [
        b"\xff\xff\xff\xff",
        b"\x7f\xff\xff\xff",
        struct.pack(">i", JUTE_MAX_BUFFER_BYTES + 1),
        b"\0\0\0\0",
        b"GET / HTTP/1.1\r\n\r\n",
        b"quit",
        struct.pack(">i", 8) + b"12345678",
        struct.pack(">i", 28) + encode(ConnectRequest(0, 1 << 60, 0, 0, b"")),
    ],
)
def test_bad_bytes_close_the_connection_with_one_log_line(
    server: EmbeddedZooKeeper, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    with caplog.at_level(logging.WARNING):
        assert hangs_up_on(server, sent)
    assert len(caplog.records) == 1
    assert "Closing /127.0.0.1" in caplog.text
    assert word(server, b"ruok") == "imok"


def test_random_bytes_do_not_stop_the_server(server: EmbeddedZooKeeper, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    source = random.Random(1)
    with RawClient(server.connect_string, 40_000) as survivor:
        for _ in range(200):
            garbage = source.randbytes(source.randrange(1, 200))
            with RawClient(server.connect_string) as client:
                client.sock.sendall(struct.pack(">i", len(garbage)) + garbage)
        assert survivor.call(OpCode.EXISTS, PathWatchRequest("/", False)).err == 0
    assert server.is_running


def test_a_packet_that_there_is_no_memory_for_closes_its_connection_alone(
    server: EmbeddedZooKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as scarcity:
        scarcity.setattr(ServerCnxn, "receive", Mock(side_effect=MemoryError))
        assert hangs_up_on(server, b"ruok")
    assert word(server, b"ruok") == "imok"


def test_a_packet_of_the_maximum_size_is_accepted_and_a_larger_one_is_not(server: EmbeddedZooKeeper) -> None:
    with RawClient(server.connect_string) as client:
        overhead = len(encode(RequestHeader(0, 0), SetDataRequest("/", b"", -1)))
        longest = b"x" * (JUTE_MAX_BUFFER_BYTES - overhead)
        assert client.call(OpCode.SET_DATA, SetDataRequest("/", longest, -1)).err == 0
        assert client.call(OpCode.GET_DATA, PathWatchRequest("/", False)).read(GetDataResponse).data == longest
        with pytest.raises(OSError):
            client.call(OpCode.SET_DATA, SetDataRequest("/", longest + b"x", -1))


def test_replies_are_kept_for_a_client_that_reads_slowly(server: EmbeddedZooKeeper) -> None:
    with RawClient(server.connect_string) as client, RawClient(server.connect_string) as other:
        client.call(OpCode.SET_DATA, SetDataRequest("/", b"x" * 20_000, -1))
        payloads = [encode(RequestHeader(xid, OpCode.GET_DATA), PathWatchRequest("/", False)) for xid in range(2000)]
        client.sock.sendall(b"".join(struct.pack(">i", len(payload)) + payload for payload in payloads))
        for _ in range(20):
            assert other.call(OpCode.EXISTS, PathWatchRequest("/", False)).err == 0
        assert [struct.unpack_from(">i", client.receive_frame())[0] for _ in payloads] == list(range(2000))


def test_the_replies_queued_for_a_connection_are_limited() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as theirs:
        theirs.connect(listener.getsockname())
        ours, _ = listener.accept()
        connection = ServerCnxn(ours, ("127.0.0.1", 1), 100)
        theirs.sendall((struct.pack(">i", 1) + b"?") * 100)
        connection.receive()
        taken = 0
        for _ in connection.frames():
            connection.send(b"x" * 300_000)
            taken += 1
        assert taken == 4
        assert connection.has_frame
        assert not connection.wants_read
        ours.close()


def test_sessions_survive_a_restart_in_the_same_directory(tmp_path: Path) -> None:
    server = EmbeddedZooKeeper(tmp_path)
    server.start()
    port = server.port
    client = RawClient(server.connect_string)
    client.call(OpCode.CREATE, CreateRequest("/e", b"", OPEN_ACL_UNSAFE, 1))
    server.shutdown()
    assert not server.is_running
    server.start()
    assert server.port == port
    with RawClient(server.connect_string, session=(client.session_id, client.password)) as back:
        assert back.session_id == client.session_id
        assert back.call(OpCode.EXISTS, PathWatchRequest("/e", False)).err == 0
        back.close()
    client.disconnect()
    server.shutdown()
    server.shutdown()


def test_start_fails_if_already_started_or_if_directory_or_port_is_in_use(
    tmp_path: Path, server: EmbeddedZooKeeper
) -> None:
    with pytest.raises(RuntimeError, match="already been started"):
        server.start()
    with pytest.raises(OSError, match="in use"):
        EmbeddedZooKeeper(server.data_dir).start()
    elsewhere = EmbeddedZooKeeper(tmp_path / "elsewhere", port=server.port)
    with pytest.raises(OSError, match="in use"):
        elsewhere.start()
    # The failed start released the directory.
    with EmbeddedZooKeeper(tmp_path / "elsewhere"):
        pass


def test_no_thread_is_left_after_shutdown(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with EmbeddedZooKeeper(tmp_path, snap_count=1) as server, RawClient(server.connect_string) as client:
        client.call(OpCode.SET_DATA, SetDataRequest("/", b"", -1))
    assert set(threading.enumerate()) <= before


def takes_a_session(server: EmbeddedZooKeeper) -> bool:
    try:
        RawClient(server.connect_string).disconnect()
    except OSError:
        return False
    return True


def test_a_full_disk_rejects_only_writes_until_there_is_space(
    tmp_path: Path, full_disk: FullDisk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for module in (txn_log, zk_database):
        monkeypatch.setattr(module, "RESERVE_BYTES", 4096)
    value = bytes(4096)
    with EmbeddedZooKeeper(tmp_path) as server, RawClient(server.connect_string) as client:
        full_disk.fill()
        for _ in range(3):
            assert client.call(OpCode.SET_DATA, SetDataRequest("/", value, -1)).err == Code.SYSTEM_ERROR
        read = client.call(OpCode.GET_DATA, PathWatchRequest("/", False)).read(GetDataResponse)
        assert (read.data, read.stat.version) == (b"", 0)
        # The remaining space is enough for some sessions.
        assert any(not takes_a_session(server) for _ in range(4096))
        full_disk.make_room()
        assert client.call(OpCode.SET_DATA, SetDataRequest("/", value, 0)).err == 0
        with RawClient(server.connect_string) as another:
            assert another.call(OpCode.SET_DATA, SetDataRequest("/", b"2", 1)).err == 0
    assert [record.levelname for record in caplog.records if "refuses writes" in record.message] == ["ERROR"]
    with EmbeddedZooKeeper(tmp_path) as server, RawClient(server.connect_string) as client:
        read = client.call(OpCode.GET_DATA, PathWatchRequest("/", False)).read(GetDataResponse)
        assert (read.data, read.stat.version) == (b"2", 2)


def test_a_session_expires_once_a_full_disk_has_space_again(tmp_path: Path, full_disk: FullDisk) -> None:
    time = MockTime()
    with EmbeddedZooKeeper(tmp_path, time=time, force_sync=False) as server:
        with RawClient(server.connect_string, 4000) as gone:
            for index in range(40):  # their names fill the remaining space of the log
                gone.call(OpCode.CREATE, CreateRequest(f"/{index:02}{'e' * 3000}", b"", OPEN_ACL_UNSAFE, 1))
            gone.sock.close()
        with RawClient(server.connect_string, 40_000) as client:
            full_disk.fill()
            time.sleep(10_000)
            for _ in range(3):
                client.call(OpCode.PING)
            children = client.call(OpCode.GET_CHILDREN, PathWatchRequest("/", False)).read(PathsResponse).paths
            assert len(children) == 41
            full_disk.make_room()
            time.sleep(EXPIRY_RETRY_MS)
            client.call(OpCode.PING)
            children = client.call(OpCode.GET_CHILDREN, PathWatchRequest("/", False)).read(PathsResponse).paths
            assert children == ["zookeeper"]


def test_nothing_is_acknowledged_while_fsync_fails(
    server: EmbeddedZooKeeper, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("kafka_lite.zookeeper.embedded.server_cnxn_factory.COMMIT_RETRY_MS", 1)
    commit = TxnLog.commit
    failures = threading.Semaphore(0)
    works = threading.Event()

    def refuse(log: TxnLog) -> None:
        if works.is_set():
            commit(log)
        else:
            failures.release()
            raise OSError(errno.EIO, "Input/output error")

    with RawClient(server.connect_string) as client:
        monkeypatch.setattr(TxnLog, "commit", refuse)
        payload = encode(RequestHeader(7, OpCode.SET_DATA), SetDataRequest("/", b"x", -1))
        client.send_frame(payload)
        for _ in range(5):
            failures.acquire()
        client.sock.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.sock.recv(1)
        client.sock.settimeout(60)
        works.set()
        assert struct.unpack_from(">iqi", client.receive_frame())[0] == 7
    assert caplog.text.count("Input/output error") == 1


def test_shutdown_ends_though_fsync_fails(server: EmbeddedZooKeeper, monkeypatch: pytest.MonkeyPatch) -> None:
    has_failed = threading.Event()

    def refuse(_: TxnLog) -> None:
        has_failed.set()
        raise OSError(errno.EIO, "Input/output error")

    with RawClient(server.connect_string) as client:
        monkeypatch.setattr(TxnLog, "commit", refuse)
        client.send_frame(encode(RequestHeader(7, OpCode.SET_DATA), SetDataRequest("/", b"x", -1)))
        assert has_failed.wait(patient_s(60))
        server.shutdown()
        with pytest.raises(OSError):
            client.receive_frame()


def test_the_owner_of_an_ephemeral_znode_can_be_ended(tmp_path: Path) -> None:
    """Whether it is connected or not; znodes without an owner stay."""
    server = EmbeddedZooKeeper(tmp_path, force_sync=False)
    with pytest.raises(RuntimeError, match="not running"):
        server.end_owner_of("/e")
    with server, RawClient(server.connect_string) as client, RawClient(server.connect_string) as owner:
        client.call(OpCode.CREATE, CreateRequest("/stays", b"", OPEN_ACL_UNSAFE, 0))
        client.call(OpCode.GET_CHILDREN, PathWatchRequest("/", True))
        owner.call(OpCode.CREATE, CreateRequest("/e", b"", OPEN_ACL_UNSAFE, 1))
        for path in ("/stays", "/unknown", "/e"):
            server.end_owner_of(path)
        assert owner.sock.recv(1) == b""
        assert client.call(OpCode.EXISTS, PathWatchRequest("/e", False)).err == Code.NO_NODE
        assert client.call(OpCode.EXISTS, PathWatchRequest("/stays", False)).err == 0


def test_a_connection_that_creates_no_session_is_closed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    time = MockTime()
    with EmbeddedZooKeeper(tmp_path, time=time) as server, RawClient(server.connect_string, 40_000) as client:
        with socket.create_connection((server.host, server.port), 60) as silent:
            client.call(OpCode.PING)
            time.sleep(SESSIONLESS_TIMEOUT_MS)
            client.call(OpCode.PING)
            assert silent.recv(1) == b""
        assert client.call(OpCode.EXISTS, PathWatchRequest("/", False)).err == 0
        assert "no session in 10000 ms" in caplog.text


def test_connections_per_address_are_limited(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with EmbeddedZooKeeper(tmp_path, max_client_cnxns=1) as server, RawClient(server.connect_string):
        with pytest.raises(OSError):
            RawClient(server.connect_string)
        assert "Too many connections from 127.0.0.1 - max is 1" in caplog.text


class CrowdedListener(socket.socket):
    """A listening socket of a process that can be out of file descriptors."""

    is_refusing = False
    refusals = 0

    def accept(self) -> tuple[socket.socket, object]:
        if self.is_refusing:
            self.refusals += 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


class CrowdedZooKeeper(EmbeddedZooKeeper):
    listener: CrowdedListener

    def _listen(self, host: str, port: int) -> socket.socket:
        self.listener = CrowdedListener(fileno=super()._listen(host, port).detach())
        self.listener.setblocking(False)
        return self.listener


def test_too_many_open_files_do_not_make_the_thread_spin(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    time = MockTime()
    with CrowdedZooKeeper(tmp_path, time=time) as server, RawClient(server.connect_string, 40_000) as client:
        server.listener.is_refusing = True
        with socket.create_connection((server.host, server.port), 60) as waiting:
            while server.listener.refusals == 0:
                client.call(OpCode.PING)
            for _ in range(20):
                client.call(OpCode.PING)  # connected clients are served
            assert server.listener.refusals == 1
            server.listener.is_refusing = False
            time.sleep(PAUSE_AFTER_ERROR_MS)
            client.call(OpCode.PING)
            waiting.sendall(b"ruok")
            assert waiting.recv(4) == b"imok"
    assert caplog.text.count("Could not accept a connection") == 1


# ---- Four-letter words -----------------------------------------------------------------------------------------------


def test_ruok_and_isro(server: EmbeddedZooKeeper) -> None:
    assert (word(server, b"ruok"), word(server, b"isro")) == ("imok", "rw")


def test_srvr_stat_and_mntr(server: EmbeddedZooKeeper) -> None:
    with RawClient(server.connect_string) as client:
        client.call(OpCode.CREATE, CreateRequest("/e", b"", OPEN_ACL_UNSAFE, 1))
        client.call(OpCode.GET_CHILDREN, PathWatchRequest("/e", True))
        srvr, stat, mntr = (word(server, name) for name in (b"srvr", b"stat", b"mntr"))
    for text in (srvr, stat):
        assert re.match(r"Zookeeper version: 3\.8\.0-\S+, built on .*\n", text)
        assert "\nMode: standalone\nNode count: 5\n" in text
        assert "\nZxid: 0x2\n" in text
        assert re.search(r"\nReceived: \d+\nSent: \d+\nConnections: 2\n", text)
    assert re.search(r"\nClients:\n( /127\.0\.0\.1:\d+\[[01]\]\(queued=0,recved=\d+,sent=\d+\)\n){2}\n", stat)
    values = dict(line.split("\t") for line in mntr.splitlines())
    assert values["zk_server_state"] == "standalone"
    assert (values["zk_znode_count"], values["zk_watch_count"], values["zk_ephemerals_count"]) == ("5", "1", "1")


def test_words_about_sessions_and_watches(server: EmbeddedZooKeeper) -> None:
    with RawClient(server.connect_string) as client:
        client.call(OpCode.CREATE, CreateRequest("/e", b"", OPEN_ACL_UNSAFE, 1))
        client.call(OpCode.GET_DATA, PathWatchRequest("/e", True))
        client.call(OpCode.GET_CHILDREN, PathWatchRequest("/", True))
        session = f"{client.session_id:#x}"
        assert f"sid={session},to=10000)" in word(server, b"cons")
        dump = word(server, b"dump")
        assert f"Sessions with Ephemerals (1):\n{session}:\n\t/e\n" in dump
        assert re.search(rf"1 expire in \d+ ms:\n\t{session}\n", dump)
        assert word(server, b"wchs") == "1 connections watching 2 paths\nTotal watches:2\n"
        assert word(server, b"wchc") == f"{session}\n\t/\n\t/e\n\n"
        assert word(server, b"wchp") == f"/\n\t{session}\n/e\n\t{session}\n\n"
        assert word(server, b"crst") == "Connection stats reset.\n"
        assert word(server, b"srst") == "Server stats reset.\n"
        assert "\nLatency min/avg/max: 0/0.0000/0\n" in word(server, b"srvr")


def test_words_about_configuration_environment_and_directories(server: EmbeddedZooKeeper) -> None:
    with RawClient(server.connect_string) as client:
        client.call(OpCode.SYNC, PathRequest("/"))
    assert f"clientPort={server.port}\n" in word(server, b"conf")
    assert "minSessionTimeout=4000\nmaxSessionTimeout=40000\n" in word(server, b"conf")
    assert word(server, b"envi").startswith("Environment:\nzookeeper.version=3.8.0-")
    sizes = re.fullmatch(r"datadir_size: (\d+)\nlogdir_size: (\d+)\n", word(server, b"dirs"))
    assert sizes is not None
    assert int(sizes[2]) > 0


def test_shutdown_of_a_thread_that_ends_before_the_wake_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shutdown sets a flag, then wakes the thread; bytes of a client in between can make it see the flag and end."""
    server = EmbeddedZooKeeper(tmp_path, force_sync=False)
    server.start()
    thread = server._factory
    assert thread is not None
    wake_up = thread.wake_up

    def wake_up_late() -> None:
        with socket.create_connection((server.host, server.port), 60):
            thread.join(patient_s(60))
        assert not thread.is_alive()
        wake_up()

    monkeypatch.setattr(thread, "wake_up", wake_up_late)
    server.shutdown()
    assert not server.is_running


def test_a_start_on_a_full_disk_names_the_directory(tmp_path: Path, full_disk: FullDisk) -> None:
    EmbeddedZooKeeper(tmp_path).__enter__().shutdown()
    full_disk.fill()
    with pytest.raises(OSError, match="No space left on device") as raised:
        EmbeddedZooKeeper(tmp_path).start()
    assert str(raised.value.filename).startswith(str(tmp_path))


def test_a_start_that_cannot_log_the_end_of_a_session_closes_everything(
    tmp_path: Path, full_disk: FullDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = EmbeddedZooKeeper(tmp_path, force_sync=False)
    server.start()
    with RawClient(server.connect_string) as client:
        client.call(OpCode.CREATE, CreateRequest("/e", b"", OPEN_ACL_UNSAFE, 1))
        server.shutdown()
    append, load = TxnLog.append, ZKDatabase.load

    def append_without_room(log: TxnLog, header: TxnHeader, txn: Txn) -> None:
        log.reserve(txn_log.RESERVE_BYTES * 2)
        append(log, header, txn)

    def fill_after_load(database: ZKDatabase) -> int:
        replayed = load(database)
        full_disk.fill()
        return replayed

    with monkeypatch.context() as patch:
        patch.setattr(ZKDatabase, "load", fill_after_load)
        patch.setattr(TxnLog, "append", append_without_room)
        with pytest.raises(OSError, match="No space left on device") as raised:
            server.start(end_owners_of=["/e"])
    assert raised.value.filename == str(tmp_path)
    assert not server.is_running
    full_disk.make_room()
    server.start(end_owners_of=["/e"])  # the directory and the port are free
    with RawClient(server.connect_string) as client:
        assert client.call(OpCode.EXISTS, PathWatchRequest("/e", False)).err == Code.NO_NODE
    server.shutdown()


def test_a_start_that_cannot_start_its_thread_closes_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: ServerCnxnFactory) -> None:
        raise RuntimeError("can't start new thread")

    server = EmbeddedZooKeeper(tmp_path, force_sync=False)
    with monkeypatch.context() as patch:
        patch.setattr(ServerCnxnFactory, "start", fail)
        with pytest.raises(OSError, match="can't start new thread"):
            server.start()
    assert not server.is_running
    with server:  # the directory and the port are free
        assert server.is_running


def test_a_port_in_use_is_replaced_only_if_any_port_is_allowed(tmp_path: Path, server: EmbeddedZooKeeper) -> None:
    with pytest.raises(OSError, match="Address already in use"):
        EmbeddedZooKeeper(tmp_path / "other", port=server.port).start()
    with EmbeddedZooKeeper(tmp_path / "other", port=server.port, any_port_if_in_use=True) as other:
        assert other.port != server.port
        with RawClient(other.connect_string) as client:
            assert client.call(OpCode.EXISTS, PathWatchRequest("/", False)).err == 0


def test_a_log_that_cannot_be_trimmed_does_not_end_the_thread_with_an_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    uncaught: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", uncaught.append)

    def fail(fd: int, length: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with EmbeddedZooKeeper(tmp_path, force_sync=False):
        monkeypatch.setattr(txn_log.os, "ftruncate", fail)
    assert uncaught == []
    assert "Could not trim the log" in caplog.text
