"""AddOffsetsToTxn: a transaction is about to commit offsets of a group.

Kafka 0.11: clients/.../common/requests/AddOffsetsToTxnRequest.java · book 10.3
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, int16, int32, int64, string


class AddOffsetsToTxnRequest(Request, api_key=ApiKey.ADD_OFFSETS_TO_TXN, versions="0-4", flexible="3+"):
    """The transaction and the group.

    v2  PRODUCER_FENCED is possible
    v3  compact lengths and tagged fields
    v4  TRANSACTION_ABORTABLE is possible
    """

    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    group_id: str = string()


class AddOffsetsToTxnResponse(Response, api_key=ApiKey.ADD_OFFSETS_TO_TXN, versions="0-4", flexible="3+"):
    """Whether the group's partition of __consumer_offsets is in the transaction.

    v1  a throttling broker responds at once and mutes the connection afterwards
    v3  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
