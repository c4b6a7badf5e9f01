"""ShareGroupHeartbeat: the only request by which a share consumer is a member of its group (KIP-932).

Kafka 4.1: clients/.../common/requests/ShareGroupHeartbeatRequest.java · book 5.2.1
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, nullable_struct, string, uuid_


class TopicPartitions(Struct):
    """Partitions of one topic."""

    topic_id: UUID = uuid_()
    partitions: list[int] = array(int32)


class ShareGroupHeartbeatRequest(Request, api_key=ApiKey.SHARE_GROUP_HEARTBEAT, versions="1", flexible="0+"):
    """A member joins, stays, changes its subscription, or leaves.

    After the first request a field is null if it has not changed since the last one. Nothing is said about partitions:
    several members may read one, so none has to give up a partition before another gets it.

        v1  the first that Kafka 4.1 knows; 4.0 had an early version 0
    """

    group_id: str = string()
    member_id: str = string()  # made by the client, for all of its life
    member_epoch: int = int32()  # 0 to join, -1 to leave
    rack_id: str | None = string(nullable="0+", default=None)
    subscribed_topic_names: list[str] | None = array(string, nullable="0+", default=None)


class Assignment(Struct):
    """The partitions that a member may read."""

    topic_partitions: list[TopicPartitions] = array(TopicPartitions)


class ShareGroupHeartbeatResponse(Response, api_key=ApiKey.SHARE_GROUP_HEARTBEAT, versions="1", flexible="0+"):
    """The member's epoch, and its assignment if that has changed."""

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    member_id: str | None = string(nullable="0+", default=None)
    member_epoch: int = int32()
    heartbeat_interval_ms: int = int32()
    assignment: Assignment | None = nullable_struct(Assignment)  # null if it has not changed
