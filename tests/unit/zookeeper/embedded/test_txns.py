"""Transactions as they are logged: bytes drawn by hand, and logs of other servers."""

from __future__ import annotations

import pytest

from kafka_lite.zookeeper.embedded.jute import JuteError
from kafka_lite.zookeeper.embedded.protocol import OPEN_ACL_UNSAFE, OpCode
from kafka_lite.zookeeper.embedded.txns import (
    TXN_CLASSES,
    CheckVersionTxn,
    CloseSessionTxn,
    CreateContainerTxn,
    CreateSessionTxn,
    CreateTTLTxn,
    CreateTxn,
    DeleteTxn,
    ErrorTxn,
    MultiTxn,
    SetACLTxn,
    SetDataTxn,
    Txn,
    TxnHeader,
    decode_txn,
    encode_txn,
)
from tests.support.annotated_bytes import annotated_bytes

ACL = "00000001 0000001f 00000005 'world' 00000006 'anyone'"


def header(op: int) -> TxnHeader:
    return TxnHeader(client_id=77, cxid=3, zxid=9, time=1000, type=op)


def drawn_header(op: int) -> str:
    return f"000000000000004d 00000003 0000000000000009 00000000000003e8 {op & 0xFFFF_FFFF:08x}\n"


DRAWN: list[tuple[OpCode, Txn, str]] = [
    (OpCode.CREATE, CreateTxn("/a", b"d", OPEN_ACL_UNSAFE, True, 4), f"00000002 '/a' 00000001 'd' {ACL} 01 00000004"),
    (OpCode.CREATE2, CreateTxn("/a", None, (), False, 1), "00000002 '/a' ffffffff 00000000 00 00000001"),
    (
        OpCode.CREATE_CONTAINER,
        CreateContainerTxn("/c", b"", OPEN_ACL_UNSAFE, 2),
        f"00000002 '/c' 00000000 {ACL} 00000002",
    ),
    (
        OpCode.CREATE_TTL,
        CreateTTLTxn("/t", b"", (), 2, 5000),
        "00000002 '/t' 00000000 00000000 00000002 0000000000001388",
    ),
    (OpCode.DELETE, DeleteTxn("/a"), "00000002 '/a'"),
    (OpCode.DELETE_CONTAINER, DeleteTxn("/a"), "00000002 '/a'"),
    (OpCode.SET_DATA, SetDataTxn("/a", b"xy", 7), "00000002 '/a' 00000002 'xy' 00000007"),
    (OpCode.SET_ACL, SetACLTxn("/a", OPEN_ACL_UNSAFE, 1), f"00000002 '/a' {ACL} 00000001"),
    (OpCode.CHECK, CheckVersionTxn("/a", 5), "00000002 '/a' 00000005"),
    (OpCode.CREATE_SESSION, CreateSessionTxn(6000), "00001770"),
    (OpCode.CLOSE_SESSION, CloseSessionTxn(["/e", "/f"]), "00000002 00000002 '/e' 00000002 '/f'"),
    (OpCode.ERROR, ErrorTxn(-110), "ffffff92"),
    (
        OpCode.MULTI,
        MultiTxn([(OpCode.DELETE, DeleteTxn("/a")), (OpCode.CHECK, CheckVersionTxn("/b", 0))]),
        "00000002 00000002 00000006 00000002 '/a' 0000000d 0000000a 00000002 '/b' 00000000",
    ),
]


@pytest.mark.parametrize(("op", "txn", "drawn"), DRAWN)
def test_a_transaction_has_the_drawn_bytes(op: OpCode, txn: Txn, drawn: str) -> None:
    assert encode_txn(header(op), txn) == annotated_bytes(drawn_header(op) + drawn)


@pytest.mark.parametrize(("op", "txn", "drawn"), DRAWN)
def test_the_drawn_bytes_are_read_without_what_follows(op: OpCode, txn: Txn, drawn: str) -> None:
    data = annotated_bytes(drawn_header(op) + drawn)
    digest = b"" if op is OpCode.CLOSE_SESSION else b"\0\0\0\2digest"
    assert decode_txn(data + digest) == (header(op), txn)


@pytest.mark.parametrize(("op", "txn", "drawn"), DRAWN)
def test_a_transaction_that_ends_too_early_is_refused(op: OpCode, txn: Txn, drawn: str) -> None:
    data = annotated_bytes(drawn_header(op) + drawn)
    start = len(annotated_bytes(drawn_header(op)))
    for length in range(len(data)):
        if not (op is OpCode.CLOSE_SESSION and length == start):
            with pytest.raises(JuteError):
                decode_txn(data[:length])


def test_every_kind_of_transaction_is_drawn() -> None:
    assert {op for op, _, _ in DRAWN} == set(TXN_CLASSES) - {OpCode.RECONFIG}


def test_servers_before_3_6_do_not_say_which_znodes_a_session_had() -> None:
    data = annotated_bytes(drawn_header(OpCode.CLOSE_SESSION))
    assert decode_txn(data) == (header(OpCode.CLOSE_SESSION), CloseSessionTxn([]))


@pytest.mark.parametrize("op", [0, 3, 55, -2])
def test_a_transaction_of_unknown_type_is_refused(op: int) -> None:
    with pytest.raises(JuteError, match=f"a transaction of unknown type {op}"):
        decode_txn(annotated_bytes(drawn_header(op)) + bytes(20))


def test_an_unknown_type_within_a_multi_is_refused() -> None:
    data = annotated_bytes(drawn_header(OpCode.MULTI) + "00000001 00000037 00000000")
    with pytest.raises(JuteError, match="a transaction of unknown type 55"):
        decode_txn(data)
