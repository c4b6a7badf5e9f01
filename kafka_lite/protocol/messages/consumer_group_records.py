"""The records of ``__consumer_offsets`` in which the coordinator stores groups whose assignment it computes (KIP-848).

Keys and values have their version in front, as in ``group_records``. The version of the key tells the kind of record:

    key                         value                                                one for each
     3  group                   group epoch, hash of the topics' metadata            group
     4  group                   the topics' metadata (up to Kafka 4.0)               group
     5  group, member           subscription of the member                           member
     6  group                   epoch of the target assignment                       group
     7  group, member           target assignment of the member                      member
     8  group, member           current assignment of the member, its epochs, state  member
    16  group, expression       the topics that a regular expression matches         expression

A group is changed by several records at once, in one batch: a reader never sees half of a change. Null deletes.

Kafka 4.1: group-coordinator/.../resources/common/message/ConsumerGroup*.json · book 3.5.2
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.schema import (
    Message,
    Struct,
    array,
    bytes_,
    int8,
    int32,
    int64,
    nullable_struct,
    string,
    uuid_,
)


class ConsumerGroupMetadataKey(Message, versions="3"):
    """The key of a group."""

    group_id: str = string()


class ConsumerGroupMetadataValue(Message, versions="0", flexible="0+"):
    """The epoch of a group: it grows with every change of the members, their subscriptions, or the topics."""

    epoch: int = int32()
    metadata_hash: int = int64(default=0, tag=0)  # of the subscribed topics, since Kafka 4.1


class ConsumerGroupPartitionMetadataKey(Message, versions="4"):
    """The key of the topics' metadata. Since Kafka 4.1 only tombstones are written."""

    group_id: str = string()


class PartitionMetadata(Struct):
    """The racks of a partition."""

    partition: int = int32()
    racks: list[str] = array(string)


class TopicMetadata(Struct):
    """A subscribed topic."""

    topic_id: UUID = uuid_()
    topic_name: str = string()
    num_partitions: int = int32()
    partition_metadata: list[PartitionMetadata] = array(PartitionMetadata)


class ConsumerGroupPartitionMetadataValue(Message, versions="0", flexible="0+"):
    """The topics that the group subscribes to, as they were when the group epoch was raised last."""

    topics: list[TopicMetadata] = array(TopicMetadata)


class ConsumerGroupMemberMetadataKey(Message, versions="5"):
    """The key of a member's subscription."""

    group_id: str = string()
    member_id: str = string()


class ClassicProtocol(Struct):
    """A protocol of a member that uses JoinGroup."""

    name: str = string()
    metadata: bytes = bytes_()


class ClassicMemberMetadata(Struct):
    """The part of a member that only those with JoinGroup have."""

    session_timeout_ms: int = int32()
    supported_protocols: list[ClassicProtocol] = array(ClassicProtocol)


class ConsumerGroupMemberMetadataValue(Message, versions="0", flexible="0+"):
    """A member as it describes itself."""

    instance_id: str | None = string(nullable="0+")
    rack_id: str | None = string(nullable="0+")
    client_id: str = string()
    client_host: str = string()
    subscribed_topic_names: list[str] = array(string)
    subscribed_topic_regex: str | None = string(nullable="0+")
    rebalance_timeout_ms: int = int32(default=-1)
    server_assignor: str | None = string(nullable="0+")
    classic_member_metadata: ClassicMemberMetadata | None = nullable_struct(ClassicMemberMetadata, tag=0)


class ConsumerGroupTargetAssignmentMetadataKey(Message, versions="6"):
    """The key of the target assignment's epoch."""

    group_id: str = string()


class ConsumerGroupTargetAssignmentMetadataValue(Message, versions="0", flexible="0+"):
    """The group epoch for which the target assignment was computed."""

    assignment_epoch: int = int32()


class ConsumerGroupTargetAssignmentMemberKey(Message, versions="7"):
    """The key of a member's target assignment."""

    group_id: str = string()
    member_id: str = string()


class TopicPartition(Struct):
    """Partitions of one topic."""

    topic_id: UUID = uuid_()
    partitions: list[int] = array(int32)


class ConsumerGroupTargetAssignmentMemberValue(Message, versions="0", flexible="0+"):
    """The partitions that a member is to have in the end."""

    topic_partitions: list[TopicPartition] = array(TopicPartition)


class ConsumerGroupCurrentMemberAssignmentKey(Message, versions="8"):
    """The key of a member's current assignment."""

    group_id: str = string()
    member_id: str = string()


class ConsumerGroupCurrentMemberAssignmentValue(Message, versions="0", flexible="0+"):
    """The partitions that a member has, and those that it is giving up."""

    member_epoch: int = int32()
    previous_member_epoch: int = int32()  # the response with the new one may have been lost
    state: int = int8()  # 0 stable, 1 unrevoked partitions, 2 unreleased partitions
    assigned_partitions: list[TopicPartition] = array(TopicPartition)
    partitions_pending_revocation: list[TopicPartition] = array(TopicPartition)


class ConsumerGroupRegularExpressionKey(Message, versions="16"):
    """The key of a regular expression that members subscribe to."""

    group_id: str = string()
    regular_expression: str = string()


class ConsumerGroupRegularExpressionValue(Message, versions="0", flexible="0+"):
    """The topics that it matches."""

    topics: list[str] = array(string)
    version: int = int64()  # of the cluster's metadata
    timestamp: int = int64()  # milliseconds
