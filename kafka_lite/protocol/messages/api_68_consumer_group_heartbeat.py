"""ConsumerGroupHeartbeat: the only request of a member whose assignment the coordinator computes (KIP-848).

Kafka 3.7: clients/.../common/requests/ConsumerGroupHeartbeatRequest.java · book 5.2.1
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, nullable_struct, string, uuid_


class TopicPartitions(Struct):
    """Partitions of one topic."""

    topic_id: UUID = uuid_()
    partitions: list[int] = array(int32)


class ConsumerGroupHeartbeatRequest(Request, api_key=ApiKey.CONSUMER_GROUP_HEARTBEAT, versions="0-1", flexible="0+"):
    """A member joins, stays, changes its subscription, says which partitions it owns, or leaves.

    After the first request a field is null, or -1, if it has not changed since the last one.

        v1  subscribed_topic_regex; the client makes its member id (KIP-1082)
    """

    group_id: str = string()
    member_id: str = string()
    member_epoch: int = int32()  # 0 to join, -1 to leave, -2 for a static member that will be back
    instance_id: str | None = string(nullable="0+", default=None)  # of a static member
    rack_id: str | None = string(nullable="0+", default=None)
    rebalance_timeout_ms: int = int32(default=-1)  # how long the member may take to give up partitions
    subscribed_topic_names: list[str] | None = array(string, nullable="0+", default=None)
    subscribed_topic_regex: str | None = string(versions="1+", nullable="1+", default=None)  # in the syntax of RE2
    server_assignor: str | None = string(nullable="0+", default=None)
    topic_partitions: list[TopicPartitions] | None = array(TopicPartitions, nullable="0+", default=None)  # owned


class Assignment(Struct):
    """The partitions that a member may use now."""

    topic_partitions: list[TopicPartitions] = array(TopicPartitions)


class ConsumerGroupHeartbeatResponse(Response, api_key=ApiKey.CONSUMER_GROUP_HEARTBEAT, versions="0-1", flexible="0+"):
    """The member's epoch, and its assignment if that has changed.

    v1  INVALID_REGULAR_EXPRESSION is possible
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    member_id: str | None = string(nullable="0+", default=None)
    member_epoch: int = int32()
    heartbeat_interval_ms: int = int32()
    assignment: Assignment | None = nullable_struct(Assignment)  # null if it has not changed
