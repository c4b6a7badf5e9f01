"""The records of ``__consumer_offsets`` in which the coordinator stores share groups (KIP-932).

Keys and values have their version in front, as in ``group_records``. The version of the key tells the kind of record:

    key                 value                                                            one for each
    10  group, member   subscription of the member                                       member
    11  group           group epoch, hash of the topics' metadata                        group
    12  group           epoch of the target assignment                                   group
    13  group, member   target assignment of the member                                  member
    14  group, member   current assignment of the member, its epochs, state              member
    15  group           the partitions that the share coordinator has, those that    group
                        it is asked to create, and topics that it is asked to delete

A group is changed by several records at once, in one batch: a reader never sees half of a change. Null deletes.

Kafka 4.1: group-coordinator/.../resources/common/message/ShareGroup*.json · book 3.5.2
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.schema import Message, Struct, array, int8, int32, int64, string, uuid_


class ShareGroupMemberMetadataKey(Message, versions="10"):
    """The key of a member's subscription."""

    group_id: str = string()
    member_id: str = string()


class ShareGroupMemberMetadataValue(Message, versions="0", flexible="0+"):
    """A member as it describes itself."""

    rack_id: str | None = string(nullable="0+")
    client_id: str = string()
    client_host: str = string()
    subscribed_topic_names: list[str] = array(string)


class ShareGroupMetadataKey(Message, versions="11"):
    """The key of a group."""

    group_id: str = string()


class ShareGroupMetadataValue(Message, versions="0", flexible="0+"):
    """The epoch of a group: it grows with every change of the members, their subscriptions, or the topics."""

    epoch: int = int32()
    metadata_hash: int = int64()  # of the subscribed topics


class ShareGroupTargetAssignmentMetadataKey(Message, versions="12"):
    """The key of the target assignment's epoch."""

    group_id: str = string()


class ShareGroupTargetAssignmentMetadataValue(Message, versions="0", flexible="0+"):
    """The group epoch for which the target assignment was computed."""

    assignment_epoch: int = int32()


class ShareGroupTargetAssignmentMemberKey(Message, versions="13"):
    """The key of a member's target assignment."""

    group_id: str = string()
    member_id: str = string()


class TopicPartition(Struct):
    """Partitions of one topic."""

    topic_id: UUID = uuid_()
    partitions: list[int] = array(int32)


class ShareGroupTargetAssignmentMemberValue(Message, versions="0", flexible="0+"):
    """The partitions that a member is to read."""

    topic_partitions: list[TopicPartition] = array(TopicPartition)


class ShareGroupCurrentMemberAssignmentKey(Message, versions="14"):
    """The key of a member's current assignment."""

    group_id: str = string()
    member_id: str = string()


class ShareGroupCurrentMemberAssignmentValue(Message, versions="0", flexible="0+"):
    """The partitions that a member reads."""

    member_epoch: int = int32()
    previous_member_epoch: int = int32()  # the response with the new one may have been lost
    state: int = int8()  # always 0, stable
    assigned_partitions: list[TopicPartition] = array(TopicPartition)


class ShareGroupStatePartitionMetadataKey(Message, versions="15"):
    """The key of the partitions with state."""

    group_id: str = string()


class TopicPartitionsInfo(Struct):
    """Partitions of one topic, with its name as it was then."""

    topic_id: UUID = uuid_()
    topic_name: str = string()
    partitions: list[int] = array(int32)


class TopicInfo(Struct):
    """A topic, with its name as it was then."""

    topic_id: UUID = uuid_()
    topic_name: str = string()


class ShareGroupStatePartitionMetadataValue(Message, versions="0", flexible="0+"):
    """The partitions with state. (4.2 adds the time of the attempt to those where it is being created.)"""

    initializing_topics: list[TopicPartitionsInfo] = array(TopicPartitionsInfo)
    initialized_topics: list[TopicPartitionsInfo] = array(TopicPartitionsInfo)
    deleting_topics: list[TopicInfo] = array(TopicInfo)
