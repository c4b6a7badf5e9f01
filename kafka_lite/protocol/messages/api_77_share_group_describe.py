"""ShareGroupDescribe: share groups with their members, epochs and assignments (KIP-932).

Kafka 4.1: clients/.../common/requests/ShareGroupDescribeRequest.java · book 5.2.2
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int16, int32, nested, string, uuid_

NO_OPERATIONS = -(2**31)


class ShareGroupDescribeRequest(Request, api_key=ApiKey.SHARE_GROUP_DESCRIBE, versions="1", flexible="0+"):
    """The groups to describe.

    v1  the first that Kafka 4.1 knows
    """

    group_ids: list[str] = array(string)
    include_authorized_operations: bool = boolean()


class TopicPartitions(Struct):
    """Partitions of one topic."""

    topic_id: UUID = uuid_()
    topic_name: str = string()
    partitions: list[int] = array(int32)


class Assignment(Struct):
    """Partitions of a member."""

    topic_partitions: list[TopicPartitions] = array(TopicPartitions)


class Member(Struct):
    """A member with its current assignment."""

    member_id: str = string()
    rack_id: str | None = string(nullable="0+", default=None)
    member_epoch: int = int32()
    client_id: str = string()
    client_host: str = string()
    subscribed_topic_names: list[str] = array(string)
    assignment: Assignment = nested(Assignment)


class DescribedGroup(Struct):
    """A group, or the error of its description."""

    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    group_id: str = string()
    group_state: str = string()
    group_epoch: int = int32()
    assignment_epoch: int = int32()
    assignor_name: str = string()
    members: list[Member] = array(Member)
    authorized_operations: int = int32(default=NO_OPERATIONS)  # a bit for each operation


class ShareGroupDescribeResponse(Response, api_key=ApiKey.SHARE_GROUP_DESCRIBE, versions="1", flexible="0+"):
    """The groups."""

    throttle_time_ms: int = int32()  # how long a quota delays the client
    groups: list[DescribedGroup] = array(DescribedGroup)
