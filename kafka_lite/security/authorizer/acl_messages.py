"""Access control lists as values, for clients that read and create them.

Kafka 2.4: clients/.../common/requests/DescribeAclsResponse.java (aclBindings), CreateAclsRequest.java (aclCreation)
· book 2.3.5
"""

from __future__ import annotations

from kafka_lite.protocol.messages.api_29_describe_acls import AclDescription, DescribeAclsResource
from kafka_lite.protocol.messages.api_30_create_acls import AclCreation
from kafka_lite.security.authorizer.acl_binding import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.resource_pattern import PatternType, ResourcePattern, ResourceType


def described_bindings(resource: DescribeAclsResource) -> list[AclBinding]:
    """The bindings of a resource that DescribeAcls returned."""
    kind, how = ResourceType.for_code(resource.resource_type), PatternType.for_code(resource.pattern_type)
    pattern = ResourcePattern(kind, resource.resource_name, how)
    return [AclBinding(pattern, _entry(acl)) for acl in resource.acls]


def _entry(acl: AclDescription) -> AccessControlEntry:
    operation, permission = AclOperation.for_code(acl.operation), AclPermissionType.for_code(acl.permission_type)
    return AccessControlEntry(acl.principal, acl.host, operation, permission)


def creation_of(binding: AclBinding) -> AclCreation:
    """The part of a CreateAcls request that creates a binding."""
    pattern, entry = binding.pattern, binding.entry
    return AclCreation(
        resource_type=pattern.resource_type,
        resource_name=pattern.name,
        resource_pattern_type=pattern.pattern_type,
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission_type,
    )
