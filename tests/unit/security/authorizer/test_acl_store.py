from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.security.authorizer.acl_binding import AccessControlEntry, AclOperation, AclPermissionType
from kafka_lite.security.authorizer.acl_store import (
    AclDataError,
    acl_path,
    decode_acls,
    decode_change,
    encode_acls,
    encode_change,
)
from kafka_lite.security.authorizer.resource_pattern import PatternType, ResourcePattern, ResourceType
from tests.support.examples import examples

READ = AccessControlEntry("User:alice", "10.0.0.1", AclOperation.READ, AclPermissionType.ALLOW)
DESCRIBE = AccessControlEntry("User:alice", "10.0.0.1", AclOperation.DESCRIBE, AclPermissionType.ALLOW)
OF_KAFKA = (
    '{"version":1,"acls":[{"principal":"User:alice","permissionType":"Allow","operation":"Describe","host":"10.0.0.1"},'
    '{"principal":"User:alice","permissionType":"Allow","operation":"Read","host":"10.0.0.1"}]}'
)


def test_the_node_that_kafka_0_10_2_wrote() -> None:
    assert decode_acls(OF_KAFKA.encode()) == {READ, DESCRIBE}


def test_entries_are_written_as_kafka_writes_them() -> None:
    assert json.loads(encode_acls({READ, DESCRIBE}))["acls"] == list(reversed(json.loads(OF_KAFKA)["acls"]))
    entry = AccessControlEntry("User:*", "*", AclOperation.IDEMPOTENT_WRITE, AclPermissionType.DENY)
    assert encode_acls([entry]) == (
        b'{"version":1,"acls":[{"principal":"User:*","permissionType":"Deny","operation":"IdempotentWrite","host":"*"}]}'
    )


@pytest.mark.parametrize("data", [None, b"", b'{"version":1,"acls":[]}'])
def test_an_empty_node_has_no_entries(data: bytes | None) -> None:
    assert decode_acls(data) == frozenset()


def test_an_operation_of_a_later_kafka_is_kept_as_unknown() -> None:
    data = OF_KAFKA.replace("Describe", "TwoPhaseCommit").encode()
    assert {entry.operation for entry in decode_acls(data)} == {AclOperation.READ, AclOperation.UNKNOWN}


@pytest.mark.parametrize(
    "data",
    [
        b"garbage",
        b"[]",
        b"7",
        b'{"version":2,"acls":[]}',
        b'{"acls":[]}',
        b'{"version":1}',
        b'{"version":1,"acls":[{}]}',
        b'{"version":1,"acls":[7]}',
        OF_KAFKA.replace("User:alice", "alice").encode(),
        OF_KAFKA.replace('"10.0.0.1"', "1").encode(),
        b"\xff",
    ],
)
def test_other_data_is_an_error_and_never_no_entries(data: bytes) -> None:
    with pytest.raises(AclDataError):
        decode_acls(data)


ENTRIES = st.builds(
    AccessControlEntry,
    st.text(max_size=5).map("User:{}".format),
    st.text(max_size=5),
    st.sampled_from([operation for operation in AclOperation if operation > AclOperation.ANY]),
    st.sampled_from([AclPermissionType.ALLOW, AclPermissionType.DENY]),
)


@settings(max_examples=examples(30))
@given(st.frozensets(ENTRIES, max_size=4))
def test_any_entries_come_back(entries: frozenset[AccessControlEntry]) -> None:
    assert decode_acls(encode_acls(entries)) == entries


@pytest.mark.parametrize(
    ("pattern", "path", "change"),
    [
        (ResourcePattern(ResourceType.TOPIC, "t3"), "/kafka-acl/Topic/t3", b"TOPIC:t3"),
        (
            ResourcePattern(ResourceType.TRANSACTIONAL_ID, "a:b"),
            "/kafka-acl/TransactionalId/a:b",
            b"TRANSACTIONAL_ID:a:b",
        ),
        (
            ResourcePattern(ResourceType.GROUP, "g", PatternType.PREFIXED),
            "/kafka-acl-extended/prefixed/Group/g",
            b'{"version":1,"resourceType":"GROUP","name":"g","patternType":"PREFIXED"}',
        ),
    ],
)
def test_paths_and_changes(pattern: ResourcePattern, path: str, change: bytes) -> None:
    assert acl_path(pattern) == path
    assert encode_change(pattern) == change
    assert decode_change(pattern.pattern_type, change) == pattern


def test_the_change_that_kafka_0_10_2_announces() -> None:
    assert decode_change(PatternType.LITERAL, b"Topic:t3") == ResourcePattern(ResourceType.TOPIC, "t3")


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (PatternType.LITERAL, b"t3"),
        (PatternType.LITERAL, b"\xff:"),
        (PatternType.PREFIXED, b"Topic:t3"),
        (PatternType.PREFIXED, b'{"version":2,"resourceType":"TOPIC","name":"t","patternType":"PREFIXED"}'),
        (PatternType.PREFIXED, b'{"version":1,"resourceType":"TOPIC","name":"t","patternType":"MATCH"}'),
        (PatternType.PREFIXED, b'{"version":1,"resourceType":"TOPIC","name":7,"patternType":"PREFIXED"}'),
        (PatternType.PREFIXED, b'{"version":1}'),
        (PatternType.PREFIXED, b"[]"),
    ],
)
def test_another_change_is_an_error(kind: PatternType, data: bytes) -> None:
    with pytest.raises(AclDataError):
        decode_change(kind, data)
