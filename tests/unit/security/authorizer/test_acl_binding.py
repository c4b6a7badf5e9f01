from __future__ import annotations

import pytest

from kafka_lite.security.authorizer.acl_binding import (
    AccessControlEntry,
    AccessControlEntryFilter,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.resource_pattern import (
    PatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)

READ = AccessControlEntry("User:alice", "h1", AclOperation.READ, AclPermissionType.ALLOW)
ALL = AccessControlEntry("User:*", "*", AclOperation.ALL, AclPermissionType.DENY)
TOPIC = ResourcePattern(ResourceType.TOPIC, "t")


def test_names_and_codes() -> None:
    assert AclOperation.for_name("DescribeConfigs") is AclOperation.for_name("DESCRIBE_CONFIGS")
    assert AclOperation.for_code(14) is AclOperation.DESCRIBE_TOKENS
    assert AclPermissionType.for_name("allow") is AclPermissionType.for_code(3) is AclPermissionType.ALLOW
    for unknown in (AclOperation.for_code(99), AclOperation.for_name("Fly")):
        assert unknown is AclOperation.UNKNOWN
    assert AclPermissionType.for_code(-1) is AclPermissionType.for_name("Maybe") is AclPermissionType.UNKNOWN


def test_an_entry_concerns_its_principal_host_and_operation() -> None:
    assert READ.concerns("User:alice", "h1", AclOperation.READ)
    assert not READ.concerns("User:bob", "h1", AclOperation.READ)
    assert not READ.concerns("User:alice", "h2", AclOperation.READ)
    assert not READ.concerns("User:alice", "h1", AclOperation.WRITE)
    assert ALL.concerns("Group:x", "h7", AclOperation.WRITE)


@pytest.mark.parametrize(
    ("chosen", "entries"),
    [
        (AccessControlEntryFilter(), [READ, ALL]),
        (AccessControlEntryFilter(principal="User:alice"), [READ]),
        (AccessControlEntryFilter(host="*"), [ALL]),
        (AccessControlEntryFilter(operation=AclOperation.READ), [READ]),
        (AccessControlEntryFilter(permission_type=AclPermissionType.DENY), [ALL]),
        (AccessControlEntryFilter("User:bob"), []),
    ],
)
def test_a_filter_compares_what_is_written(chosen: AccessControlEntryFilter, entries: list[AccessControlEntry]) -> None:
    assert [entry for entry in (READ, ALL) if chosen.matches(entry)] == entries
    pattern = ResourcePatternFilter(ResourceType.ANY, None, PatternType.ANY)
    bindings = [AclBinding(TOPIC, entry) for entry in (READ, ALL)]
    assert [b.entry for b in bindings if AclBindingFilter(pattern, chosen).matches(b)] == entries


def test_a_binding_with_a_part_for_filters_is_unknown() -> None:
    assert not AclBinding(TOPIC, READ).is_unknown
    assert AclBinding(ResourcePattern(ResourceType.ANY, "t"), READ).is_unknown
    assert AclBinding(ResourcePattern(ResourceType.TOPIC, "t", PatternType.ANY), READ).is_unknown
