"""Bindings are the same before CreateAcls and after DescribeAcls."""

from __future__ import annotations

from kafka_lite.protocol.messages.api_29_describe_acls import AclDescription, DescribeAclsResource
from kafka_lite.security.authorizer.acl_binding import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.acl_messages import creation_of, described_bindings
from kafka_lite.security.authorizer.resource_pattern import PatternType, ResourcePattern, ResourceType

BINDING = AclBinding(
    ResourcePattern(ResourceType.TOPIC, "orders-", PatternType.PREFIXED),
    AccessControlEntry("User:alice", "127.0.0.1", AclOperation.READ, AclPermissionType.DENY),
)


def test_a_creation_has_the_codes_of_the_wire() -> None:
    creation = creation_of(BINDING)
    assert (creation.resource_type, creation.resource_name, creation.resource_pattern_type) == (2, "orders-", 4)
    assert (creation.principal, creation.host) == ("User:alice", "127.0.0.1")
    assert (creation.operation, creation.permission_type) == (3, 2)


def test_a_described_resource_has_a_binding_for_each_entry() -> None:
    acls = [
        AclDescription(principal=principal, host="127.0.0.1", operation=3, permission_type=2)
        for principal in ("User:alice", "User:bob")
    ]
    resource = DescribeAclsResource(resource_type=2, resource_name="orders-", pattern_type=4, acls=acls)
    first, second = described_bindings(resource)
    assert first == BINDING
    assert (second.pattern, second.entry.principal) == (BINDING.pattern, "User:bob")
