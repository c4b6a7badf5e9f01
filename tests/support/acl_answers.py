"""Requests whose answers leave out what a user may not see, and what is compared of such an answer."""

from __future__ import annotations

from typing import Any

from kafka_lite.protocol.schema import Struct
from tests.support.acl_matrix import Case

OF_THIS_BROKER = frozenset({
    "base_offset", "cluster_id", "configs", "error_message", "high_watermark", "host", "last_stable_offset",
    "leader_epoch", "log_dir", "log_start_offset", "member_id", "port", "producer_epoch", "producer_id", "records",
    "throttle_time_ms", "topic_id", "total_bytes", "usable_bytes",
})  # fmt: skip
"""Fields that differ between two brokers that answer alike, and lists of configurations: 3.9 has more of these."""
_DESCRIBES_TOPIC = dict.fromkeys(("DESCRIBE TOPIC t", "DESCRIBE_CONFIGS TOPIC t", "DELETE TOPIC u"), 0)
_BOTH = [{"topic": name, "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}]}
         for name in ("t", "u")]  # fmt: skip
_FETCH = {"replica_id": -1, "max_wait_ms": 0, "min_bytes": 0, "topics": _BOTH}
_ANY_ACL = {"resource_type_filter": 1, "resource_name_filter": None, "principal_filter": None, "host_filter": None}

FILTERED = (
    Case("METADATA:all", 1, {"topics": None}, _DESCRIBES_TOPIC),
    Case("METADATA:operations", 8, {"topics": None, "include_topic_authorized_operations": True,
                                    "include_cluster_authorized_operations": True},
         {**_DESCRIBES_TOPIC, "DESCRIBE CLUSTER kafka-cluster": 0, "ALTER CLUSTER kafka-cluster": 0}),
    Case("METADATA:operations of topics", 12, {"topics": None, "include_topic_authorized_operations": True},
         _DESCRIBES_TOPIC),
    Case("METADATA:absent", 8, {"topics": [{"name": "t"}, {"name": "no"}], "allow_auto_topic_creation": False},
         {"DESCRIBE TOPIC t": 0, "DESCRIBE TOPIC no": 0}),
    Case("FETCH", 4, {**_FETCH, "max_bytes": 1000}, {"READ TOPIC t": 0, "READ TOPIC u": 0}),
    Case("LIST_OFFSETS", 1, {"replica_id": -1, "topics": [
        {"name": name, "partitions": [{"partition_index": 0, "timestamp": -1}]} for name in ("t", "no", "u")]},
        {"DESCRIBE TOPIC t": 0, "DESCRIBE TOPIC no": 0}),
    Case("OFFSET_FETCH:all", 2, {"group_id": "g", "topics": None}, {"DESCRIBE GROUP g": 0, "DESCRIBE TOPIC t": 0}),
    Case("OFFSET_FETCH:all of groups", 8, {"groups": [{"group_id": "g", "topics": None}]},
         {"DESCRIBE GROUP g": 0, "DESCRIBE TOPIC t": 0}),
    Case("OFFSET_FETCH:two", 1, {"group_id": "g", "topics": [
        {"name": name, "partition_indexes": [0]} for name in ("t", "u")]},
        {"DESCRIBE GROUP g": 0, "DESCRIBE TOPIC t": 0, "DESCRIBE TOPIC u": 0}),
    Case("LIST_GROUPS", 0, {}, {"DESCRIBE GROUP g": 0, "DESCRIBE GROUP h": 0}),
    Case("LIST_GROUPS:cluster", 0, {}, {"DESCRIBE CLUSTER kafka-cluster": 0}),
    Case("DESCRIBE_GROUPS", 3, {"groups": ["g", "h"], "include_authorized_operations": True},
         {"DESCRIBE GROUP g": 0, "DELETE GROUP g": 0, "DESCRIBE GROUP h": 0}),
    Case("DESCRIBE_CLUSTER", 0, {"include_cluster_authorized_operations": True},
         {"DESCRIBE CLUSTER kafka-cluster": 0, "ALTER CLUSTER kafka-cluster": 0}),
    Case("LIST_TRANSACTIONS", 0, {"state_filters": [], "producer_id_filters": []},
         {"DESCRIBE TRANSACTIONAL_ID x": 0, "DESCRIBE TRANSACTIONAL_ID y": 0}),
    Case("DESCRIBE_LOG_DIRS", 0, {"topics": [{"topic": "t", "partitions": [0]}]},
         {"DESCRIBE CLUSTER kafka-cluster": 0}),
    Case("DESCRIBE_ACLS", 1, {**_ANY_ACL, "pattern_type_filter": 1, "operation": 1, "permission_type": 1},
         {"DESCRIBE CLUSTER kafka-cluster": 0, "READ TOPIC t": 0}),
    Case("CREATE_TOPICS", 1, {"validate_only": True, "timeout_ms": 1000, "topics": [
        {"name": name, "num_partitions": 2, "replication_factor": 1} for name in ("new", "t")]},
        {"CREATE TOPIC new": 0, "CREATE TOPIC t": 0, "DESCRIBE_CONFIGS TOPIC new": 0, "DESCRIBE_CONFIGS TOPIC t": 0}),
)  # fmt: skip
"""Each with rights of which one after the other is missing; the numbers say nothing."""


def answer(message: Any) -> dict[str, Any]:
    """A response as plain values, without what belongs to one broker alone. Lists are sorted: Kafka's order is that of
    hashes."""
    return {field.name: _plain(getattr(message, field.name)) for field in message.FIELDS
            if field.name not in OF_THIS_BROKER}  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return answer(value)
    if isinstance(value, list):
        return sorted((_plain(each) for each in value), key=repr)
    return value
