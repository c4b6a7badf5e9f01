"""LeaveGroup: members leave a group.

Kafka 0.10.2: clients/.../common/requests/LeaveGroupRequest.java, LeaveGroupResponse.java · book 5.4.4
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, string


class MemberIdentity(Struct):
    """A member that leaves."""

    member_id: str = string(versions="3+")
    group_instance_id: str | None = string(versions="3+", nullable="3+", default=None)  # for a static member
    reason: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)


class LeaveGroupRequest(Request, api_key=ApiKey.LEAVE_GROUP, versions="0-5", flexible="4+"):
    """The member that leaves, or several.

    v3  several members, static ones too, so that an administrator can remove them
    v4  compact lengths and tagged fields
    v5  reason, for the broker's log
    """

    group_id: str = string()
    member_id: str = string(versions="0-2")
    members: list[MemberIdentity] = array(MemberIdentity, versions="3+")


class MemberResponse(Struct):
    """The outcome for one member."""

    member_id: str = string(versions="3+")
    group_instance_id: str | None = string(versions="3+", nullable="3+")  # for a static member
    error_code: int = int16(versions="3+")


class LeaveGroupResponse(Response, api_key=ApiKey.LEAVE_GROUP, versions="0-5", flexible="4+"):
    """Whether they were members.

    v1  throttle_time_ms
    v2  a throttling broker responds at once and mutes the connection afterwards
    v3  an outcome for each member
    v4  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32(versions="1+", ignorable=True)  # how long a quota delays the client
    error_code: int = int16()
    members: list[MemberResponse] = array(MemberResponse, versions="3+")
