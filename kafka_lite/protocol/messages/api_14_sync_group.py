"""SyncGroup: the leader sends the assignments, and every member receives its own.

Kafka 0.10.2: clients/.../common/requests/SyncGroupRequest.java, SyncGroupResponse.java · book 5.1.3
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, bytes_, int16, int32, string


class SyncGroupRequestAssignment(Struct):
    """The assignment of one member."""

    member_id: str = string()
    assignment: bytes = bytes_()  # for consumers a ConsumerProtocolAssignment


class SyncGroupRequest(Request, api_key=ApiKey.SYNC_GROUP, versions="0-5", flexible="4+"):
    """The assignments of all members, from the leader; an empty list from the others.

    v3  group_instance_id: static members
    v4  compact lengths and tagged fields
    v5  protocol_type and protocol_name, checked against the group's
    """

    group_id: str = string()
    generation_id: int = int32()
    member_id: str = string()
    group_instance_id: str | None = string(versions="3+", nullable="3+", default=None)  # for a static member
    protocol_type: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment] = array(SyncGroupRequestAssignment)


class SyncGroupResponse(Response, api_key=ApiKey.SYNC_GROUP, versions="0-5", flexible="4+"):
    """The member's assignment.

    v1  throttle_time_ms
    v2  a throttling broker responds at once and mutes the connection afterwards
    v3  FENCED_INSTANCE_ID is possible
    v4  compact lengths and tagged fields
    v5  protocol_type and protocol_name
    """

    throttle_time_ms: int = int32(versions="1+", ignorable=True)  # how long a quota delays the client
    error_code: int = int16()
    protocol_type: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)
    assignment: bytes = bytes_()  # for consumers a ConsumerProtocolAssignment
