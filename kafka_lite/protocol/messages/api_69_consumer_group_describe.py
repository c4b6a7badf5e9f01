"""ConsumerGroupDescribe: groups of KIP-848 with their members, epochs and assignments.

Kafka 3.7: clients/.../common/requests/ConsumerGroupDescribeRequest.java · book 5.2.2
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import (
    Request,
    Response,
    Struct,
    array,
    boolean,
    int8,
    int16,
    int32,
    nested,
    string,
    uuid_,
)

NO_OPERATIONS = -(2**31)


class ConsumerGroupDescribeRequest(Request, api_key=ApiKey.CONSUMER_GROUP_DESCRIBE, versions="0-1", flexible="0+"):
    """The groups to describe.

    v1  the response has the kind of each member
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
    """A member: its current assignment, and the target that it is led to."""

    member_id: str = string()
    instance_id: str | None = string(nullable="0+", default=None)
    rack_id: str | None = string(nullable="0+", default=None)
    member_epoch: int = int32()
    client_id: str = string()
    client_host: str = string()
    subscribed_topic_names: list[str] = array(string)
    subscribed_topic_regex: str | None = string(nullable="0+", default=None)
    assignment: Assignment = nested(Assignment)
    target_assignment: Assignment = nested(Assignment)
    member_type: int = int8(versions="1+", default=-1, ignorable=True)  # 0 classic, 1 consumer, -1 unknown


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


class ConsumerGroupDescribeResponse(Response, api_key=ApiKey.CONSUMER_GROUP_DESCRIBE, versions="0-1", flexible="0+"):
    """The groups.

    v1  member_type
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    groups: list[DescribedGroup] = array(DescribedGroup)
