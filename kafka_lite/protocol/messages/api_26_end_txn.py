"""EndTxn: commit or abort a transaction.

Kafka 0.11: clients/.../common/requests/EndTxnRequest.java · book 10.3
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, boolean, int16, int32, int64, string


class EndTxnRequest(Request, api_key=ApiKey.END_TXN, versions="0-5", flexible="3+"):
    """The transaction and how it ends.

    v2  PRODUCER_FENCED is possible
    v3  compact lengths and tagged fields
    v4  TRANSACTION_ABORTABLE is possible
    v5  the end raises the producer's epoch (KIP-890)
    """

    transactional_id: str = string()
    producer_id: int = int64()
    producer_epoch: int = int16()
    committed: bool = boolean()  # false to abort


class EndTxnResponse(Response, api_key=ApiKey.END_TXN, versions="0-5", flexible="3+"):
    """Whether the decision is recorded; the markers follow.

    v1  a throttling broker responds at once and mutes the connection afterwards
    v3  compact lengths and tagged fields
    v5  the producer id and epoch of the next transaction
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    producer_id: int = int64(versions="5+", default=-1, ignorable=True)  # another one if all epochs are used up
    producer_epoch: int = int16(versions="5+", default=-1, ignorable=True)
