"""An access control entry, and the binding of one to resources.

Kafka 0.11: clients/.../common/acl/AccessControlEntry.java, AclBinding.java, AclBindingFilter.java, AclOperation.java,
AclPermissionType.java; 0.10.2 has core/.../security/auth/Acl.scala, Operation.scala, PermissionType.scala · book 2.3.5
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from kafka_lite.security.authorizer.resource_pattern import ResourcePattern, ResourcePatternFilter, same_name

WILDCARD_PRINCIPAL: Final = "User:*"
"""Everyone, even ANONYMOUS, and principals of other types."""
WILDCARD_HOST: Final = "*"


class AclOperation(IntEnum):
    """An action on a resource; the value is the one on the wire."""

    UNKNOWN = 0
    ANY = 1  # in filters
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14

    @classmethod
    def for_code(cls, code: int) -> AclOperation:
        """The operation of a code; UNKNOWN for a later one."""
        return cls(code) if code in cls._value2member_map_ else cls.UNKNOWN

    @classmethod
    def for_name(cls, name: str) -> AclOperation:
        """Look up ``DescribeConfigs`` or ``DESCRIBE_CONFIGS`` in any case; UNKNOWN if there is none."""
        return next((member for member in cls if same_name(member.name, name)), cls.UNKNOWN)


class AclPermissionType(IntEnum):
    """Whether an entry allows or forbids; the value is the one on the wire."""

    UNKNOWN = 0
    ANY = 1  # in filters
    DENY = 2
    ALLOW = 3

    @classmethod
    def for_code(cls, code: int) -> AclPermissionType:
        """The type of a code; UNKNOWN for a later one."""
        return cls(code) if code in cls._value2member_map_ else cls.UNKNOWN

    @classmethod
    def for_name(cls, name: str) -> AclPermissionType:
        """Look up ``Allow`` or ``Deny`` in any case; UNKNOWN if there is none."""
        return next((member for member in cls if same_name(member.name, name)), cls.UNKNOWN)


@dataclass(frozen=True, order=True)
class AccessControlEntry:
    """A principal may, or may not, do something from a host. ``User:*`` and ``*`` stand for all."""

    principal: str
    host: str
    operation: AclOperation
    permission_type: AclPermissionType

    def concerns(self, principal: str, host: str, operation: AclOperation) -> bool:
        """Whether it is about this principal on this host, and this operation or all."""
        return (
            self.principal in (principal, WILDCARD_PRINCIPAL)
            and self.host in (host, WILDCARD_HOST)
            and self.operation in (operation, AclOperation.ALL)
        )


@dataclass(frozen=True, order=True)
class AclBinding:
    """An entry, and the resources that it is about."""

    pattern: ResourcePattern
    entry: AccessControlEntry

    @property
    def is_unknown(self) -> bool:
        """Whether a part was not known here, or belongs in filters only."""
        special = (self.entry.operation.name, self.entry.permission_type.name, self.pattern.pattern_type.name)
        return self.pattern.is_unknown or bool(
            {"UNKNOWN", "ANY", "MATCH"} & {*special, self.pattern.resource_type.name}
        )


@dataclass(frozen=True)
class AccessControlEntryFilter:
    """Chooses entries; ANY and None leave a part open."""

    principal: str | None = None
    host: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission_type: AclPermissionType = AclPermissionType.ANY

    def matches(self, entry: AccessControlEntry) -> bool:
        """Whether the entry is chosen. Parts are compared as they are: ``*`` chooses ``*``."""
        return (
            self.principal in (None, entry.principal)
            and self.host in (None, entry.host)
            and self.operation in (AclOperation.ANY, entry.operation)
            and self.permission_type in (AclPermissionType.ANY, entry.permission_type)
        )


@dataclass(frozen=True)
class AclBindingFilter:
    """Chooses bindings by their resources and entries."""

    pattern: ResourcePatternFilter
    entry: AccessControlEntryFilter = AccessControlEntryFilter()

    def matches(self, binding: AclBinding) -> bool:
        """Whether the binding is chosen."""
        return self.pattern.matches(binding.pattern) and self.entry.matches(binding.entry)
