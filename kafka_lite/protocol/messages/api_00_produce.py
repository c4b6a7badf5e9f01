"""?

Kafka ? · book 2.3.5
"""

from __future__ import annotations

from kafka_lite.common.sendable import Part
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, nested, records_, string


class PartitionProduceData(Struct):
    """?"""

    index: int = int32()
    records: Part | None = records_()


class TopicProduceData(Struct):
    """?"""

    name: str = string()
    partition_data: list[PartitionProduceData] = array(PartitionProduceData)


class ProduceRequest(Request, api_key=ApiKey.PRODUCE, versions="0-11", flexible="9+"):
    """?"""

    transactional_id: str | None = string(versions="3+", nullable="3+", default=None)
    acks: int = int16()
    timeout_ms: int = int32()
    topic_data: list[TopicProduceData] = array(TopicProduceData)


class BatchIndexAndErrorMessage(Struct):
    """?"""

    batch_index: int = int32(versions="8+")
    batch_index_error_message: str | None = string(versions="8+", nullable="8+", default=None)


class LeaderIdAndEpoch(Struct):
    """?"""

    leader_id: int = int32(versions="10+", default=-1)
    leader_epoch: int = int32(versions="10+", default=-1)


class PartitionProduceResponse(Struct):
    """?"""

    index: int = int32()
    error_code: int = int16()
    base_offset: int = int64()
    log_append_time_ms: int = int64(versions="2+", default=-1, ignorable=True)
    log_start_offset: int = int64(versions="5+", default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = array(BatchIndexAndErrorMessage, versions="8+", ignorable=True)
    error_message: str | None = string(versions="8+", nullable="8+", default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch = nested(LeaderIdAndEpoch, versions="10+", tag=0)


class TopicProduceResponse(Struct):
    """?"""

    name: str = string()
    partition_responses: list[PartitionProduceResponse] = array(PartitionProduceResponse)


class NodeEndpoint(Struct):
    """?"""

    node_id: int = int32(versions="10+")
    host: str = string(versions="10+")
    port: int = int32(versions="10+")
    rack: str | None = string(versions="10+", nullable="10+", default=None)


class ProduceResponse(Response, api_key=ApiKey.PRODUCE, versions="0-11", flexible="9+"):
    """?"""

    responses: list[TopicProduceResponse] = array(TopicProduceResponse)
    throttle_time_ms: int = int32(versions="1+", ignorable=True)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, versions="10+", tag=0)
