"""DescribeTransactions: the state of transactional ids.

Kafka 3.0: clients/.../common/requests/DescribeTransactionsRequest.java · book 10.3
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, string


class DescribeTransactionsRequest(Request, api_key=ApiKey.DESCRIBE_TRANSACTIONS, versions="0", flexible="0+"):
    """The transactional ids."""

    transactional_ids: list[str] = array(string)


class TopicData(Struct):
    """Partitions that the transaction has written to."""

    topic: str = string()
    partitions: list[int] = array(int32)


class TransactionState(Struct):
    """The state of one transactional id."""

    error_code: int = int16()
    transactional_id: str = string()
    transaction_state: str = string()
    transaction_timeout_ms: int = int32()
    transaction_start_time_ms: int = int64()  # -1 without an open transaction
    producer_id: int = int64()
    producer_epoch: int = int16()
    topics: list[TopicData] = array(TopicData)


class DescribeTransactionsResponse(Response, api_key=ApiKey.DESCRIBE_TRANSACTIONS, versions="0", flexible="0+"):
    """The state of each transactional id."""

    throttle_time_ms: int = int32()  # how long a quota delays the client
    transaction_states: list[TransactionState] = array(TransactionState)
