"""The records of ZooKeeper's client protocol: what follows the four length bytes of every frame.

ZooKeeper 3.8: zookeeper-jute/src/main/resources/zookeeper.jute, zookeeper-server/.../ZooDefs.java · book 7.1.3

A connection speaks in frames ``| length: int | payload |``. The first one each way is the session's handshake, all
others begin with a header::

    client → server   | ConnectRequest |          then | RequestHeader(xid, type) | the request of that type |
    server → client   | ConnectResponse |         then | ReplyHeader(xid, zxid, err) | the response, when err is 0 |

Replies come in the order of the requests. Negative xids are not answers to numbered requests: see ``Xid``.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import NamedTuple

from kafka_lite.zookeeper.embedded.jute import Buffer, Int, Long, Ustring


class OpCode(IntEnum):
    """The type of a request, and of a transaction."""

    CREATE_SESSION = -10
    CLOSE_SESSION = -11
    ERROR = -1
    CREATE = 1
    DELETE = 2
    EXISTS = 3
    GET_DATA = 4
    SET_DATA = 5
    GET_ACL = 6
    SET_ACL = 7
    GET_CHILDREN = 8
    SYNC = 9
    PING = 11
    GET_CHILDREN2 = 12
    CHECK = 13
    MULTI = 14
    CREATE2 = 15
    RECONFIG = 16
    CHECK_WATCHES = 17
    REMOVE_WATCHES = 18
    CREATE_CONTAINER = 19
    DELETE_CONTAINER = 20
    CREATE_TTL = 21
    MULTI_READ = 22
    AUTH = 100
    SET_WATCHES = 101
    SASL = 102
    GET_EPHEMERALS = 103
    GET_ALL_CHILDREN_NUMBER = 104
    SET_WATCHES2 = 105
    ADD_WATCH = 106
    WHO_AM_I = 107


class Xid(IntEnum):
    """The reserved xids."""

    NOTIFICATION = -1
    PING = -2
    AUTH = -4
    SET_WATCHES = -8


class Perms(IntFlag):
    """What an ACL entry grants."""

    READ = 1
    WRITE = 2
    CREATE = 4
    DELETE = 8
    ADMIN = 16
    ALL = 31


class CreateMode(IntEnum):
    """The ``flags`` of a create."""

    PERSISTENT = 0
    EPHEMERAL = 1
    PERSISTENT_SEQUENTIAL = 2
    EPHEMERAL_SEQUENTIAL = 3
    CONTAINER = 4
    PERSISTENT_WITH_TTL = 5
    PERSISTENT_SEQUENTIAL_WITH_TTL = 6

    @property
    def is_ephemeral(self) -> bool:
        """The znode goes with its session."""
        return self in (CreateMode.EPHEMERAL, CreateMode.EPHEMERAL_SEQUENTIAL)

    @property
    def is_sequential(self) -> bool:
        """The name gets ten digits that no sibling ever had."""
        return self in (
            CreateMode.PERSISTENT_SEQUENTIAL,
            CreateMode.EPHEMERAL_SEQUENTIAL,
            CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL,
        )

    @property
    def has_ttl(self) -> bool:
        """The znode goes when it was not changed for its time to live."""
        return self in (CreateMode.PERSISTENT_WITH_TTL, CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL)


class EventType(IntEnum):
    """What a watch tells."""

    NODE_CREATED = 1
    NODE_DELETED = 2
    NODE_DATA_CHANGED = 3
    NODE_CHILDREN_CHANGED = 4


SYNC_CONNECTED = 3
"""The only ``state`` that a server puts into an event: the others are the client's own."""


class Id(NamedTuple):
    """Who: an identity within a scheme (``world:anyone``, ``ip:10.0.0.0/8``, ``digest:user:hash``)."""

    scheme: Ustring
    id: Ustring


class ACL(NamedTuple):
    """Who may do what."""

    perms: Int
    id: Id


ANYONE = Id("world", "anyone")
OPEN_ACL_UNSAFE = (ACL(int(Perms.ALL), ANYONE),)
READ_ACL_UNSAFE = (ACL(int(Perms.READ), ANYONE),)


class Stat(NamedTuple):
    """A znode's bookkeeping, as clients see it. Times in ms since the epoch."""

    czxid: Long
    mzxid: Long
    ctime: Long
    mtime: Long
    version: Int
    cversion: Int
    aversion: Int
    ephemeral_owner: Long
    data_length: Int
    num_children: Int
    pzxid: Long


# ---- Handshake and headers -------------------------------------------------------------------------------------------


class ConnectRequest(NamedTuple):
    """The first frame of a client; ``session_id`` 0 asks for a new session. A ``readOnly`` byte may follow (3.4+)."""

    protocol_version: Int
    last_zxid_seen: Long
    time_out: Int
    session_id: Long
    passwd: Buffer


class ConnectResponse(NamedTuple):
    """The server's answer; ``time_out`` 0 says that the session is gone. The client's ``readOnly`` byte is echoed."""

    protocol_version: Int
    time_out: Int
    session_id: Long
    passwd: Buffer


class RequestHeader(NamedTuple):
    """Precedes every request."""

    xid: Int
    type: Int


class ReplyHeader(NamedTuple):
    """Precedes every response and event."""

    xid: Int
    zxid: Long
    err: Int


class MultiHeader(NamedTuple):
    """Precedes every operation and result of a multi; ``done`` marks the end of the list."""

    type: Int
    done: bool
    err: Int


MULTI_END = MultiHeader(-1, True, -1)


# ---- Requests --------------------------------------------------------------------------------------------------------


class CreateRequest(NamedTuple):
    """Create, create2 and createContainer."""

    path: Ustring
    data: Buffer
    acl: tuple[ACL, ...]
    flags: Int


class CreateTTLRequest(NamedTuple):
    """A create with a time to live, ms."""

    path: Ustring
    data: Buffer
    acl: tuple[ACL, ...]
    flags: Int
    ttl: Long


class DeleteRequest(NamedTuple):
    """Delete if the data version is ``version`` (-1: any)."""

    path: Ustring
    version: Int


class SetDataRequest(NamedTuple):
    """Write if the data version is ``version`` (-1: any)."""

    path: Ustring
    data: Buffer
    version: Int


class SetACLRequest(NamedTuple):
    """Replace the ACL if its version is ``version`` (-1: any)."""

    path: Ustring
    acl: tuple[ACL, ...]
    version: Int


class CheckVersionRequest(NamedTuple):
    """Within a multi: go on only if the data version is ``version`` (-1: any)."""

    path: Ustring
    version: Int


class PathRequest(NamedTuple):
    """GetACL, sync, getAllChildrenNumber, getEphemerals (a prefix)."""

    path: Ustring


class PathWatchRequest(NamedTuple):
    """Exists, getData, getChildren, getChildren2; ``watch`` leaves a one-shot watch."""

    path: Ustring
    watch: bool


class AuthPacket(NamedTuple):
    """Adds an identity to the connection."""

    type: Int
    scheme: Ustring
    auth: Buffer


class SetWatches(NamedTuple):
    """After a reconnect: the client's watches, and the last zxid it saw, so that what it missed fires at once."""

    relative_zxid: Long
    data_watches: list[Ustring]
    exist_watches: list[Ustring]
    child_watches: list[Ustring]


class SetWatches2(NamedTuple):
    """SetWatches with the persistent kinds."""

    relative_zxid: Long
    data_watches: list[Ustring]
    exist_watches: list[Ustring]
    child_watches: list[Ustring]
    persistent_watches: list[Ustring]
    persistent_recursive_watches: list[Ustring]


class WatcherTypeRequest(NamedTuple):
    """CheckWatches and removeWatches; the type is 1 children, 2 data, 3 any."""

    path: Ustring
    type: Int


class AddWatchRequest(NamedTuple):
    """Adds a watch that stays: mode 0 persistent, 1 persistent and recursive."""

    path: Ustring
    mode: Int


# ---- Responses -------------------------------------------------------------------------------------------------------


class PathResponse(NamedTuple):
    """Create, sync."""

    path: Ustring


class Create2Response(NamedTuple):
    """Create2, createContainer, createTTL."""

    path: Ustring
    stat: Stat


class GetDataResponse(NamedTuple):
    """GetData."""

    data: Buffer
    stat: Stat


class GetACLResponse(NamedTuple):
    """GetACL."""

    acl: tuple[ACL, ...]
    stat: Stat


class PathsResponse(NamedTuple):
    """GetChildren (names) and getEphemerals (paths)."""

    paths: list[Ustring]


class GetChildren2Response(NamedTuple):
    """GetChildren2."""

    children: list[Ustring]
    stat: Stat


class GetAllChildrenNumberResponse(NamedTuple):
    """How many znodes are below the path, at any depth."""

    total_number: Int


class ErrorResponse(NamedTuple):
    """The result of an operation of a multi that did not happen."""

    err: Int


class WhoAmIResponse(NamedTuple):
    """The identities of the connection, each with its user's name instead of its secret."""

    client_info: list[Id]


class WatcherEvent(NamedTuple):
    """What follows the reply header of xid -1."""

    type: Int
    state: Int
    path: Ustring
