"""Access control lists as they stand in ZooKeeper, and the nodes that announce a change.

::

    /kafka-acl/Topic/orders                     literal patterns
    /kafka-acl-extended/prefixed/Topic/ord      prefixed patterns, since 2.0
        {"version":1,"acls":[{"principal":"User:alice","permissionType":"Allow","operation":"Read","host":"*"}]}

    /kafka-acl-changes/acl_changes_0000000000             TOPIC:orders
    /kafka-acl-extended-changes/acl_changes_0000000000
        {"version":1,"resourceType":"TOPIC","name":"ord","patternType":"PREFIXED"}

0.10.2 writes ``Topic:orders``, and reads both. A resource is a node; its version guards against lost updates. Every
broker with an authorizer watches for changes, and reads the node of each.

Kafka 0.10.2: core/.../security/auth/Acl.scala (toJsonCompatibleMap), SimpleAclAuthorizer.scala; since 2.0 core/.../zk/
ZkData.scala (ZkAclStore, ZkAclChangeStore), since 3.7 server/.../security/authorizer/AclEntry.java · book 2.3.5
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.security.authorizer.acl_binding import AccessControlEntry, AclOperation, AclPermissionType
from kafka_lite.security.authorizer.resource_pattern import (
    SPECIFIC_PATTERN_TYPES,
    PatternType,
    ResourcePattern,
    ResourceType,
    pascal_case,
)

CURRENT_VERSION = 1
ACL_PATHS = {PatternType.LITERAL: "/kafka-acl", PatternType.PREFIXED: "/kafka-acl-extended/prefixed"}
ACL_CHANGE_PATHS = {PatternType.LITERAL: "/kafka-acl-changes", PatternType.PREFIXED: "/kafka-acl-extended-changes"}
SEQUENCE_NUMBER_PREFIX = "acl_changes_"


class AclDataError(KafkaError):
    """A node that cannot be read as access control lists."""


@dataclass(frozen=True)
class VersionedAcls:
    """The entries of a pattern, and the version of their node; None if there is no node."""

    entries: frozenset[AccessControlEntry] = frozenset()
    version: int | None = None


class AclStore(Protocol):
    """The nodes, as the authorizer uses them."""

    def patterns(self) -> Iterable[ResourcePattern]:
        """Every pattern that has a node."""
        ...

    def read(self, pattern: ResourcePattern) -> VersionedAcls:
        """The entries of a pattern; none if there is no node."""
        ...

    def write(
        self, pattern: ResourcePattern, entries: frozenset[AccessControlEntry], version: int | None
    ) -> int | None:
        """Replace the entries if the node still has this version; none deletes it.

        Returns the new version (0 for a deleted node), or None if another writer was first.
        """
        ...

    def announce(self, pattern: ResourcePattern) -> None:
        """Create the node by which other brokers hear of a change."""
        ...


def acl_path(pattern: ResourcePattern) -> str:
    """The node of a pattern."""
    return f"{ACL_PATHS[pattern.pattern_type]}/{pascal_case(pattern.resource_type.name)}/{pattern.name}"


def encode_acls(entries: Iterable[AccessControlEntry]) -> bytes:
    """The value of a pattern's node; the order of the entries has no meaning."""
    acls = [
        {
            "principal": entry.principal,
            "permissionType": pascal_case(entry.permission_type.name),
            "operation": pascal_case(entry.operation.name),
            "host": entry.host,
        }
        for entry in sorted(entries)
    ]
    return json.dumps({"version": CURRENT_VERSION, "acls": acls}, separators=(",", ":"), ensure_ascii=False).encode()


def decode_acls(data: bytes | None) -> frozenset[AccessControlEntry]:
    """Read the value of a pattern's node; none if it is empty. Raises AclDataError.

    An operation that is not known here, of a later Kafka, is kept as UNKNOWN: it allows nothing and denies nothing.
    """
    if not data:
        return frozenset()
    try:
        value = json.loads(data)
        if value["version"] != CURRENT_VERSION:
            raise AclDataError(f"access control lists have version {value['version']}, not {CURRENT_VERSION}")
        return frozenset(map(_entry, value["acls"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise AclDataError(f"not access control lists: {error}") from error


def _entry(item: dict[str, Any]) -> AccessControlEntry:
    return AccessControlEntry(
        str(KafkaPrincipal.parse(item["principal"])),
        _text(item["host"]),
        AclOperation.for_name(item["operation"]),
        AclPermissionType.for_name(item["permissionType"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def encode_change(pattern: ResourcePattern) -> bytes:
    """The value of the node that announces a change."""
    if pattern.pattern_type is PatternType.LITERAL:
        return f"{pattern.resource_type.name}:{pattern.name}".encode()
    event = {
        "version": CURRENT_VERSION,
        "resourceType": pattern.resource_type.name,
        "name": pattern.name,
        "patternType": pattern.pattern_type.name,
    }
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()


def decode_change(kind: PatternType, data: bytes) -> ResourcePattern:
    """Read the value of a node below ``ACL_CHANGE_PATHS[kind]``. Raises AclDataError."""
    try:
        if kind is PatternType.LITERAL:
            type_name, colon, name = data.decode().partition(":")
            if not colon:
                raise ValueError("expected a string in format ResourceType:ResourceName")
            return ResourcePattern(ResourceType.for_name(type_name), name)
        event = json.loads(data)
        if event["version"] > CURRENT_VERSION:
            raise ValueError(f"unsupported version {event['version']}")
        pattern_type = PatternType[event["patternType"]]
        if pattern_type not in SPECIFIC_PATTERN_TYPES:
            raise ValueError(f"pattern type {pattern_type.name}")
        return ResourcePattern(ResourceType.for_name(event["resourceType"]), _text(event["name"]), pattern_type)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise AclDataError(f"not a change of access control lists: {error}") from error
