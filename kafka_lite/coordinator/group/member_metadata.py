"""One member of a group: its metadata, its assignment, and its parked requests.

Kafka 0.10.2: core/.../coordinator/MemberMetadata.scala · book 5.2.2
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from kafka_lite.common.errors import Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperation
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse

JoinCallback = Callable[[JoinGroupResponse], None]
SyncCallback = Callable[[SyncGroupResponse], None]
Protocols = Sequence[tuple[str, bytes]]
"""Name and metadata of each protocol (assignor) that a member supports, in order of preference."""

UNKNOWN_MEMBER_ID = ""
"""The member id of a client that has not been given one."""
NO_GENERATION = -1

MAX_INSTANCE_ID = 249
"""How long an instance id may be, in characters. Kafka's clients refuse a longer one themselves."""


def join_error(member_id: str, error: Errors) -> JoinGroupResponse:
    """The response to a JoinGroup request that is refused."""
    return JoinGroupResponse(
        error_code=error.code, generation_id=NO_GENERATION, protocol_name=None, leader="", member_id=member_id
    )


def sync_error(error: Errors) -> SyncGroupResponse:
    """The response to a SyncGroup request that is refused."""
    return SyncGroupResponse(error_code=error.code, assignment=b"")


class MemberMetadata:
    """A member as the coordinator sees it. Callers must hold the group's lock.

    ``awaiting_join_callback`` is set while the member's JoinGroup request is parked, ``awaiting_sync_callback`` while
    its SyncGroup request is. At most one of them is set.
    """

    def __init__(
        self,
        member_id: str,
        group_instance_id: str | None,
        client_id: str,
        client_host: str,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        protocol_type: str,
        supported_protocols: Protocols,
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        """The name that a static member (KIP-345) keeps across restarts; None for a dynamic member."""
        self.client_id = client_id
        self.client_host = client_host
        """The client's address, with the leading slash that Java prints for an unresolved address."""
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocol_type = protocol_type
        self.supported_protocols = supported_protocols
        self.assignment = assignment
        self.awaiting_join_callback: JoinCallback | None = None
        self.awaiting_sync_callback: SyncCallback | None = None
        self.is_new = False
        """Whether the member waits for its first generation. A new member times out after
        ``NEW_MEMBER_JOIN_TIMEOUT_MS`` even while its JoinGroup is parked, because its connection may be long gone."""
        self.heartbeat_satisfied = False
        """Whether the member has been heard from, so that ``delayed_heartbeat`` may complete."""
        self.delayed_heartbeat: DelayedOperation | None = None
        """The session timeout in progress. An operation that expires just as a heartbeat arrives finds its successor
        here, and does nothing."""

    @property
    def is_static_member(self) -> bool:
        """Whether the member has an instance id, under which it may come back after a restart."""
        return self.group_instance_id is not None

    @property
    def is_awaiting_join(self) -> bool:
        """Whether its JoinGroup request is parked."""
        return self.awaiting_join_callback is not None

    @property
    def is_awaiting_sync(self) -> bool:
        """Whether its SyncGroup request is parked."""
        return self.awaiting_sync_callback is not None

    @property
    def has_satisfied_heartbeat(self) -> bool:
        """Whether the session must not time out now: the member was heard from, or it waits for a response of ours."""
        if not self.is_new and (self.is_awaiting_join or self.is_awaiting_sync):
            return True
        return self.heartbeat_satisfied

    @property
    def protocols(self) -> list[str]:
        """The names of the protocols that the member supports."""
        return [name for name, _ in self.supported_protocols]

    @property
    def metadata_bytes(self) -> int:
        """The size of its metadata for all protocols."""
        return sum(len(metadata) for _, metadata in self.supported_protocols)

    def metadata(self, protocol: str) -> bytes:
        """The member's metadata for one protocol. Raises ValueError if it does not support the protocol."""
        for name, metadata in self.supported_protocols:
            if name == protocol:
                return metadata
        raise ValueError(f"Member {self.member_id} does not support protocol {protocol}")

    def matches(self, protocols: Protocols) -> bool:
        """Whether these are the protocols and the metadata that the member joined with."""
        return list(self.supported_protocols) == list(protocols)

    def vote(self, candidates: Collection[str]) -> str:
        """The member's most preferred protocol among the candidates. Raises ValueError if it supports none of them."""
        for name, _ in self.supported_protocols:
            if name in candidates:
                return name
        raise ValueError(f"Member {self.member_id} does not support any of the candidate protocols")

    def __repr__(self) -> str:
        instance = f", {self.group_instance_id}" if self.group_instance_id else ""
        return f"MemberMetadata({self.member_id}{instance}, {self.client_id}, {self.client_host})"
