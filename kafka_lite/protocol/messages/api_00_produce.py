"""Produce: records to append to partitions.

Kafka 0.10.2: clients/.../common/requests/ProduceRequest.java, ProduceResponse.java · book 2.1.2
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
    int16,
    int32,
    int64,
    nested,
    records_,
    string,
    uuid_,
)


class PartitionProduceData(Struct):
    """The records for one partition."""

    index: int = int32()
    records: Part | None = records_()  # whole batches, as appended to the log


class TopicProduceData(Struct):
    """The records for one topic."""

    name: str = string(versions="0-12", ignorable=True)
    topic_id: UUID = uuid_(versions="13+", ignorable=True)
    partition_data: list[PartitionProduceData] = array(PartitionProduceData)


class ProduceRequest(Request, api_key=ApiKey.PRODUCE, versions="0-13", flexible="9+"):
    """Batches of records, by topic and partition.

    With acks 0 there is no response; the broker can only signal an error by closing the connection.

        v2   records may be message sets v1 (with timestamps)
        v3   transactional_id; records are record batches v2
        v4   the client understands KAFKA_STORAGE_ERROR
        v7   records may be compressed with zstd
        v9   compact lengths and tagged fields
        v11  the client understands TRANSACTION_ABORTABLE
        v12  the leader adds the partition to the transaction (KIP-890): no AddPartitionsToTxn before
        v13  topic ids instead of names (KIP-516)
    """

    transactional_id: str | None = string(versions="3+", nullable="3+", default=None)  # null outside of transactions
    acks: int = int16()  # replicas that must have the records: 0 none, 1 the leader, -1 the whole ISR
    timeout_ms: int = int32()  # how long the leader may wait for the ISR
    topic_data: list[TopicProduceData] = array(TopicProduceData)


class BatchIndexAndErrorMessage(Struct):
    """A record that made its batch fail."""

    batch_index: int = int32(versions="8+")  # index of the record in the batch
    batch_index_error_message: str | None = string(versions="8+", nullable="8+", default=None)


class LeaderIdAndEpoch(Struct):
    """The partition's current leader."""

    leader_id: int = int32(versions="10+", default=-1)
    leader_epoch: int = int32(versions="10+", default=-1)


class PartitionProduceResponse(Struct):
    """The outcome for one partition."""

    index: int = int32()
    error_code: int = int16()
    base_offset: int = int64()  # offset of the first record, -1 on errors
    # -1 unless the topic has LogAppendTime
    log_append_time_ms: int = int64(versions="2+", default=-1, ignorable=True)
    log_start_offset: int = int64(versions="5+", default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = array(BatchIndexAndErrorMessage, versions="8+", ignorable=True)
    error_message: str | None = string(versions="8+", nullable="8+", default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch = nested(LeaderIdAndEpoch, versions="10+", tag=0)


class TopicProduceResponse(Struct):
    """The outcome for one topic."""

    name: str = string(versions="0-12", ignorable=True)
    topic_id: UUID = uuid_(versions="13+", ignorable=True)
    partition_responses: list[PartitionProduceResponse] = array(PartitionProduceResponse)


class NodeEndpoint(Struct):
    """The address of a broker."""

    node_id: int = int32(versions="10+")
    host: str = string(versions="10+")
    port: int = int32(versions="10+")
    rack: str | None = string(versions="10+", nullable="10+", default=None)


class ProduceResponse(Response, api_key=ApiKey.PRODUCE, versions="0-13", flexible="9+"):
    """The offsets of the appended records.

    v1   throttle_time_ms
    v2   log_append_time_ms
    v4   KAFKA_STORAGE_ERROR is possible
    v5   log_start_offset, by which an idempotent producer distinguishes lost state from deleted records
    v8   record_errors and error_message: the invalid records of a refused batch
    v9   compact lengths and tagged fields
    v10  reports a new leader, so that the client need not request metadata (KIP-951)
    v11  TRANSACTION_ABORTABLE is possible
    v13  topic ids instead of names
    """

    responses: list[TopicProduceResponse] = array(TopicProduceResponse)
    throttle_time_ms: int = int32(versions="1+", ignorable=True)  # how long a quota delays the client
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, versions="10+", tag=0)
