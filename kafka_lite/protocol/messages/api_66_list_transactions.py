"""ListTransactions: the transactional ids that a broker coordinates.

Kafka 3.0: clients/.../common/requests/ListTransactionsRequest.java · book 10.3
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, string


class ListTransactionsRequest(Request, api_key=ApiKey.LIST_TRANSACTIONS, versions="0-2", flexible="0+"):
    """Filters by state and producer; without filters, all transactional ids.

    v1  duration_filter: transactions that have run for some time (KIP-994)
    v2  transactional_id_pattern (KIP-1152)
    """

    state_filters: list[str] = array(string)  # empty for all
    producer_id_filters: list[int] = array(int64)  # empty for all
    duration_filter: int = int64(versions="1+", default=-1)  # milliseconds; -1 for all
    # in the syntax of RE2, for whole ids; null or empty for all
    transactional_id_pattern: str | None = string(versions="2+", nullable="2+", default=None)


class TransactionState(Struct):
    """A transactional id."""

    transactional_id: str = string()
    producer_id: int = int64()
    transaction_state: str = string()


class ListTransactionsResponse(Response, api_key=ApiKey.LIST_TRANSACTIONS, versions="0-2", flexible="0+"):
    """The transactional ids.

    v2  INVALID_REGULAR_EXPRESSION is possible
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    unknown_state_filters: list[str] = array(string)  # filters that are no states
    transaction_states: list[TransactionState] = array(TransactionState)
