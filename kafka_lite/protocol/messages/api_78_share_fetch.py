"""ShareFetch: records for a member of a share group, which locks them while they are being processed (KIP-932).

Kafka 4.1: clients/.../common/requests/ShareFetchRequest.java, ShareFetchResponse.java · book 4.1.4
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.common.sendable import Part
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
    records_,
    string,
    uuid_,
)


class AcknowledgementBatch(Struct):
    """The fate of a range of records."""

    first_offset: int = int64()
    last_offset: int = int64()  # inclusive
    # 0 gap, 1 accept, 2 release, 3 reject: one for all offsets, or one for each
    acknowledge_types: list[int] = array(int8)


class FetchPartition(Struct):
    """A partition to add to the session, or records of it to acknowledge."""

    partition_index: int = int32()
    acknowledgement_batches: list[AcknowledgementBatch] = array(AcknowledgementBatch)


class FetchTopic(Struct):
    """The partitions of one topic."""

    topic_id: UUID = uuid_()
    partitions: list[FetchPartition] = array(FetchPartition)


class ForgottenTopic(Struct):
    """Partitions to remove from the session."""

    topic_id: UUID = uuid_()
    partitions: list[int] = array(int32)


class ShareFetchRequest(Request, api_key=ApiKey.SHARE_FETCH, versions="1", flexible="0+"):
    """The changes of a share session, acknowledgements of earlier records, and how many new ones are wanted.

    v1  the first that is not in early access; max_records and batch_size
    """

    group_id: str | None = string(nullable="0+", default=None)
    member_id: str | None = string(nullable="0+")
    share_session_epoch: int = int32()  # 0 opens a session, -1 closes it, otherwise one more than the last one
    max_wait_ms: int = int32()
    min_bytes: int = int32()
    max_bytes: int = int32(default=0x7FFF_FFFF)
    max_records: int = int32()  # exceeded to the end of a batch
    batch_size: int = int32()  # the best number of records in a batch of acquired records
    topics: list[FetchTopic] = array(FetchTopic)
    forgotten_topics_data: list[ForgottenTopic] = array(ForgottenTopic)


class LeaderIdAndEpoch(Struct):
    """The partition's current leader; -1 if it is unknown, or this broker."""

    leader_id: int = int32()
    leader_epoch: int = int32()


class AcquiredRecords(Struct):
    """Records that are the member's until it acknowledges them, or its lock on them times out."""

    first_offset: int = int64()
    last_offset: int = int64()  # inclusive
    delivery_count: int = int16()  # this delivery included


class PartitionData(Struct):
    """The records of one partition, and the outcome of the acknowledgements."""

    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    acknowledge_error_code: int = int16()
    acknowledge_error_message: str | None = string(nullable="0+", default=None)
    current_leader: LeaderIdAndEpoch = nested(LeaderIdAndEpoch)
    records: Part = records_(
        nullable="none", default=b""
    )  # batches as stored in the log, with records that are not the member's, too
    acquired_records: list[AcquiredRecords] = array(AcquiredRecords)


class ShareFetchableTopicResponse(Struct):
    """The records of one topic."""

    topic_id: UUID = uuid_()
    partitions: list[PartitionData] = array(PartitionData)


class NodeEndpoint(Struct):
    """The address of a broker."""

    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable="0+", default=None)


class ShareFetchResponse(Response, api_key=ApiKey.SHARE_FETCH, versions="1", flexible="0+"):
    """Records, and which of them the member has acquired.

    v1  acquisition_lock_timeout_ms
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    acquisition_lock_timeout_ms: int = int32(versions="1+")  # how long the records are locked
    responses: list[ShareFetchableTopicResponse] = array(ShareFetchableTopicResponse)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint)  # of leaders on other brokers
