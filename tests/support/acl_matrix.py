"""Every request with the rights that it needs, and the error that says which one is missing.

Rights are written ``WRITE TOPIC t``. A request with several needs all of them. Each is harmless if it is allowed: it
names what is missing, or asks for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.framing import decode_request, encode_request
from kafka_lite.protocol.schema import Request, Struct
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.wire_types import Array, StructType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.server.kafka_apis import SERVED_VERSIONS

TOPIC, GROUP = Errors.TOPIC_AUTHORIZATION_FAILED.code, Errors.GROUP_AUTHORIZATION_FAILED.code
CLUSTER, TXN = Errors.CLUSTER_AUTHORIZATION_FAILED.code, Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED.code
TOKEN = Errors.DELEGATION_TOKEN_AUTHORIZATION_FAILED.code
AUTHORIZATION_ERRORS = frozenset({TOPIC, GROUP, CLUSTER, TXN, TOKEN})
BROKER, OF_TOPIC, OF_GROUP = 4, 2, 32


class Case(NamedTuple):
    """A request in one version."""

    name: str
    version: int
    fields: Mapping[str, Any]
    """The request's fields; lists of dictionaries stand for lists of structs."""
    rights: Mapping[str, int]
    """Each right that it needs -> the error without it."""
    last_version: int = 99
    """The last one that asks the same: a later one needs more fields."""

    @property
    def api_key(self) -> ApiKey:
        return ApiKey[self.name.partition(":")[0]]

    def request(self) -> Request:
        made = _made(API_SPECS[self.api_key].request, self.fields)
        assert isinstance(made, Request)
        return made

    def in_every_version(self) -> list[Case]:
        """The same request in all served versions that have its fields, the latest first."""
        served = SERVED_VERSIONS[self.api_key]
        versions = range(min(served.max_version, self.last_version), served.min_version - 1, -1)
        return [self._replace(version=version) for version in versions if self._is_whole_in(version)]

    def _is_whole_in(self, version: int) -> bool:
        """Whether a broker reads from this version what was asked."""
        request = self.request()
        try:
            frame = encode_request(request, version, 1, "c")
        except SchemaError:  # no such field, or it may not be null there
            return False
        return decode_request(memoryview(frame))[1] == request


def _made(cls: Any, fields: Mapping[str, Any]) -> Struct:
    values = {}
    for field in cls.FIELDS:
        if field.name in fields:
            value = fields[field.name]
            if isinstance(field.type, Array) and isinstance(field.type.element, StructType) and value is not None:
                value = [_made(field.type.element.cls, each) for each in value]
            values[field.name] = value
    assert values.keys() == fields.keys(), (cls, fields.keys() - values.keys())
    made: Struct = cls(**values)
    return made


def error_codes(message: Any) -> list[int]:
    """All error codes of a response, in the order of its fields."""
    return list(_error_codes(message))


def _error_codes(message: Any) -> Iterator[int]:
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if field.name.endswith("error_code"):
            yield value
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, Struct):
                    yield from _error_codes(each)


def _records() -> bytes:
    builder = MemoryRecordsBuilder()
    builder.append(0, None, b"value")
    return bytes(builder.build())


def _cluster(operation: str) -> dict[str, int]:
    return {f"{operation} CLUSTER kafka-cluster": CLUSTER}


READ_G, READ_T = {"READ GROUP g": GROUP}, {"READ TOPIC t": TOPIC}
WRITE_T, WRITE_X = {"WRITE TOPIC t": TOPIC}, {"WRITE TRANSACTIONAL_ID x": TXN}
DESCRIBE_T, DESCRIBE_G = {"DESCRIBE TOPIC t": TOPIC}, {"DESCRIBE GROUP g": GROUP}
OF_T = [{"name": "t", "partitions": [{"partition_index": 0}]}]
COMMITTED = [{"name": "t", "partitions": [{"partition_index": 0, "committed_metadata": ""}]}]
MEMBER = {"group_id": "g", "generation_id": 1, "member_id": "m"}
ANY_ACL = {"resource_type_filter": 1, "resource_name_filter": None, "principal_filter": None, "host_filter": None}
_ACL = {"resource_type": 2, "resource_name": "z", "principal": "User:z", "host": "*", "operation": 3}

CASES = (
    Case("PRODUCE", 7, {"acks": 1, "timeout_ms": 1000, "topic_data": [
        {"name": "t", "partition_data": [{"index": 0, "records": _records()}]}]}, WRITE_T),
    Case("LIST_OFFSETS", 5, {"replica_id": -1, "topics": [
        {"name": "t", "partitions": [{"partition_index": 0, "timestamp": -1}]}]}, DESCRIBE_T),
    Case("METADATA", 8, {"topics": [{"name": "t"}], "allow_auto_topic_creation": False}, DESCRIBE_T),
    Case("OFFSET_COMMIT", 7, {"group_id": "g", "topics": COMMITTED}, {**READ_G, **READ_T}),
    Case("OFFSET_FETCH", 5, {"group_id": "g", "topics": [{"name": "t", "partition_indexes": [0]}]},
         {**DESCRIBE_G, **DESCRIBE_T}),
    Case("OFFSET_FETCH:groups", 8, {"groups": [{"group_id": "g", "topics": [{"name": "t", "partition_indexes": [0]}]}]},
         {**DESCRIBE_G, **DESCRIBE_T}),
    Case("FIND_COORDINATOR:keys", 4, {"coordinator_keys": ["g"], "key_type": 0}, DESCRIBE_G),
    Case("FIND_COORDINATOR", 2, {"key": "g", "key_type": 0}, DESCRIBE_G),
    Case("FIND_COORDINATOR:txn", 2, {"key": "x", "key_type": 1}, {"DESCRIBE TRANSACTIONAL_ID x": TXN}),
    Case("HEARTBEAT", 3, MEMBER, READ_G),
    Case("JOIN_GROUP", 3, {"group_id": "g", "session_timeout_ms": 1, "rebalance_timeout_ms": 1, "member_id": "",
                           "protocol_type": "consumer", "protocols": []}, READ_G),
    Case("LEAVE_GROUP", 2, {"group_id": "g", "member_id": "m"}, READ_G),
    Case("LEAVE_GROUP:members", 5, {"group_id": "g", "members": [{"member_id": "m"}]}, READ_G),
    Case("SYNC_GROUP", 3, {**MEMBER, "assignments": []}, READ_G, last_version=4),
    Case("SYNC_GROUP:protocol", 5, {**MEMBER, "assignments": [], "protocol_type": "c", "protocol_name": "p"}, READ_G),
    Case("DESCRIBE_GROUPS", 4, {"groups": ["g"]}, DESCRIBE_G),
    Case("CONSUMER_GROUP_HEARTBEAT", 1, {"group_id": "g", "member_id": "m", "member_epoch": 0,
                                         "rebalance_timeout_ms": 1, "subscribed_topic_names": ["t"],
                                         "topic_partitions": []}, {**READ_G, "DESCRIBE TOPIC t": TOPIC}),
    Case("CONSUMER_GROUP_DESCRIBE", 1, {"group_ids": ["g"]}, DESCRIBE_G),
    Case("CREATE_TOPICS", 4, {"validate_only": True, "timeout_ms": 1000, "topics": [
        {"name": "new", "num_partitions": 1, "replication_factor": 1}]}, {"CREATE TOPIC new": TOPIC}),
    Case("CREATE_TOPICS:cluster", 4, {"validate_only": True, "timeout_ms": 1000, "topics": [
        {"name": "new", "num_partitions": 1, "replication_factor": 1}]}, {"CREATE CLUSTER kafka-cluster": TOPIC}),
    Case("DELETE_TOPICS", 3, {"topic_names": ["absent"], "timeout_ms": 1000}, {"DELETE TOPIC absent": TOPIC}),
    Case("DELETE_TOPICS:named", 6, {"topics": [{"name": "absent"}], "timeout_ms": 1000},
         {"DELETE TOPIC absent": TOPIC}),
    Case("DELETE_RECORDS", 1, {"topics": [{"name": "absent", "partitions": [{"partition_index": 0, "offset": 0}]}],
                               "timeout_ms": 1000}, {"DELETE TOPIC absent": TOPIC}),
    Case("INIT_PRODUCER_ID", 1, {"transactional_id": "x", "transaction_timeout_ms": 0}, WRITE_X),
    Case("INIT_PRODUCER_ID:idempotent", 1, {"transactional_id": None, "transaction_timeout_ms": 1000},
         {"IDEMPOTENT_WRITE CLUSTER kafka-cluster": CLUSTER}),
    Case("OFFSET_FOR_LEADER_EPOCH", 3, {"replica_id": -1, "topics": [
        {"topic": "t", "partitions": [{"partition": 0, "leader_epoch": 0}]}]}, DESCRIBE_T),
    Case("ADD_PARTITIONS_TO_TXN", 1, {"v3_and_below_transactional_id": "x", "v3_and_below_producer_id": 5,
                                      "v3_and_below_topics": [{"name": "t", "partitions": [0]}]},
         {**WRITE_X, **WRITE_T}),
    Case("ADD_OFFSETS_TO_TXN", 1, {"transactional_id": "x", "producer_id": 5, "group_id": "g"}, {**WRITE_X, **READ_G}),
    Case("END_TXN", 1, {"transactional_id": "x", "producer_id": 5}, WRITE_X),
    Case("WRITE_TXN_MARKERS", 0, {"markers": [{"producer_id": 5, "topics": [
        {"name": "absent", "partition_indexes": [0]}]}]}, _cluster("CLUSTER_ACTION")),
    Case("WRITE_TXN_MARKERS:admin", 0, {"markers": [{"producer_id": 5, "topics": [
        {"name": "absent", "partition_indexes": [0]}]}]}, _cluster("ALTER")),
    Case("TXN_OFFSET_COMMIT", 2, {"transactional_id": "x", "group_id": "g", "producer_id": 5, "topics": COMMITTED},
         {**WRITE_X, **READ_G, **READ_T}),
    Case("DESCRIBE_ACLS", 1, {**ANY_ACL, "pattern_type_filter": 1, "operation": 1, "permission_type": 1},
         _cluster("DESCRIBE")),
    Case("CREATE_ACLS", 1, {"creations": [{**_ACL, "permission_type": 1}]}, _cluster("ALTER")),
    Case("DELETE_ACLS", 1, {"filters": [{**ANY_ACL, "resource_name_filter": "zz", "pattern_type_filter": 3,
                                         "operation": 1, "permission_type": 1}]}, _cluster("ALTER")),
    Case("DESCRIBE_CONFIGS:topic", 1, {"resources": [{"resource_type": OF_TOPIC, "resource_name": "t"}]},
         {"DESCRIBE_CONFIGS TOPIC t": TOPIC}),
    Case("DESCRIBE_CONFIGS:broker", 1, {"resources": [{"resource_type": BROKER, "resource_name": "0"}]},
         _cluster("DESCRIBE_CONFIGS")),
    Case("DESCRIBE_CONFIGS:group", 1, {"resources": [{"resource_type": OF_GROUP, "resource_name": "g"}]},
         {"DESCRIBE_CONFIGS GROUP g": GROUP}),
    Case("INCREMENTAL_ALTER_CONFIGS:group", 0, {"resources": [{"resource_type": OF_GROUP, "resource_name": "g"}],
                                                "validate_only": True}, {"ALTER_CONFIGS GROUP g": GROUP}),
    Case("ALTER_CONFIGS", 1, {"resources": [{"resource_type": OF_TOPIC, "resource_name": "t"}], "validate_only": True},
         {"ALTER_CONFIGS TOPIC t": TOPIC}),
    Case("INCREMENTAL_ALTER_CONFIGS", 0, {"resources": [{"resource_type": BROKER, "resource_name": "0"}],
                                          "validate_only": True}, _cluster("ALTER_CONFIGS")),
    Case("ALTER_REPLICA_LOG_DIRS", 1, {"dirs": [{"path": "/none", "topics": [{"name": "absent", "partitions": [0]}]}]},
         _cluster("ALTER")),
    Case("DESCRIBE_LOG_DIRS", 1, {"topics": []}, _cluster("DESCRIBE")),
    Case("CREATE_PARTITIONS", 1, {"topics": [{"name": "absent", "count": 3, "assignments": None}], "timeout_ms": 1000,
                                  "validate_only": True}, {"ALTER TOPIC absent": TOPIC}),
    Case("CREATE_DELEGATION_TOKEN", 3, {"owner_principal_type": "User", "owner_principal_name": "bob", "renewers": [],
                                        "max_lifetime_ms": -1}, {"CREATE_TOKENS USER User:bob": TOKEN}),
    Case("DELETE_GROUPS", 1, {"groups_names": ["none"]}, {"DELETE GROUP none": GROUP}),
    Case("ELECT_LEADERS", 1, {"topic_partitions": [{"topic": "absent", "partitions": [0]}], "timeout_ms": 1000},
         _cluster("ALTER")),
    Case("ALTER_PARTITION_REASSIGNMENTS", 0, {"timeout_ms": 1000, "topics": [
        {"name": "absent", "partitions": [{"partition_index": 0, "replicas": [0]}]}]}, _cluster("ALTER")),
    Case("UPDATE_FEATURES", 1, {"feature_updates": [], "validate_only": True}, _cluster("ALTER")),
    Case("LIST_PARTITION_REASSIGNMENTS", 0, {"timeout_ms": 1000, "topics": []}, _cluster("DESCRIBE")),
    Case("OFFSET_DELETE", 0, {"group_id": "none", "topics": OF_T}, {"DELETE GROUP none": GROUP, **READ_T}),
    Case("DESCRIBE_CLIENT_QUOTAS", 0, {"components": [], "strict": False}, _cluster("DESCRIBE_CONFIGS")),
    Case("ALTER_CLIENT_QUOTAS", 0, {"validate_only": True, "entries": [
        {"entity": [{"entity_type": "user", "entity_name": "z"}], "ops": []}]}, _cluster("ALTER_CONFIGS")),
    Case("DESCRIBE_USER_SCRAM_CREDENTIALS", 0, {"users": [{"name": "z"}]}, _cluster("DESCRIBE")),
    Case("ALTER_USER_SCRAM_CREDENTIALS", 0, {"deletions": [{"name": "z", "mechanism": 1}]}, _cluster("ALTER")),
    Case("DESCRIBE_PRODUCERS", 0, {"topics": [{"name": "t", "partition_indexes": [0]}]}, READ_T),
    Case("DESCRIBE_TRANSACTIONS", 0, {"transactional_ids": ["x"]}, {"DESCRIBE TRANSACTIONAL_ID x": TXN}),
)  # fmt: skip
"""Requests between brokers are missing, since Kafka closes the connection of a client that sends one; Fetch has no rule
of this kind, and lists of groups and transactions leave out and refuse nothing."""
