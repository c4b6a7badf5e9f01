"""InitProducerId: assigns a producer id.

Kafka 0.11: clients/.../common/requests/InitProducerIdRequest.java · book 10.3
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, int16, int32, int64, string


class InitProducerIdRequest(Request, api_key=ApiKey.INIT_PRODUCER_ID, versions="0-5", flexible="2+"):
    """Requests a producer id, for an idempotent producer (without transactional id) or a transactional one.

    v2  compact lengths and tagged fields
    v3  the producer's previous id and epoch, to continue after an error
    v4  PRODUCER_FENCED is possible
    v5  TRANSACTION_ABORTABLE is possible
    """

    transactional_id: str | None = string(nullable="0+")  # null for a producer that is only idempotent
    transaction_timeout_ms: int = int32()
    producer_id: int = int64(versions="3+", default=-1)  # -1 for a new one
    producer_epoch: int = int16(versions="3+", default=-1)


class InitProducerIdResponse(Response, api_key=ApiKey.INIT_PRODUCER_ID, versions="0-5", flexible="2+"):
    """The producer id and epoch.

    v1  a throttling broker responds at once and mutes the connection afterwards
    v2  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32(ignorable=True)  # how long a quota delays the client
    error_code: int = int16()
    producer_id: int = int64(default=-1)
    producer_epoch: int = int16()
