"""The records of ZooKeeper's client protocol, drawn by hand."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.zookeeper.embedded.jute import JuteError, decode, encode
from kafka_lite.zookeeper.embedded.protocol import (
    MULTI_END,
    OPEN_ACL_UNSAFE,
    AuthPacket,
    ConnectRequest,
    ConnectResponse,
    CreateMode,
    CreateRequest,
    CreateTTLRequest,
    DeleteRequest,
    EventType,
    GetDataResponse,
    Id,
    MultiHeader,
    OpCode,
    PathsResponse,
    PathWatchRequest,
    Perms,
    ReplyHeader,
    RequestHeader,
    SetDataRequest,
    SetWatches,
    Stat,
    WatcherEvent,
    WhoAmIResponse,
    Xid,
)
from tests.support.annotated_bytes import annotated_bytes

STAT = Stat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
DRAWN_STAT = """
    0000000000000001    # czxid
    0000000000000002    # mzxid
    0000000000000003    # ctime
    0000000000000004    # mtime
    00000005            # version
    00000006            # cversion
    00000007            # aversion
    0000000000000008    # ephemeral_owner
    00000009            # data_length
    0000000a            # num_children
    000000000000000b    # pzxid
"""
ACL = "00000001 0000001f 00000005 'world' 00000006 'anyone'"
DRAWN: list[tuple[Any, str]] = [
    (
        ConnectRequest(0, 5, 6000, 77, b"pass"),
        "00000000 0000000000000005 00001770 000000000000004d 00000004 'pass'",
    ),
    (ConnectResponse(0, 6000, 77, b"pass"), "00000000 00001770 000000000000004d 00000004 'pass'"),
    (RequestHeader(Xid.PING, OpCode.PING), "fffffffe 0000000b"),
    (ReplyHeader(7, 9, -101), "00000007 0000000000000009 ffffff9b"),
    (MULTI_END, "ffffffff 01 ffffffff"),
    (MultiHeader(OpCode.CREATE, False, -1), "00000001 00 ffffffff"),
    (CreateRequest("/a", b"d", OPEN_ACL_UNSAFE, 1), f"00000002 '/a' 00000001 'd' {ACL} 00000001"),
    (CreateRequest("/a", None, (), 0), "00000002 '/a' ffffffff 00000000 00000000"),
    (
        CreateTTLRequest("/a", b"", (), 5, 1000),
        "00000002 '/a' 00000000 00000000 00000005 00000000000003e8",
    ),
    (DeleteRequest("/a", -1), "00000002 '/a' ffffffff"),
    (SetDataRequest("/a", b"d", 3), "00000002 '/a' 00000001 'd' 00000003"),
    (PathWatchRequest("/a", True), "00000002 '/a' 01"),
    (AuthPacket(0, "digest", b"u:p"), "00000000 00000006 'digest' 00000003 'u:p'"),
    (
        SetWatches(9, ["/a"], [], ["/b", "/c"]),
        "0000000000000009 00000001 00000002 '/a' 00000000 00000002 00000002 '/b' 00000002 '/c'",
    ),
    (STAT, DRAWN_STAT),
    (GetDataResponse(b"d", STAT), f"00000001 'd' {DRAWN_STAT}"),
    (PathsResponse(["a", "b"]), "00000002 00000001 'a' 00000001 'b'"),
    (WhoAmIResponse([Id("ip", "::1")]), "00000001 00000002 'ip' 00000003 '::1'"),
    (WatcherEvent(EventType.NODE_DELETED, 3, "/a"), "00000002 00000003 00000002 '/a'"),
]


@pytest.mark.parametrize(("record", "drawn"), DRAWN)
def test_a_record_has_the_drawn_bytes(record: Any, drawn: str) -> None:
    assert encode(record) == annotated_bytes(drawn)


@pytest.mark.parametrize(("record", "drawn"), DRAWN)
def test_the_drawn_bytes_are_read(record: Any, drawn: str) -> None:
    decoded = decode(type(record), annotated_bytes(drawn) + b"more")
    assert decoded == record
    assert type(decoded) is type(record)


@pytest.mark.parametrize(("record", "drawn"), DRAWN)
def test_a_record_that_ends_too_early_is_refused(record: Any, drawn: str) -> None:
    data = annotated_bytes(drawn)
    for length in range(len(data)):
        with pytest.raises(JuteError):
            decode(type(record), data[:length])


@pytest.mark.parametrize(
    ("mode", "ephemeral", "sequential", "has_ttl"),
    [
        (0, False, False, False),
        (1, True, False, False),
        (2, False, True, False),
        (3, True, True, False),
        (4, False, False, False),
        (5, False, False, True),
        (6, False, True, True),
    ],
)
def test_the_flags_of_a_create(mode: int, ephemeral: bool, sequential: bool, has_ttl: bool) -> None:
    found = CreateMode(mode)
    assert (found.is_ephemeral, found.is_sequential, found.has_ttl) == (ephemeral, sequential, has_ttl)


def test_unknown_flags_are_no_mode() -> None:
    with pytest.raises(ValueError, match="7 is not a valid CreateMode"):
        CreateMode(7)


def test_all_permissions_are_the_sum_of_each() -> None:
    assert Perms.READ | Perms.WRITE | Perms.CREATE | Perms.DELETE | Perms.ADMIN == Perms.ALL == 31


def test_reserved_xids_are_those_of_zookeeper() -> None:
    assert [int(xid) for xid in Xid] == [-1, -2, -4, -8]
