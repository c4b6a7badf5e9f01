"""The error codes of ZooKeeper's protocol, and the exception that returns one to the client.

ZooKeeper 3.8: zookeeper-server/.../KeeperException.java · book 7.1.3
"""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    """The ``err`` field of a reply header; errors are negative, 0 is success."""

    OK = 0
    SYSTEM_ERROR = -1
    """The server cannot write its log, for example because its disk is full. Nothing was changed."""
    RUNTIME_INCONSISTENCY = -2
    """In a multi: an operation after the failed one, which was not tried."""
    MARSHALLING_ERROR = -5
    UNIMPLEMENTED = -6
    BAD_ARGUMENTS = -8
    NO_NODE = -101
    NO_AUTH = -102
    BAD_VERSION = -103
    NO_CHILDREN_FOR_EPHEMERALS = -108
    NODE_EXISTS = -110
    NOT_EMPTY = -111
    SESSION_EXPIRED = -112
    INVALID_ACL = -114
    AUTH_FAILED = -115
    NO_WATCHER = -121
    RECONFIG_DISABLED = -123


class KeeperException(Exception):
    """A request that ZooKeeper rejects; the client receives ``code``."""

    def __init__(self, code: Code, path: str = "") -> None:
        super().__init__(f"{code.name}{' for ' + path if path else ''}")
        self.code = code
        self.path = path
