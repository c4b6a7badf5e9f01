"""One member of a group: what it said on joining, what it was given, and which of its requests wait.

Kafka 0.10.2: core/.../coordinator/MemberMetadata.scala · book 5.2.2
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from kafka_lite.common.delayed_operation import DelayedOperation
from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse

JoinCallback = Callable[[JoinGroupResponse], None]
SyncCallback = Callable[[SyncGroupResponse], None]
Protocols = Sequence[tuple[str, bytes]]
"""Name and metadata of each protocol (assignor) that a member can follow, the preferred one first."""

UNKNOWN_MEMBER_ID = ""
"""The member id of a client that has not been given one."""
NO_GENERATION = -1


def join_error(member_id: str, error: Errors) -> JoinGroupResponse:
    """The response to a JoinGroup request that is refused."""
    return JoinGroupResponse(
        error_code=error.code, generation_id=NO_GENERATION, protocol_name=None, leader="", member_id=member_id
    )


def sync_error(error: Errors) -> SyncGroupResponse:
    """The response to a SyncGroup request that is refused."""
    return SyncGroupResponse(error_code=error.code, assignment=b"")


class MemberMetadata:
    """A member in the coordinator's memory. Only to be touched with the group's lock held.

    ``awaiting_join_callback`` is there while its JoinGroup request is parked, ``awaiting_sync_callback`` while its
    SyncGroup request is; a member never waits for both.
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
        """Name that a static member (KIP-345) keeps over restarts; None for a dynamic one."""
        self.client_id = client_id
        self.client_host = client_host
        """Address, with the slash in front that Java prints before an unresolved one."""
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocol_type = protocol_type
        self.supported_protocols = supported_protocols
        self.assignment = assignment
        self.awaiting_join_callback: JoinCallback | None = None
        self.awaiting_sync_callback: SyncCallback | None = None
        self.is_new = False
        """Whether it waits for its first generation. Such a member is expired even while it waits, after
        ``NEW_MEMBER_JOIN_TIMEOUT_MS``: its connection may be long gone."""
        self.heartbeat_satisfied = False
        """Whether there was a sign of life, so that ``delayed_heartbeat`` may complete."""
        self.delayed_heartbeat: DelayedOperation | None = None
        """The operation that waits for the next sign of life. One that expires in the very moment of a heartbeat finds
        another one here, and does no harm."""

    @property
    def is_static_member(self) -> bool:
        """Whether it has a name of its own, under which it may come back."""
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
        """Whether nothing is to be feared for it: it gave a sign of life, or the coordinator owes it an answer."""
        if not self.is_new and (self.is_awaiting_join or self.is_awaiting_sync):
            return True
        return self.heartbeat_satisfied

    @property
    def protocols(self) -> list[str]:
        """The names of the protocols that it can follow."""
        return [name for name, _ in self.supported_protocols]

    def metadata(self, protocol: str) -> bytes:
        """What it said in one protocol. Raises ValueError when it does not support that."""
        for name, metadata in self.supported_protocols:
            if name == protocol:
                return metadata
        raise ValueError(f"Member {self.member_id} does not support protocol {protocol}")

    def matches(self, protocols: Protocols) -> bool:
        """Whether it would say the same again."""
        return list(self.supported_protocols) == list(protocols)

    def vote(self, candidates: Collection[str]) -> str:
        """The first of its protocols that is a candidate. Raises ValueError when none is."""
        for name, _ in self.supported_protocols:
            if name in candidates:
                return name
        raise ValueError(f"Member {self.member_id} does not support any of the candidate protocols")

    def __repr__(self) -> str:
        instance = f", {self.group_instance_id}" if self.group_instance_id else ""
        return f"MemberMetadata({self.member_id}{instance}, {self.client_id}, {self.client_host})"
