"""The resources that an access control list is about: one by its name, or all whose names begin alike.

Kafka 0.11: clients/.../common/resource/ResourceType.java; since 2.0 PatternType, ResourcePattern,
ResourcePatternFilter.java; 0.10.2 has core/.../security/auth/Resource.scala · book 2.3.5
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

WILDCARD_RESOURCE: Final = "*"
"""As a literal name: every resource of the type."""
CLUSTER_NAME: Final = "kafka-cluster"
"""The one resource of type CLUSTER."""


class ResourceType(IntEnum):
    """The kind; the value is the one on the wire."""

    UNKNOWN = 0
    ANY = 1  # in filters
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7

    @classmethod
    def for_code(cls, code: int) -> ResourceType:
        """The type of a code; UNKNOWN for a later one."""
        return cls(code) if code in cls._value2member_map_ else cls.UNKNOWN

    @classmethod
    def for_name(cls, name: str) -> ResourceType:
        """Look up ``TransactionalId`` or ``TRANSACTIONAL_ID`` in any case; UNKNOWN if there is none."""
        return next((member for member in cls if same_name(member.name, name)), cls.UNKNOWN)


class PatternType(IntEnum):
    """How the name is meant; the value is the one on the wire."""

    UNKNOWN = 0
    ANY = 1  # in filters: patterns of any type with this name
    MATCH = 2  # in filters: all patterns that apply to this name
    LITERAL = 3
    PREFIXED = 4

    @classmethod
    def for_code(cls, code: int) -> PatternType:
        """The type of a code; UNKNOWN for a later one."""
        return cls(code) if code in cls._value2member_map_ else cls.UNKNOWN


SPECIFIC_PATTERN_TYPES = (PatternType.LITERAL, PatternType.PREFIXED)


@dataclass(frozen=True, order=True)
class ResourcePattern:
    """Resources of one type: the literal one of this name (``*``: all), or those whose names begin with it."""

    resource_type: ResourceType
    name: str
    pattern_type: PatternType = PatternType.LITERAL

    @property
    def is_unknown(self) -> bool:
        """Whether a part was not known here."""
        return self.resource_type is ResourceType.UNKNOWN or self.pattern_type is PatternType.UNKNOWN

    def applies_to(self, name: str) -> bool:
        """Whether a resource of this type and name is meant."""
        if self.pattern_type is PatternType.PREFIXED:
            return name.startswith(self.name)
        return self.name in (name, WILDCARD_RESOURCE)

    def __str__(self) -> str:
        return f"{pascal_case(self.resource_type.name)}:{self.pattern_type.name}:{self.name}"


@dataclass(frozen=True)
class ResourcePatternFilter:
    """Chooses patterns; ANY and None leave a part open."""

    resource_type: ResourceType
    name: str | None
    pattern_type: PatternType

    def matches(self, pattern: ResourcePattern) -> bool:
        """Whether the pattern is chosen."""
        if self.resource_type not in (ResourceType.ANY, pattern.resource_type):
            return False
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, pattern.pattern_type):
            return False
        if self.name is None:
            return True
        if self.pattern_type is PatternType.MATCH:
            return pattern.applies_to(self.name)
        return self.name == pattern.name

    @property
    def single_patterns(self) -> list[ResourcePattern]:
        """The patterns that it can choose if it names type and name; none if it may choose more."""
        if self.resource_type in (ResourceType.ANY, ResourceType.UNKNOWN) or self.name is None:
            return []
        types = SPECIFIC_PATTERN_TYPES if self.pattern_type is PatternType.ANY else (self.pattern_type,)
        return [
            ResourcePattern(self.resource_type, self.name, kind) for kind in types if kind in SPECIFIC_PATTERN_TYPES
        ]


def pascal_case(name: str) -> str:
    """``TransactionalId`` of ``TRANSACTIONAL_ID``: as names stand in ZooKeeper, on command lines and in logs."""
    return "".join(word.capitalize() for word in name.split("_"))


def same_name(name: str, other: str) -> bool:
    """Whether ``TRANSACTIONAL_ID`` and another way to write it are the same."""
    return name.replace("_", "") == other.replace("_", "").upper()
