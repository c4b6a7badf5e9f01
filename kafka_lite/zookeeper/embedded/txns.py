"""Transactions: decided requests, as they are stored in the log and applied to the data tree.

ZooKeeper 3.8: zookeeper-jute/src/main/resources/zookeeper.jute, .../util/SerializeUtils.java · book 7.1.3

A request says "create /a with a sequential name, if allowed"; its transaction says "/a0000000007 exists now, and its
parent has seen 8 creations". A transaction does not depend on the current state, so replaying a log gives the same
tree::

    | TxnHeader: client_id long, cxid int, zxid long, time long, type int | the record of that type |
"""

from __future__ import annotations

from typing import NamedTuple

from kafka_lite.zookeeper.embedded.jute import Buffer, Int, JuteError, JuteReader, Long, Ustring, encode, read_record
from kafka_lite.zookeeper.embedded.protocol import ACL, OpCode


class TxnHeader(NamedTuple):
    """The session that requested it (``client_id``), its request number (``cxid``), the zxid, the time and the type."""

    client_id: Long
    cxid: Int
    zxid: Long
    time: Long
    type: Int


class CreateTxn(NamedTuple):
    """``parent_c_version`` is the number of creations in the parent, including this one."""

    path: Ustring
    data: Buffer
    acl: tuple[ACL, ...]
    ephemeral: bool
    parent_c_version: Int


class CreateContainerTxn(NamedTuple):
    """A znode that is deleted after its last child has been deleted."""

    path: Ustring
    data: Buffer
    acl: tuple[ACL, ...]
    parent_c_version: Int


class CreateTTLTxn(NamedTuple):
    """A znode with a time to live, in ms."""

    path: Ustring
    data: Buffer
    acl: tuple[ACL, ...]
    parent_c_version: Int
    ttl: Long


class DeleteTxn(NamedTuple):
    """A deletion by a client, or of an empty container or an expired TTL znode."""

    path: Ustring


class SetDataTxn(NamedTuple):
    """``version`` is the version after the write."""

    path: Ustring
    data: Buffer
    version: Int


class SetACLTxn(NamedTuple):
    """``version`` is the ACL version after the write."""

    path: Ustring
    acl: tuple[ACL, ...]
    version: Int


class CheckVersionTxn(NamedTuple):
    """Changes nothing; part of a multi so that results and operations correspond."""

    path: Ustring
    version: Int


class CreateSessionTxn(NamedTuple):
    """The header's ``client_id`` is the new session; the timeout is the negotiated one, in ms."""

    time_out: Int


class CloseSessionTxn(NamedTuple):
    """The session was closed or expired; its ephemeral znodes are deleted in the same transaction."""

    paths_to_delete: list[Ustring]


class ErrorTxn(NamedTuple):
    """A rejected request. We do not log these, but we read them from a log that ZooKeeper wrote."""

    err: Int


class _SubTxn(NamedTuple):
    type: Int
    data: Buffer


class _MultiTxn(NamedTuple):
    txns: list[_SubTxn]


class MultiTxn(NamedTuple):
    """Pairs of type and transaction under one zxid, applied all or none."""

    txns: list[tuple[OpCode, Txn]]


Txn = (
    CreateTxn
    | CreateContainerTxn
    | CreateTTLTxn
    | DeleteTxn
    | SetDataTxn
    | SetACLTxn
    | CheckVersionTxn
    | CreateSessionTxn
    | CloseSessionTxn
    | ErrorTxn
    | MultiTxn
)

TXN_CLASSES: dict[OpCode, type[Txn]] = {
    OpCode.CREATE: CreateTxn,
    OpCode.CREATE2: CreateTxn,
    OpCode.CREATE_CONTAINER: CreateContainerTxn,
    OpCode.CREATE_TTL: CreateTTLTxn,
    OpCode.DELETE: DeleteTxn,
    OpCode.DELETE_CONTAINER: DeleteTxn,
    OpCode.SET_DATA: SetDataTxn,
    OpCode.RECONFIG: SetDataTxn,
    OpCode.SET_ACL: SetACLTxn,
    OpCode.CHECK: CheckVersionTxn,
    OpCode.CREATE_SESSION: CreateSessionTxn,
    OpCode.CLOSE_SESSION: CloseSessionTxn,
    OpCode.ERROR: ErrorTxn,
    OpCode.MULTI: MultiTxn,
}


def encode_txn(header: TxnHeader, txn: Txn) -> bytes:
    """Encode header and record as stored in the log."""
    return encode(header) + _encode_body(txn)


def _encode_body(txn: Txn) -> bytes:
    if isinstance(txn, MultiTxn):
        return encode(_MultiTxn([_SubTxn(int(op), _encode_body(sub)) for op, sub in txn.txns]))
    return encode(txn)


def decode_txn(data: bytes) -> tuple[TxnHeader, Txn]:
    """Decode header and record; ignores what follows (ZooKeeper's digest of its tree). Raises ``JuteError``."""
    reader = JuteReader(data)
    header = read_record(TxnHeader, reader)
    return header, _decode_body(header.type, reader)


def _decode_body(op: int, reader: JuteReader) -> Txn:
    if op not in TXN_CLASSES:
        raise JuteError(f"a transaction of unknown type {op}")
    txn_class = TXN_CLASSES[OpCode(op)]
    if txn_class is MultiTxn:
        subs = read_record(_MultiTxn, reader).txns
        bodies = [(sub.type, _decode_body(sub.type, JuteReader(sub.data or b""))) for sub in subs]
        return MultiTxn([(OpCode(op), body) for op, body in bodies])
    if txn_class is CloseSessionTxn and not reader.remaining:
        # Servers before 3.6 leave the list out; the tree knows the session's znodes anyway.
        return CloseSessionTxn([])
    return read_record(txn_class, reader)
