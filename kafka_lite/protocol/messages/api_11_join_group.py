"""JoinGroup: a consumer becomes a member of a group.

Kafka 0.10.2: clients/.../common/requests/JoinGroupRequest.java, JoinGroupResponse.java · book 5.1.1
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, bytes_, int16, int32, string


class JoinGroupRequestProtocol(Struct):
    """A protocol (assignor) that the member supports, with its metadata for it."""

    name: str = string()
    metadata: bytes = bytes_()  # for consumers a ConsumerProtocolSubscription


class JoinGroupRequest(Request, api_key=ApiKey.JOIN_GROUP, versions="0-9", flexible="6+"):
    """The member that joins, and the protocols (assignors) that it supports.

    The response is delayed until all members have joined or the rebalance timeout expires.

        v1  rebalance_timeout_ms; before, the session timeout was used for both
        v4  a new member is first given a member id, and joins again with it (KIP-394)
        v5  group_instance_id: static members (KIP-345)
        v6  compact lengths and tagged fields
        v8  reason, for the broker's log
    """

    group_id: str = string()
    session_timeout_ms: int = int32()
    rebalance_timeout_ms: int = int32(versions="1+", default=-1, ignorable=True)
    member_id: str = string()  # empty for a new member
    group_instance_id: str | None = string(versions="5+", nullable="5+", default=None)  # for a static member
    protocol_type: str = string()  # "consumer", "connect", …: all members must have the same
    protocols: list[JoinGroupRequestProtocol] = array(JoinGroupRequestProtocol)
    reason: str | None = string(versions="8+", nullable="8+", default=None, ignorable=True)


class JoinGroupResponseMember(Struct):
    """A member and its metadata."""

    member_id: str = string()
    # for a static member
    group_instance_id: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)
    metadata: bytes = bytes_()


class JoinGroupResponse(Response, api_key=ApiKey.JOIN_GROUP, versions="0-9", flexible="6+"):
    """The new generation.

    The leader receives all members with their metadata, and computes the assignment; the others get an empty list.

        v2  throttle_time_ms
        v3  a throttling broker responds at once and mutes the connection afterwards
        v4  MEMBER_ID_REQUIRED is possible
        v5  group_instance_id
        v6  compact lengths and tagged fields
        v7  protocol_type; protocol_name may be null
        v9  skip_assignment: the leader must not assign, the assignment is kept
    """

    throttle_time_ms: int = int32(versions="2+", ignorable=True)  # how long a quota delays the client
    error_code: int = int16()
    generation_id: int = int32(default=-1)
    protocol_type: str | None = string(versions="7+", nullable="7+", default=None, ignorable=True)
    protocol_name: str | None = string(nullable="7+")  # the first one that all members support
    leader: str = string()  # member id of the leader
    skip_assignment: bool = boolean(versions="9+")
    member_id: str = string()
    members: list[JoinGroupResponseMember] = array(JoinGroupResponseMember)
