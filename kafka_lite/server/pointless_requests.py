"""The requests that need not be handled if their clients have left before.

Kafka 0.10.2: none; there every request that has been received is handled · book 2.3.3
"""

from __future__ import annotations

from typing import Final

from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey

READING: Final = frozenset({
    ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.METADATA, ApiKey.OFFSET_FETCH, ApiKey.FIND_COORDINATOR,
    ApiKey.DESCRIBE_GROUPS, ApiKey.LIST_GROUPS, ApiKey.API_VERSIONS, ApiKey.OFFSET_FOR_LEADER_EPOCH,
    ApiKey.DESCRIBE_ACLS, ApiKey.DESCRIBE_CONFIGS, ApiKey.DESCRIBE_LOG_DIRS, ApiKey.LIST_PARTITION_REASSIGNMENTS,
    ApiKey.DESCRIBE_CLIENT_QUOTAS, ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, ApiKey.DESCRIBE_CLUSTER,
    ApiKey.DESCRIBE_PRODUCERS, ApiKey.DESCRIBE_TRANSACTIONS, ApiKey.LIST_TRANSACTIONS,
})  # fmt: skip
"""APIs that exist for their responses. All others change something, and a client that leaves may count on it, for
instance a producer with acks=0. (Metadata and FindCoordinator may create a topic, but so does the next one.)"""


def is_pointless(request: Request) -> bool:
    """Whether a request whose client has left has no effect but its response."""
    return request.header.api_key in READING
