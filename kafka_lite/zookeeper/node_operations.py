"""Operations on ZooKeeper's nodes that can be sent together, and a node's metadata.

Kafka 0.10.2: none, ZkClient sends them one by one; later core/.../zookeeper/ZooKeeperClient.scala (CreateRequest,
SetDataRequest, DeleteRequest) · book 7.1.3
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ANY_VERSION = -1


@dataclass(frozen=True)
class CreateNode:
    """A node to create; its parent exists or is created first."""

    path: str
    data: bytes | None
    ephemeral: bool = False


@dataclass(frozen=True)
class SetNode:
    """Data to write if the node still has the version; the result is the new version."""

    path: str
    data: bytes | None
    version: int = ANY_VERSION


@dataclass(frozen=True)
class DeleteNode:
    """A node to delete; it has no children, or they are deleted first."""

    path: str
    version: int = ANY_VERSION


@dataclass(frozen=True)
class CheckNode:
    """Fails, and with it the transaction, unless the node has the version."""

    path: str
    version: int


Operation = CreateNode | SetNode | DeleteNode | CheckNode


@dataclass(frozen=True)
class ZnodeStat:
    """A node's metadata."""

    version: int
    created_ms: int
    modified_ms: int
    ephemeral_owner: int
    czxid: int
    mzxid: int
    pzxid: int
    cversion: int
    aversion: int
    data_length: int
    num_children: int


def stat_of(stat: Any) -> ZnodeStat:
    """A node's metadata from kazoo's."""
    return ZnodeStat(
        version=stat.version,
        created_ms=stat.ctime,
        modified_ms=stat.mtime,
        ephemeral_owner=stat.ephemeralOwner or 0,
        czxid=stat.czxid,
        mzxid=stat.mzxid,
        pzxid=stat.pzxid,
        cversion=stat.cversion,
        aversion=stat.aversion,
        data_length=stat.dataLength,
        num_children=stat.numChildren,
    )
