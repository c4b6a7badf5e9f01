"""Decides which access control lists of a topic its copy gets.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorSourceConnector.java (syncTopicAcls, shouldReplicateAcl,
targetAclBinding) · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafka_lite.mirror.connectors.source.mirrored_topics import MirroredTopics
from kafka_lite.security.authorizer.acl_binding import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.resource_pattern import PatternType, ResourcePattern, ResourceType


def acls_to_create(bindings: Iterable[AclBinding], topics: MirroredTopics) -> list[AclBinding]:
    """The bindings of the copies, sorted, each once::

    source                                        target
    orders   User:ann may Read           ──▶      west.orders   User:ann may Read
    orders   User:ann may do All         ──▶      west.orders   User:ann may Read
    orders   User:ann may Write                   only the mirror writes copies
    orders   User:bob may not Write      ──▶      west.orders   User:bob may not Write
    ord*     anything, by a prefix                the copies' names begin differently
    """
    return sorted({_of_copy(each, topics) for each in bindings if _is_copied(each, topics)})


def _is_copied(binding: AclBinding, topics: MirroredTopics) -> bool:
    pattern = binding.pattern
    is_of_one_topic = pattern.resource_type is ResourceType.TOPIC and pattern.pattern_type is PatternType.LITERAL
    return is_of_one_topic and not _allows(binding.entry, AclOperation.WRITE) and topics.should_replicate(pattern.name)


def _of_copy(binding: AclBinding, topics: MirroredTopics) -> AclBinding:
    entry = binding.entry
    if _allows(entry, AclOperation.ALL):
        entry = replace(entry, operation=AclOperation.READ)
    return AclBinding(ResourcePattern(ResourceType.TOPIC, topics.remote(binding.pattern.name)), entry)


def _allows(entry: AccessControlEntry, operation: AclOperation) -> bool:
    return entry.permission_type is AclPermissionType.ALLOW and entry.operation is operation
