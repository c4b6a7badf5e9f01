"""What monitoring tools ask with four letters, of a server without a socket loop and on a clock that stands."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.zookeeper.embedded.four_letter_words import FourLetterWords
from kafka_lite.zookeeper.embedded.jute import encode
from kafka_lite.zookeeper.embedded.protocol import (
    OPEN_ACL_UNSAFE,
    ConnectRequest,
    CreateRequest,
    OpCode,
    PathWatchRequest,
    RequestHeader,
)
from kafka_lite.zookeeper.embedded.server_cnxn import ServerCnxn
from kafka_lite.zookeeper.embedded.zk_database import ZKDatabase
from kafka_lite.zookeeper.embedded.zookeeper_server import ZooKeeperServer

EPHEMERAL = 1


class Tool:
    """A server, its connections, and the words about both."""

    def __init__(self, server: ZooKeeperServer, stack: ExitStack) -> None:
        self.server = server
        self.words = FourLetterWords(server, {"clientPort": 2181, "tickTime": 2000})
        self.connections: list[ServerCnxn] = []
        self._stack = stack

    def connect(self, port: int, timeout_ms: int = 10_000) -> ServerCnxn:
        """A connection with a session, whose client has the port."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._stack.enter_context(socket.create_connection(listener.getsockname()))
            ours = self._stack.enter_context(listener.accept()[0])
        connection = ServerCnxn(ours, ("127.0.0.1", port), 1000)
        self.server.process_connect(connection, encode(ConnectRequest(0, 0, timeout_ms, 0, b"")) + b"\0")
        self.connections.append(connection)
        return connection

    def ask(self, connection: ServerCnxn, op: int, record: tuple[Any, ...]) -> None:
        self.server.process_packet(connection, encode(RequestHeader(1, op), record))

    def create(self, connection: ServerCnxn, path: str, data: bytes = b"", mode: int = 0) -> None:
        self.ask(connection, OpCode.CREATE, CreateRequest(path, data, OPEN_ACL_UNSAFE, mode))

    def watch(self, connection: ServerCnxn, op: int, path: str) -> None:
        self.ask(connection, op, PathWatchRequest(path, True))

    def says(self, word: str) -> str:
        return self.words.response_to(word, self.connections)

    def monitored(self) -> dict[str, str]:
        return dict(line.split("\t") for line in self.says("mntr").splitlines())


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[Tool]:
    database = ZKDatabase(tmp_path, force_sync=False)
    server = ZooKeeperServer(
        database, MockTime(), tick_time_ms=2000, min_session_timeout_ms=4000, max_session_timeout_ms=40_000,
        extended_types_enabled=True,
    )  # fmt: skip
    with ExitStack() as stack:
        yield Tool(server, stack)
    database.close()


def test_a_word_is_known_in_small_letters_only(tool: Tool) -> None:
    assert [word for word in ("ruok", "mntr", "RUOK", "ruo", "kill") if tool.words.is_known(word)] == ["ruok", "mntr"]


def test_health_and_configuration(tool: Tool) -> None:
    assert (tool.says("ruok"), tool.says("isro")) == ("imok", "rw")
    assert tool.says("conf") == "clientPort=2181\ntickTime=2000\n"
    assert tool.says("envi").startswith("Environment:\nzookeeper.version=3.8.0-kafka_lite-")


def test_the_state_counts_packets_connections_and_nodes(tool: Tool) -> None:
    nodes = int(tool.monitored()["zk_znode_count"])
    one, _ = tool.connect(1111), tool.connect(2222)
    tool.create(one, "/a", b"12345")
    tool.create(one, "/a/b", b"678", EPHEMERAL)
    srvr = tool.says("srvr")
    assert srvr.splitlines()[-5:] == [
        "Connections: 2", "Outstanding: 0", "Zxid: 0x4", "Mode: standalone", f"Node count: {nodes + 2}",
    ]  # fmt: skip
    assert tool.says("stat").startswith(srvr.splitlines()[0] + "\nClients:\n /127.0.0.1:1111[1](queued=0,recved=")
    assert "\n\nLatency min/avg/max: " in tool.says("stat"), "a blank line parts the clients from the state"


def test_the_monitor_has_the_size_of_the_tree_in_bytes_of_paths_and_data(tool: Tool) -> None:
    one = tool.connect(1111)
    before = tool.monitored()
    tool.create(one, "/a", b"12345")
    tool.create(one, "/a/b", b"678", EPHEMERAL)
    after = tool.monitored()
    assert int(after["zk_approximate_data_size"]) - int(before["zk_approximate_data_size"]) == 2 + 5 + 4 + 3
    assert (after["zk_ephemerals_count"], after["zk_num_alive_connections"]) == ("1", "1")
    assert after["zk_server_state"] == "standalone"


def test_connections_show_their_session_once_they_have_one(tool: Tool) -> None:
    one = tool.connect(1111, timeout_ms=1_000_000)
    assert re.fullmatch(
        rf" /127\.0\.0\.1:1111\[1\]\(queued=0,recved=\d+,sent=\d+,sid={one.session_id:#x},to=40000\)\n\n",
        tool.says("cons"),
    )
    one.session_id = 0
    assert re.fullmatch(r" /127\.0\.0\.1:1111\[1\]\(queued=0,recved=\d+,sent=\d+\)\n\n", tool.says("cons"))


def test_watches_are_counted_by_connection_by_path_and_together(tool: Tool) -> None:
    one, two = tool.connect(1111), tool.connect(2222)
    for path in ("/a", "/b"):
        tool.create(one, path)
        tool.watch(one, OpCode.GET_DATA, path)
    tool.watch(one, OpCode.GET_CHILDREN, "/a")  # the same path once more, for its children
    tool.watch(one, OpCode.GET_CHILDREN, "/")
    tool.watch(two, OpCode.GET_DATA, "/a")
    first, second = f"{one.session_id:#x}", f"{two.session_id:#x}"
    assert tool.says("wchs") == "2 connections watching 3 paths\nTotal watches:4\n"
    assert tool.says("wchc") == f"{first}\n\t/\n\t/a\n\t/b\n{second}\n\t/a\n\n"
    assert tool.says("wchp") == f"/\n\t{first}\n/a\n\t{first}\n\t{second}\n/b\n\t{first}\n\n"
    assert tool.monitored()["zk_watch_count"] == "5", "the monitor counts data and children by themselves"


def test_without_watches_the_lists_are_empty(tool: Tool) -> None:
    assert tool.says("wchs") == "0 connections watching 0 paths\nTotal watches:0\n"
    assert tool.says("wchc") == tool.says("wchp") == "\n"


def test_the_dump_has_sessions_by_their_end_and_the_ephemeral_nodes_of_each(tool: Tool) -> None:
    one, two = tool.connect(1111, timeout_ms=4000), tool.connect(2222, timeout_ms=30_000)
    tool.create(one, "/e", mode=EPHEMERAL)
    dump = tool.says("dump")
    assert dump.startswith("SessionTracker dump:\nSession Sets (2)/(2):\n1 expire in ")
    assert dump.index(f"\t{one.session_id:#x}\n") < dump.index(f"\t{two.session_id:#x}\n"), "the first to expire first"
    assert f"Sessions with Ephemerals (1):\n{one.session_id:#x}:\n\t/e\n" in dump
    assert dump.endswith("Connections dump:\nConnections (2)\n")


def test_counters_start_again(tool: Tool) -> None:
    one = tool.connect(1111)
    one.packets_received = one.packets_sent = 7
    assert "recved=7,sent=7" in tool.says("cons")
    assert tool.says("crst") == "Connection stats reset.\n"
    assert "recved=0,sent=0" in tool.says("cons")
    tool.server.stats.packets_received = 9
    assert tool.says("srst") == "Server stats reset.\n"
    assert "\nReceived: 0\n" in tool.says("srvr")


def test_directories_have_the_bytes_of_snapshots_and_of_logs(tool: Tool) -> None:
    directory = tool.server.database.directory

    def sizes() -> list[int]:
        return [int(line.partition(": ")[2]) for line in tool.says("dirs").splitlines()]

    data, logs = sizes()
    (directory / "snapshot.77").write_bytes(b"s" * 10)
    (directory / "log.77").write_bytes(b"l" * 3)
    (directory / "lost").write_bytes(b"o" * 100)
    (directory / "log.78").symlink_to(directory / "purged")
    assert sizes() == [data + 10, logs + 3], "a file that is purged meanwhile has no bytes"
