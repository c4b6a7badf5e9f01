"""ShareAcknowledge: what has become of records that a member of a share group has acquired (KIP-932).

Kafka 4.1: clients/.../common/requests/ShareAcknowledgeRequest.java, ShareAcknowledgeResponse.java · book 4.1.4
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import (
    Request,
    Response,
    Struct,
    array,
    int8,
    int16,
    int32,
    int64,
    nested,
    string,
    uuid_,
)


class AcknowledgementBatch(Struct):
    """The fate of a range of records."""

    first_offset: int = int64()
    last_offset: int = int64()  # inclusive
    # 0 gap, 1 accept, 2 release, 3 reject: one for all offsets, or one for each
    acknowledge_types: list[int] = array(int8)


class AcknowledgePartition(Struct):
    """Records of one partition."""

    partition_index: int = int32()
    acknowledgement_batches: list[AcknowledgementBatch] = array(AcknowledgementBatch)


class AcknowledgeTopic(Struct):
    """The partitions of one topic."""

    topic_id: UUID = uuid_()
    partitions: list[AcknowledgePartition] = array(AcknowledgePartition)


class ShareAcknowledgeRequest(Request, api_key=ApiKey.SHARE_ACKNOWLEDGE, versions="1", flexible="0+"):
    """Acknowledges records without fetching others.

    v1  the first that is not in early access
    """

    group_id: str | None = string(nullable="0+", default=None)
    member_id: str | None = string(nullable="0+")
    share_session_epoch: int = int32()  # -1 closes the session, otherwise one more than the last one
    topics: list[AcknowledgeTopic] = array(AcknowledgeTopic)


class LeaderIdAndEpoch(Struct):
    """The partition's current leader; -1 if it is unknown, or this broker."""

    leader_id: int = int32()
    leader_epoch: int = int32()


class PartitionData(Struct):
    """The outcome for one partition."""

    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    current_leader: LeaderIdAndEpoch = nested(LeaderIdAndEpoch)


class ShareAcknowledgeTopicResponse(Struct):
    """The outcomes for one topic."""

    topic_id: UUID = uuid_()
    partitions: list[PartitionData] = array(PartitionData)


class NodeEndpoint(Struct):
    """The address of a broker."""

    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable="0+", default=None)


class ShareAcknowledgeResponse(Response, api_key=ApiKey.SHARE_ACKNOWLEDGE, versions="1", flexible="0+"):
    """The outcome for each partition.

    v1  the first that is not in early access
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    responses: list[ShareAcknowledgeTopicResponse] = array(ShareAcknowledgeTopicResponse)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint)  # of leaders on other brokers
