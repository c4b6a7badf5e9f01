"""WriteTxnMarkers: a transaction coordinator has its decision written to the logs.

Kafka 0.11: clients/.../common/requests/WriteTxnMarkersRequest.java · book 10.3
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int16, int32, int64, string


class WritableTxnMarkerTopic(Struct):
    """Partitions of one topic."""

    name: str = string()
    partition_indexes: list[int] = array(int32)


class WritableTxnMarker(Struct):
    """The marker of one transaction."""

    producer_id: int = int64()
    producer_epoch: int = int16()
    transaction_result: bool = boolean()  # false for abort
    topics: list[WritableTxnMarkerTopic] = array(WritableTxnMarkerTopic)
    coordinator_epoch: int = int32()


class WriteTxnMarkersRequest(Request, api_key=ApiKey.WRITE_TXN_MARKERS, versions="0-1", flexible="1+"):
    """Markers to append, sent to the leaders of the partitions.

    v1  compact lengths and tagged fields
    """

    markers: list[WritableTxnMarker] = array(WritableTxnMarker)


class WritableTxnMarkerPartitionResult(Struct):
    """The outcome for one partition."""

    partition_index: int = int32()
    error_code: int = int16()


class WritableTxnMarkerTopicResult(Struct):
    """The outcome for one topic."""

    name: str = string()
    partitions: list[WritableTxnMarkerPartitionResult] = array(WritableTxnMarkerPartitionResult)


class WritableTxnMarkerResult(Struct):
    """The outcome for one transaction."""

    producer_id: int = int64()
    topics: list[WritableTxnMarkerTopicResult] = array(WritableTxnMarkerTopicResult)


class WriteTxnMarkersResponse(Response, api_key=ApiKey.WRITE_TXN_MARKERS, versions="0-1", flexible="1+"):
    """The markers that were written.

    v1  compact lengths and tagged fields
    """

    markers: list[WritableTxnMarkerResult] = array(WritableTxnMarkerResult)
