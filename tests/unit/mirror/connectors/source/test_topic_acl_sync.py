"""Who may read a topic may read its copy; nobody but the mirror may write there."""

from __future__ import annotations

import pytest

from kafka_lite.mirror.connectors.filters import DefaultTopicFilter
from kafka_lite.mirror.connectors.replication_policy import DefaultReplicationPolicy
from kafka_lite.mirror.connectors.source.mirrored_topics import MirroredTopics
from kafka_lite.mirror.connectors.source.topic_acl_sync import acls_to_create
from kafka_lite.security.authorizer.acl_binding import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.resource_pattern import PatternType, ResourcePattern, ResourceType

TOPICS = MirroredTopics("west", "east", DefaultReplicationPolicy(), DefaultTopicFilter({"topics": "orders"}))


def binding(text: str) -> AclBinding:
    """``orders allow READ``: of a topic, for User:ann from everywhere. ``ord* `` is a prefix."""
    name, permission, operation = text.split()
    kind = PatternType.PREFIXED if name.endswith("*") and name != "*" else PatternType.LITERAL
    pattern = ResourcePattern(ResourceType.TOPIC, name.rstrip("*") or "*", kind)
    return AclBinding(
        pattern,
        AccessControlEntry("User:ann", "*", AclOperation[operation], AclPermissionType[permission.upper()]),
    )


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("orders allow READ", ["west.orders allow READ"]),
        ("orders allow DESCRIBE", ["west.orders allow DESCRIBE"]),
        ("orders allow ALL", ["west.orders allow READ"]),
        ("orders allow WRITE", []),
        ("orders deny WRITE", ["west.orders deny WRITE"]),
        ("orders deny ALL", ["west.orders deny ALL"]),
        ("ord* allow READ", []),
        ("* allow READ", []),
        ("other allow READ", []),
        ("east.orders allow READ", []),
    ],
)
def test_what_a_copy_gets(source: str, target: list[str]) -> None:
    assert acls_to_create([binding(source)], TOPICS) == [binding(each) for each in target]


def test_what_becomes_the_same_is_created_once() -> None:
    both = [binding("orders allow ALL"), binding("orders allow READ")]
    assert acls_to_create(both, TOPICS) == [binding("west.orders allow READ")]


def test_groups_and_the_cluster_have_no_copies() -> None:
    entry = binding("orders allow READ").entry
    others = [AclBinding(ResourcePattern(kind, "orders"), entry) for kind in (ResourceType.GROUP, ResourceType.CLUSTER)]
    assert acls_to_create(others, TOPICS) == []
