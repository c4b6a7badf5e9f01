"""The errors of ZooKeeper operations.

Kafka 0.10.2: org.I0Itec.zkclient.exception (ZkException, ZkNodeExistsException, …) · book 7.1.3
"""

from __future__ import annotations

from typing import TypeVar

from kazoo import exceptions as kazoo_exceptions

from kafka_lite.common.errors import KafkaError

E = TypeVar("E", bound=BaseException)


class ZkError(KafkaError):
    """An operation that ZooKeeper rejected."""


class ZkConnectionError(ZkError):
    """No connection: ZooKeeper did not respond in time, or this client was closed."""


class NoNodeError(ZkError):
    """The node does not exist."""


class NodeExistsError(ZkError):
    """The node already exists."""


class ZkStorageError(ZkError):
    """ZooKeeper has no space for a write, for example because its disk is full; nothing was changed."""


class BadVersionError(ZkError):
    """The node has been changed since its version was read."""


class FencedError(ZkError):
    """The write was not made, since the node that fences it has changed (``ZooKeeperClient.fenced_by``)."""


class NotEmptyError(ZkError):
    """The node has children, so it cannot be deleted."""


class NoChildrenForEphemeralsError(ZkError):
    """An ephemeral node cannot have children."""


class InvalidPathError(ZkError):
    """ZooKeeper has no such paths: one with a part ``.`` or ``..``, or with a control character."""


_ERRORS: list[tuple[type[Exception], type[ZkError]]] = [
    (kazoo_exceptions.NoNodeError, NoNodeError),
    (kazoo_exceptions.NodeExistsError, NodeExistsError),
    (kazoo_exceptions.BadVersionError, BadVersionError),
    (kazoo_exceptions.NotEmptyError, NotEmptyError),
    (kazoo_exceptions.NoChildrenForEphemeralsError, NoChildrenForEphemeralsError),
    (kazoo_exceptions.SystemZookeeperError, ZkStorageError),
    (kazoo_exceptions.ConnectionClosedError, ZkConnectionError),
    (kazoo_exceptions.BadArgumentsError, InvalidPathError),
    (ValueError, InvalidPathError),
    (InterruptedError, ZkConnectionError),
    (kazoo_exceptions.KazooException, ZkError),
]


def zk_error(error: BaseException, path: object = "") -> ZkError:
    """Our error for one of kazoo's; the message ends with the path."""
    kind = next(ours for theirs, ours in _ERRORS if isinstance(error, theirs))
    detail = str(error) or type(error).__name__
    return kind(f"{detail} ({path})" if path else detail)


def without_frames(error: E) -> E:
    """An error of kazoo without its traceback: kazoo keeps it in a result, which a frame of the traceback refers to.

    The cycle would keep the callers' frames, too, with whatever a request is made of, until it is collected.
    """
    error.__traceback__ = None
    return error
