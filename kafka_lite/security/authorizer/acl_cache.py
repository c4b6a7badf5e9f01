"""All access control lists in memory, as a snapshot that never changes: readers need no lock.

Kafka 2.0: core/.../security/auth/SimpleAclAuthorizer.scala (aclCache); later AclAuthorizer.scala · book 2.3.5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from kafka_lite.security.authorizer.acl_binding import AccessControlEntry, AclBinding, AclBindingFilter
from kafka_lite.security.authorizer.acl_store import VersionedAcls
from kafka_lite.security.authorizer.resource_pattern import (
    WILDCARD_RESOURCE,
    PatternType,
    ResourcePattern,
    ResourceType,
)

_NONE = VersionedAcls()


class AclCache:
    """The entries of each pattern. ``updated`` returns the next snapshot, and leaves this one as it is."""

    def __init__(self, acls: Mapping[ResourcePattern, VersionedAcls] | None = None) -> None:
        self._acls = dict(acls or {})
        prefixes = (pattern for pattern in self._acls if pattern.pattern_type is PatternType.PREFIXED)
        self._prefix_lengths: dict[ResourceType, list[int]] = {}
        for resource_type, length in sorted({(prefix.resource_type, len(prefix.name)) for prefix in prefixes}):
            self._prefix_lengths.setdefault(resource_type, []).append(length)

    def updated(self, pattern: ResourcePattern, acls: VersionedAcls) -> AclCache:
        """The snapshot in which a pattern has these entries; a pattern without entries is forgotten."""
        changed = {**self._acls, pattern: acls}
        if not acls.entries:
            del changed[pattern]
        return AclCache(changed)

    def get(self, pattern: ResourcePattern) -> VersionedAcls | None:
        """The entries of a pattern; None if it has none."""
        return self._acls.get(pattern)

    def patterns(self) -> list[ResourcePattern]:
        """Every pattern that has entries."""
        return list(self._acls)

    def matching(self, resource_type: ResourceType, name: str) -> list[AccessControlEntry]:
        """The entries about one resource: of its name, of ``*``, and of each prefix of its name.

        One look-up per length that a prefix of this type has: the time does not grow with the number of patterns.
        """
        names = [(WILDCARD_RESOURCE, PatternType.LITERAL)]
        if name != WILDCARD_RESOURCE:
            names.append((name, PatternType.LITERAL))
        for length in self._prefix_lengths.get(resource_type, ()):
            if length > len(name):
                break
            names.append((name[:length], PatternType.PREFIXED))
        found = (self._acls.get(ResourcePattern(resource_type, text, kind), _NONE) for text, kind in names)
        return list(chain.from_iterable(acls.entries for acls in found))

    def bindings(self, chosen: AclBindingFilter) -> Iterator[AclBinding]:
        """The bindings that a filter chooses, in order."""
        for pattern in sorted(self._acls):
            if chosen.pattern.matches(pattern):
                for entry in sorted(self._acls[pattern].entries):
                    if chosen.entry.matches(entry):
                        yield AclBinding(pattern, entry)
