"""Fetch: records to read, for consumers and for followers alike.

Kafka 0.10.2: clients/.../common/requests/FetchRequest.java, FetchResponse.java · book 4.1.4
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


class ReplicaState(Struct):
    """The follower that fetches, and its epoch."""

    replica_id: int = int32(versions="15+", default=-1)
    replica_epoch: int = int64(versions="15+", default=-1)  # broker epoch of the follower


class FetchPartition(Struct):
    """The partition to read, and from where."""

    partition: int = int32()
    # as the client knows it; -1 disables the check
    current_leader_epoch: int = int32(versions="9+", default=-1, ignorable=True)
    fetch_offset: int = int64()
    # leader epoch of the follower's last record
    last_fetched_epoch: int = int32(versions="12+", default=-1)
    log_start_offset: int = int64(versions="5+", default=-1, ignorable=True)  # of the follower; -1 from consumers
    partition_max_bytes: int = int32()  # exceeded only by a larger first batch (v3+)
    replica_directory_id: UUID = uuid_(versions="17+", tag=0, ignorable=True)


class FetchTopic(Struct):
    """The partitions of one topic to read."""

    topic: str = string(versions="0-12", ignorable=True)
    topic_id: UUID = uuid_(versions="13+", ignorable=True)
    partitions: list[FetchPartition] = array(FetchPartition)


class ForgottenTopic(Struct):
    """Partitions to remove from a fetch session."""

    topic: str = string(versions="7-12", ignorable=True)
    topic_id: UUID = uuid_(versions="13+", ignorable=True)
    partitions: list[int] = array(int32, versions="7+")


class FetchRequest(Request, api_key=ApiKey.FETCH, versions="0-17", flexible="12+"):
    """The partitions and offsets to read, how much data to wait for, and for how long.

    v2   the reader supports message sets v1
    v3   max_bytes; from this version on the order of partitions matters, and the first message is sent whole even if
         it is too large
    v4   isolation_level; the reader supports record batches v2
    v5   log_start_offset of the follower
    v7   fetch sessions: only changes are sent (KIP-227)
    v9   current_leader_epoch, to detect stale leaders (KIP-320)
    v10  the reader supports zstd
    v11  rack_id, to read from the closest replica (KIP-392)
    v12  compact lengths and tagged fields, last_fetched_epoch: the leader detects diverging logs
    v13  topic ids instead of names (KIP-516)
    v14  the reader understands OFFSET_MOVED_TO_TIERED_STORAGE
    v15  replica_state instead of replica_id (KIP-903)
    v17  replica_directory_id (KIP-853)
    """

    cluster_id: str | None = string(versions="12+", nullable="12+", default=None, tag=0, ignorable=True)
    # broker id of a follower, -1 for a consumer, -2 for a debugging one
    replica_id: int = int32(versions="0-14", default=-1)
    replica_state: ReplicaState = nested(ReplicaState, versions="15+", tag=1)
    max_wait_ms: int = int32()  # how long to wait for min_bytes
    min_bytes: int = int32()
    max_bytes: int = int32(versions="3+", default=0x7FFF_FFFF, ignorable=True)
    isolation_level: int = int8(versions="4+", ignorable=True)  # 0 all records, 1 only those of finished transactions
    session_id: int = int32(versions="7+", ignorable=True)  # 0 for no session
    # -1 no session, 0 a new one, then incremented
    session_epoch: int = int32(versions="7+", default=-1, ignorable=True)
    topics: list[FetchTopic] = array(FetchTopic)
    forgotten_topics_data: list[ForgottenTopic] = array(ForgottenTopic, versions="7+")
    rack_id: str = string(versions="11+", ignorable=True)


class EpochEndOffset(Struct):
    """The last common epoch of leader and follower, and its end offset."""

    epoch: int = int32(versions="12+", default=-1)
    end_offset: int = int64(versions="12+", default=-1)


class LeaderIdAndEpoch(Struct):
    """The partition's current leader."""

    leader_id: int = int32(versions="12+", default=-1)
    leader_epoch: int = int32(versions="12+", default=-1)


class SnapshotId(Struct):
    """A snapshot to fetch instead (quorum only)."""

    end_offset: int = int64(default=-1)
    epoch: int = int32(default=-1)


class AbortedTransaction(Struct):
    """An aborted transaction, whose records are skipped from an offset on."""

    producer_id: int = int64(versions="4+")
    first_offset: int = int64(versions="4+")  # of its first record in this partition


class PartitionData(Struct):
    """The records of one partition."""

    partition_index: int = int32()
    error_code: int = int16()
    high_watermark: int = int64()  # the high watermark; -1 on errors
    # all transactions below it are complete
    last_stable_offset: int = int64(versions="4+", default=-1, ignorable=True)
    log_start_offset: int = int64(versions="5+", default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset = nested(EpochEndOffset, versions="12+", tag=0)
    current_leader: LeaderIdAndEpoch = nested(LeaderIdAndEpoch, versions="12+", tag=1)
    snapshot_id: SnapshotId = nested(SnapshotId, versions="12+", tag=2)
    aborted_transactions: list[AbortedTransaction] | None = array(
        AbortedTransaction, versions="4+", nullable="4+", ignorable=True
    )
    preferred_read_replica: int = int32(versions="11+", default=-1)  # broker to read from instead; -1 for none
    records: Part | None = records_()  # batches as stored in the log


class FetchableTopicResponse(Struct):
    """The records of one topic."""

    topic: str = string(versions="0-12", ignorable=True)
    topic_id: UUID = uuid_(versions="13+", ignorable=True)
    partitions: list[PartitionData] = array(PartitionData)


class NodeEndpoint(Struct):
    """The address of a broker."""

    node_id: int = int32(versions="16+")
    host: str = string(versions="16+")
    port: int = int32(versions="16+")
    rack: str | None = string(versions="16+", nullable="16+", default=None)


class FetchResponse(Response, api_key=ApiKey.FETCH, versions="0-17", flexible="12+"):
    """The records, and the bounds of each log.

    The last batch may be incomplete; readers ignore it.

        v1   throttle_time_ms
        v4   last_stable_offset and aborted_transactions, for read_committed
        v5   log_start_offset
        v6   KAFKA_STORAGE_ERROR is possible
        v7   fetch sessions, with their own errors
        v8   a throttling broker responds at once and mutes the connection afterwards
        v10  records may be compressed with zstd
        v11  preferred_read_replica
        v12  compact lengths and tagged fields, diverging_epoch: where the follower truncates its log; current_leader
        v13  topic ids instead of names
        v14  OFFSET_MOVED_TO_TIERED_STORAGE is possible
        v16  node_endpoints: the addresses of new leaders (KIP-951)
    """

    throttle_time_ms: int = int32(versions="1+", ignorable=True)  # how long a quota delays the client
    error_code: int = int16(versions="7+", ignorable=True)
    session_id: int = int32(versions="7+")
    responses: list[FetchableTopicResponse] = array(FetchableTopicResponse)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, versions="16+", tag=0)
