"""The values that a drawn request may have, by the name of its field.

Two brokers give other ids to the same things. A drawn request has placeholders in their place, which are replaced by
each broker's own before it is sent (see ``symbols.py``).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder

TOPICS: Final = {"t0": 3, "t1": 1}
"""Topics that are there from the start, with their partitions."""
TOPIC_IDS: Final = {"t0": uuid.UUID(int=101), "t1": uuid.UUID(int=102)}
PRODUCER_ID: Final = 7001
UNKNOWN_ID: Final = uuid.UUID(int=2**100 + 5)
NOTHING: Final = "nothing"

_TOPIC_NAMES = ("t0", "t0", "t0", "t1", "t1", NOTHING, "", "..", "bad name!", "made")
GROUPS: Final = ("g0", "g1", NOTHING)
TRANSACTIONS: Final = ("x0", "x1", NOTHING)
_GROUPS = ("g0", *GROUPS, "")
_TRANSACTIONS = ("x0", *TRANSACTIONS, "")
_PARTITIONS = (0, 0, 0, 1, 2, 3, -1)
_EPOCHS = (-1, -1, 0, 0, 1, 5)
_OFFSETS = (0, 1, 2, 3, 100, -1, -2, 2**62)
_TOPIC_CONFIGS = (
    "retention.ms",
    "cleanup.policy",
    "min.insync.replicas",
    "compression.type",
    "max.message.bytes",
    "nope",
)
_CONFIG_VALUES = ("1000", "compact", "delete", "1", "zstd", "-1", "", "x", "true")
_TYPES = (0, 1, 2, 2, 2, 3, 4, 8, 16, 32, 99)
_PRINCIPALS = ("User:a", "User:*", "a", "")


def _records(count: int, codec: CompressionType = CompressionType.NONE) -> bytes:
    builder = MemoryRecordsBuilder(2, codec)
    for number in range(count):
        builder.append(1_700_000_000_000 + number, b"k%d" % number, b"value")
    return builder.build()


RECORDS: Final = _records(3)
NAMES: Final[Mapping[str, Sequence[str]]] = {
    "groups": _GROUPS,
    "topics": _TOPIC_NAMES,
    "users": ("u", "v", "", "a b"),
    "configs": _TOPIC_CONFIGS,
}
"""What a field ``name`` may mean."""

VALUES: Final[Mapping[str, Sequence[Any]]] = {
    "acks": (-1, 1),
    "timeout_ms": (5000,),
    "records": (_records(1), _records(3), _records(2, CompressionType.GZIP), b"", _records(2)[:-3]),
    "transactional_id": _TRANSACTIONS,
    "group_id": _GROUPS,
    "group_ids": _GROUPS,
    "groups": _GROUPS,
    "groups_names": _GROUPS,
    "coordinator_keys": _GROUPS,
    "topic": _TOPIC_NAMES,
    "topic_name": _TOPIC_NAMES,
    "topic_names": _TOPIC_NAMES,
    "subscribed_topic_names": _TOPIC_NAMES,
    "topic_id": (*TOPIC_IDS.values(), ZERO_UUID, UNKNOWN_ID),
    "partition": _PARTITIONS,
    "partition_index": _PARTITIONS,
    "index": _PARTITIONS,
    "partitions": _PARTITIONS,
    "partition_indexes": _PARTITIONS,
    "replica_id": (-1, -1, -2),
    "current_leader_epoch": _EPOCHS,
    "leader_epoch": _EPOCHS,
    "last_fetched_epoch": (-1, -1, 0),
    "member_epoch": _EPOCHS,
    "committed_leader_epoch": _EPOCHS,
    "generation_id": _EPOCHS,
    "generation_id_or_member_epoch": _EPOCHS,
    "session_id": (0, 0, 0, 5),
    "session_epoch": (-1, -1, -1, 0, 1),
    "fetch_offset": _OFFSETS,
    "offset": _OFFSETS,
    "log_start_offset": (-1, 0),
    "timestamp": (-1, -2, -3, -4, -5, -6, 0, 1_700_000_000_001, 2**60),
    "committed_offset": _OFFSETS,
    "commit_timestamp": (-1,),
    "retention_time_ms": (-1,),
    "committed_metadata": ("", "m", None),
    "max_wait_ms": (0, 0, 10),
    "min_bytes": (0, 1),
    "max_bytes": (2**20, 1, 0),
    "partition_max_bytes": (2**20, 1, 0),
    "isolation_level": (0, 1),
    "rack_id": ("", "r", None),
    "cluster_id": (None,),
    "member_id": ("", "m"),
    "group_instance_id": (None, None, "i", ""),
    "key_type": (0, 0, 1, 1, 9),
    "allow_auto_topic_creation": (True, False),
    "num_partitions": (1, 2, -1, 0, 10**6),
    "replication_factor": (1, 1, -1, 0, 3),
    "count": (1, 2, 3, 4, 0, -1),
    "broker_ids": (0, 0, 1),
    "replicas": (0, 0, 1, -1),
    "validate_only": (True, True, True, False),
    "producer_id": (PRODUCER_ID, PRODUCER_ID, -1, 5),
    "producer_epoch": (0, 0, -1, 1),
    "v3_and_below_producer_id": (PRODUCER_ID, 5),
    "v3_and_below_producer_epoch": (0, 1),
    "v3_and_below_transactional_id": _TRANSACTIONS,
    "transaction_timeout_ms": (60_000, 0, -1, 10**9),
    "transactional_ids": _TRANSACTIONS,
    "verify_only": (False, True),
    "committed": (True, False),
    "producer_id_filters": (PRODUCER_ID, 5),
    "duration_filter": (-1, 0, 10**12),
    "state_filters": ("Ongoing", "Empty", "Nope"),
    "states_filter": ("Stable", "Empty", "empty", "Nope"),
    "types_filter": ("classic", "consumer", "Classic", "nope"),
    "transactional_id_pattern": (None, "x.*", "(", ""),
    "resource_type": _TYPES,
    "resource_types": _TYPES,
    "resource_type_filter": _TYPES,
    "resource_name": (*_TOPIC_NAMES, "0", "7"),
    "resource_name_filter": (None, "t0", "*", ""),
    "configuration_keys": _TOPIC_CONFIGS,
    "value": _CONFIG_VALUES,
    "config_operation": (0, 0, 1, 2, 3),
    "election_type": (0, 1, 2),
    "pattern_type_filter": (1, 2, 3, 4),
    "resource_pattern_type": (3, 4),
    "permission_type": (2, 3),
    "operation": (2, 3, 8, 12),
    "principal": _PRINCIPALS,
    "principal_filter": (None, *_PRINCIPALS),
    "host": ("*", "127.0.0.1", ""),
    "host_filter": (None, "*", ""),
    "entity_type": ("user", "client-id", "ip", "x", ""),
    "entity_name": (None, "u", "127.0.0.1", ""),
    "match": (None, "u", ""),
    "match_type": (0, 1, 2, 3),
    "strict": (True, False),
    "key": ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "x", ""),
    "remove": (True, False),
    "endpoint_type": (1, 1, 9),
    "mechanism": (1, 2, 0, 9),
    "iterations": (4096, 8192, 1),
    "salt": (b"salt",),
    "salted_password": (b"p" * 32,),
    "response_partition_limit": (2000, 1, 0, -1),
    "max_lifetime_ms": (-1,),
    "renew_period_ms": (-1,),
    "expiry_time_period_ms": (-1,),
    "hmac": (b"h",),
    "owner_principal_type": (None,),
    "owner_principal_name": (None,),
    "principal_type": ("User",),
    "principal_name": ("a",),
    "replica_directory_id": (ZERO_UUID,),
    "replica_epoch": (-1,),
    "allow_replication_factor_change": (True,),
}
"""By name; booleans may be both, and other names have their default only."""
