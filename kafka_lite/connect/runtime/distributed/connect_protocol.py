"""Messages between workers, which the group's coordinator passes on unread.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/ConnectProtocol.java (ConnectProtocol, WorkerState,
Assignment) · book 8.3.4
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.common.sendable import Buffer
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.protocol.schema import Message, Struct, array, int16, int32, int64, string
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version, read_version

CONNECT_PROTOCOL_V0 = 0
CONNECTOR_TASK = -1
"""In the place of a task's number: the connector itself."""


# ── The bytes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class ConnectProtocolMetadata(Message, versions="0"):
    """The metadata of JoinGroup: where the worker is, and how far it has read the config topic.

    ::

        version:int16 | url:string16 | config offset:int64
            0         | http://127.0.0.1:28083/ | 7
    """

    url: str = string()
    config_offset: int = int64()


class ConnectorAssignment(Struct):
    """A connector, if ``CONNECTOR_TASK`` is among the numbers, and some of its tasks."""

    connector: str = string()
    tasks: list[int] = array(int32)


class ConnectProtocolAssignment(Message, versions="0"):
    """The assignment of SyncGroup: one entry per connector of which the worker runs anything.

    ::

        version:int16 | error:int16 | leader:string16 | leader url:string16 | config offset:int64
        count:int32 | count × { connector:string16 | count:int32 | count × task:int32 }
            2       | file-sink:  -1, 0, 1
                    | file-source:  0
    """

    error: int = int16()
    leader: str = string()
    leader_url: str = string()
    config_offset: int = int64()
    assignment: list[ConnectorAssignment] = array(ConnectorAssignment)


# ── The values ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class WorkerState:
    """The state of a worker when it joins."""

    url: str
    """Of its REST interface, with a slash at the end: other workers forward requests to it."""
    offset: int
    """Of the worker's snapshot of the config topic; -1 if that is empty."""


NO_ERROR = 0
CONFIG_MISMATCH = 1
"""The leader has not read the config topic as far as another member. All read it to its end and join again."""


@dataclass(frozen=True)
class Assignment:
    """The share of a worker, according to the config topic up to ``offset``."""

    error: int
    leader: str
    leader_url: str
    offset: int
    connectors: tuple[str, ...] = ()
    tasks: tuple[ConnectorTaskId, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether there is nothing to run and the group has to be joined again."""
        return self.error != NO_ERROR


def serialize_metadata(state: WorkerState) -> bytes:
    """The bytes for a JoinGroup request."""
    return encode_with_version(ConnectProtocolMetadata(url=state.url, config_offset=state.offset), CONNECT_PROTOCOL_V0)


def deserialize_metadata(data: Buffer) -> WorkerState:
    """Read the bytes of a JoinGroup response. Raises SchemaError."""
    _ensure_compatible(data)
    message = decode_with_version(ConnectProtocolMetadata, data, lenient=True)
    return WorkerState(message.url, message.config_offset)


def serialize_assignment(assignment: Assignment) -> bytes:
    """The bytes for a SyncGroup request.

    An entry for each connector of which the worker runs anything: CONNECTOR_TASK, if it runs the connector, then tasks.
    """
    numbers: dict[str, list[int]] = {connector: [CONNECTOR_TASK] for connector in assignment.connectors}
    for connector, task in assignment.tasks:
        numbers.setdefault(connector, []).append(task)
    message = ConnectProtocolAssignment(
        error=assignment.error,
        leader=assignment.leader,
        leader_url=assignment.leader_url,
        config_offset=assignment.offset,
        assignment=[ConnectorAssignment(connector=connector, tasks=tasks) for connector, tasks in numbers.items()],
    )
    return encode_with_version(message, CONNECT_PROTOCOL_V0)


def deserialize_assignment(data: Buffer) -> Assignment:
    """Read the bytes of a SyncGroup response. Raises SchemaError."""
    _ensure_compatible(data)
    message = decode_with_version(ConnectProtocolAssignment, data, lenient=True)
    pairs = [(entry.connector, task) for entry in message.assignment for task in entry.tasks]
    return Assignment(
        message.error,
        message.leader,
        message.leader_url,
        message.config_offset,
        tuple(connector for connector, task in pairs if task == CONNECTOR_TASK),
        tuple(ConnectorTaskId(connector, task) for connector, task in pairs if task != CONNECTOR_TASK),
    )


def _ensure_compatible(data: Buffer) -> None:
    """A later version begins with the fields of version 0."""
    version = read_version(data)
    if version < CONNECT_PROTOCOL_V0:
        raise SchemaError(f"Unsupported subscription version: {version}")
