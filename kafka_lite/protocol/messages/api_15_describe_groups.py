"""DescribeGroups: state and members of groups.

Kafka 0.10.2: clients/.../common/requests/DescribeGroupsRequest.java, DescribeGroupsResponse.java · book 5.2.2
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, bytes_, int16, int32, string


class DescribeGroupsRequest(Request, api_key=ApiKey.DESCRIBE_GROUPS, versions="0-6", flexible="5+"):
    """The groups.

    v3  include_authorized_operations
    v5  compact lengths and tagged fields
    """

    groups: list[str] = array(string)
    include_authorized_operations: bool = boolean(versions="3+")


class DescribedGroupMember(Struct):
    """A member of a group."""

    member_id: str = string()
    # for a static member
    group_instance_id: str | None = string(versions="4+", nullable="4+", default=None, ignorable=True)
    client_id: str = string()
    client_host: str = string()
    member_metadata: bytes = bytes_()  # the metadata with which it joined, in the stable state only
    member_assignment: bytes = bytes_()  # in the stable state only


class DescribedGroup(Struct):
    """A group."""

    error_code: int = int16()
    error_message: str | None = string(versions="6+", nullable="6+", default=None)
    group_id: str = string()
    group_state: str = string()  # Empty, PreparingRebalance, CompletingRebalance (0.10.2: AwaitingSync), Stable, Dead
    protocol_type: str = string()
    protocol_data: str = string()  # name of the protocol, in the stable state only
    members: list[DescribedGroupMember] = array(DescribedGroupMember)
    authorized_operations: int = int32(versions="3+", default=-2147483648)


class DescribeGroupsResponse(Response, api_key=ApiKey.DESCRIBE_GROUPS, versions="0-6", flexible="5+"):
    """A description of each group; one that does not exist is Dead.

    v1  throttle_time_ms
    v2  a throttling broker responds at once and mutes the connection afterwards
    v3  authorized_operations
    v4  group_instance_id
    v5  compact lengths and tagged fields
    v6  error_message; a group that does not exist has the error GROUP_ID_NOT_FOUND (KIP-1043)
    """

    throttle_time_ms: int = int32(versions="1+", ignorable=True)  # how long a quota delays the client
    groups: list[DescribedGroup] = array(DescribedGroup)
