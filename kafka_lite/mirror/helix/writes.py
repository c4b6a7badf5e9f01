"""Writes to ZooKeeper, as values: Helix's decisions return them, and a thin shell applies them in order.

Helix 0.6.9: helix-core/.../manager/zk/ZKHelixDataAccessor.java · book 8.2.1
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.mirror.helix.zn_record import ZNRecord


@dataclass(frozen=True)
class Create:
    """A persistent znode that is not there yet."""

    path: str
    record: ZNRecord


@dataclass(frozen=True)
class Put:
    """The value of a znode, which is created if it is missing."""

    path: str
    record: ZNRecord


@dataclass(frozen=True)
class Delete:
    """A znode that goes, with all below it. That it has gone already is no error."""

    path: str


Write = Create | Put | Delete
