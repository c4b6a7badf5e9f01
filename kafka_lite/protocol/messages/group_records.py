"""The records of ``__consumer_offsets``, in which a group coordinator stores its state.

Keys and values are messages with their version in front:

    version:int16 | message

The version of the key determines the kind of record: 0 and 1 a committed offset, 2 a group, and from 3 on those in
``consumer_group_records``. A null value deletes.

Kafka 0.10.2: core/.../coordinator/GroupMetadataManager.scala (schemas at the end, GroupMetadataKey) · book 3.5.2
"""

from __future__ import annotations

from kafka_lite.protocol.schema import Message, Struct, array, bytes_, int32, int64, string


class OffsetCommitKey(Message, versions="0-1"):
    """The key of a committed offset; written as version 1."""

    group: str = string()
    topic: str = string()
    partition: int = int32()


class OffsetCommitValue(Message, versions="0-4", flexible="4+"):
    """A committed offset.

    v1  expire_timestamp: what 0.10.2 writes
    v2  without expire_timestamp: offsets expire after their group has become empty
    v3  leader_epoch
    v4  compact lengths and tagged fields
    """

    offset: int = int64()
    leader_epoch: int = int32(versions="3+", default=-1, ignorable=True)  # of the last record that was read
    metadata: str = string()
    commit_timestamp: int = int64()
    expire_timestamp: int = int64(versions="1", default=-1, ignorable=True)


class GroupMetadataKey(Message, versions="2"):
    """The key of a group."""

    group: str = string()


class MemberMetadata(Struct):
    """A member of the group, in the generation that was written."""

    member_id: str = string()
    group_instance_id: str | None = string(versions="3+", nullable="3+", default=None, ignorable=True)
    client_id: str = string()
    client_host: str = string()
    rebalance_timeout: int = int32(versions="1+", default=-1, ignorable=True)
    session_timeout: int = int32()
    subscription: bytes = bytes_()
    assignment: bytes = bytes_()


class GroupMetadataValue(Message, versions="0-4", flexible="4+"):
    """A generation of a group, written once its assignment is known.

    v1  rebalance_timeout: what 0.10.2 writes
    v2  current_state_timestamp
    v3  group_instance_id
    v4  compact lengths and tagged fields
    """

    protocol_type: str = string()
    generation: int = int32()
    protocol: str | None = string(nullable="0+")  # null in an empty group
    leader: str | None = string(nullable="0+")  # null in an empty group
    current_state_timestamp: int = int64(versions="2+", default=-1, ignorable=True)
    members: list[MemberMetadata] = array(MemberMetadata)
