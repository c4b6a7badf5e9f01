"""Messages between consumers, which the group's coordinator passes on unread.

    version:int16 | message

This is JoinGroupRequestProtocol.metadata (a subscription) and SyncGroupRequestAssignment.assignment.

Kafka 0.10.2: clients/.../clients/consumer/internals/ConsumerProtocol.java · book 5.1.3
"""

from __future__ import annotations

from kafka_lite.protocol.schema import Message, Struct, array, bytes_, int32, string


class TopicPartition(Struct):
    """Partitions of one topic."""

    topic: str = string()
    partitions: list[int] = array(int32)


class ConsumerProtocolSubscription(Message, versions="0-3"):
    """A member's subscription.

    A reader that meets a later version takes it for the last one it knows: fields are only ever added at the end.

        v1  owned_partitions, for sticky and cooperative assignors
        v2  generation_id, by which the leader detects outdated owned_partitions
        v3  rack_id
    """

    topics: list[str] = array(string)
    user_data: bytes | None = bytes_(nullable="0+", default=None)  # the assignor's own
    owned_partitions: list[TopicPartition] = array(TopicPartition, versions="1+", ignorable=True)
    generation_id: int = int32(versions="2+", default=-1, ignorable=True)
    rack_id: str | None = string(versions="3+", nullable="3+", default=None, ignorable=True)


class ConsumerProtocolAssignment(Message, versions="0-3"):
    """A member's assignment. Its layout has never changed."""

    assigned_partitions: list[TopicPartition] = array(TopicPartition)
    user_data: bytes | None = bytes_(nullable="0+", default=None)  # the assignor's own
