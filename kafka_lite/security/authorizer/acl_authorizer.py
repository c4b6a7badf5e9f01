"""The authorizer of Kafka with ZooKeeper: access control lists in nodes, and all of them in memory.

Kafka 2.4: core/.../security/authorizer/AclAuthorizer.scala; 0.10.2 has core/.../security/auth/SimpleAclAuthorizer.scala
· book 2.3.5
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Iterator, Sequence

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import Time
from kafka_lite.security.authorizer.acl_binding import (
    AccessControlEntry,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.acl_cache import AclCache
from kafka_lite.security.authorizer.acl_store import AclStore, VersionedAcls
from kafka_lite.security.authorizer.authorizer import AclDeleteResult, Action, AuthorizableRequestContext
from kafka_lite.security.authorizer.resource_pattern import (
    WILDCARD_RESOURCE,
    PatternType,
    ResourcePattern,
    ResourceType,
    pascal_case,
)

logger = logging.getLogger(__name__)
authorizer_logger = logging.getLogger("kafka.authorizer.logger")
TRACE = logging.DEBUG - 5

IMPLIED_BY: dict[AclOperation, tuple[AclOperation, ...]] = {
    AclOperation.DESCRIBE: (AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER),
    AclOperation.DESCRIBE_CONFIGS: (AclOperation.ALTER_CONFIGS,),
}
"""An operation, and those that are not allowed without it: who may read may describe. Denials imply nothing."""
MAX_UPDATE_RETRIES = 10
RETRY_BACKOFF_MS = 100
RETRY_BACKOFF_JITTER_MS = 50


def parse_super_users(text: str) -> frozenset[KafkaPrincipal]:
    """The value of ``super.users``: ``User:a;User:b``. Raises ValueError."""
    return frozenset(KafkaPrincipal.parse(user.strip()) for user in text.split(";")) if text.strip() else frozenset()


class AclAuthorizer:
    """Decides from a snapshot; changes go to the store first, then to a new snapshot."""

    def __init__(
        self,
        store: AclStore,
        time: Time,
        super_users: frozenset[KafkaPrincipal] = frozenset(),
        allow_everyone_if_no_acl_is_found: bool = False,
        prefixed_patterns: bool = True,
    ) -> None:
        """``prefixed_patterns``: whether all brokers know them; true from inter.broker.protocol.version 2.0 on."""
        self._store = store
        self._time = time
        self._super_users = super_users
        self._allow_everyone = allow_everyone_if_no_acl_is_found
        self._prefixed_patterns = prefixed_patterns
        self._lock = threading.Lock()
        """Guards changes of the store and of the snapshot; decisions need none."""
        self._cache = AclCache()

    def load(self) -> None:
        """Read the store. Watch for changes first, so that none falls between."""
        with self._lock:
            self._cache = AclCache(
                {pattern: acls for pattern in self._store.patterns() if (acls := self._store.read(pattern)).entries}
            )

    def changed(self, pattern: ResourcePattern) -> None:
        """A broker or tool has announced a change: read the pattern's node again."""
        with self._lock:
            acls = self._store.read(pattern)
            logger.info("Processing Acl change notification for %s, version %s", pattern, acls.version)
            self._cache = self._cache.updated(pattern, acls)

    # ── Decisions ─────────────────────────────────────────────────────────────────────────────────────────────────

    def authorize(self, context: AuthorizableRequestContext, actions: Sequence[Action]) -> list[bool]:
        """For each action whether it is allowed; each is written to the audit log."""
        return [self._authorize(context, action) for action in actions]

    def _authorize(self, context: AuthorizableRequestContext, action: Action) -> bool:
        if action.resource.pattern_type is not PatternType.LITERAL:
            raise ValueError(f"Only literal resources are supported. Got: {action.resource.pattern_type.name}")
        allowed = context.principal in self._super_users or self._acls_allow(context, action)
        _log_audit_message(context, action, allowed)
        return allowed

    def _acls_allow(self, context: AuthorizableRequestContext, action: Action) -> bool:
        """No entry at all: as configured. Otherwise no entry may deny it, and one must allow it."""
        entries = self._cache.matching(action.resource.resource_type, action.resource.name)
        if not entries:
            return self._allow_everyone
        principal, host = str(context.principal), context.client_address

        def exists(permission: AclPermissionType, operation: AclOperation) -> bool:
            return any(
                entry.permission_type is permission and entry.concerns(principal, host, operation) for entry in entries
            )

        if exists(AclPermissionType.DENY, action.operation):
            return False
        sufficient = (action.operation, *IMPLIED_BY.get(action.operation, ()))
        return any(exists(AclPermissionType.ALLOW, operation) for operation in sufficient)

    def authorize_by_resource_type(
        self, context: AuthorizableRequestContext, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whether the operation is allowed on any resource of the type: one that is allowed and not denied.

        No operation implies another here. A denial covers a pattern if it is at least as wide.
        """
        action = Action(operation, ResourcePattern(resource_type, "NONE", PatternType.UNKNOWN), 0)
        if context.principal in self._super_users:
            return True
        denied = self._patterns_with(context, operation, resource_type, AclPermissionType.DENY)
        if ResourcePattern(resource_type, WILDCARD_RESOURCE) in denied:
            allowed = False
        elif self._allow_everyone:
            allowed = True
        else:
            candidates = self._patterns_with(context, operation, resource_type, AclPermissionType.ALLOW)
            allowed = any(not any(_covers(denial, pattern) for denial in denied) for pattern in candidates)
        _log_audit_message(context, action, allowed)
        return allowed

    def _patterns_with(
        self,
        context: AuthorizableRequestContext,
        operation: AclOperation,
        resource_type: ResourceType,
        permission: AclPermissionType,
    ) -> set[ResourcePattern]:
        cache, principal = self._cache, str(context.principal)
        return {
            pattern
            for pattern in cache.patterns()
            if pattern.resource_type is resource_type and (acls := cache.get(pattern)) is not None
            for entry in acls.entries
            if entry.permission_type is permission and entry.concerns(principal, context.client_address, operation)
        }

    # ── Changes ───────────────────────────────────────────────────────────────────────────────────────────────────

    def acls(self, chosen: AclBindingFilter) -> Iterator[AclBinding]:
        """The bindings that a filter chooses."""
        return self._cache.bindings(chosen)

    def create_acls(self, bindings: Sequence[AclBinding]) -> list[ApiError | None]:
        """Add bindings, those of one pattern in one write; for each the error, or None."""
        results = [self._refusal(binding) for binding in bindings]
        by_pattern: dict[ResourcePattern, list[int]] = {}
        for index, binding in enumerate(bindings):
            if results[index] is None:
                by_pattern.setdefault(binding.pattern, []).append(index)
        with self._lock:
            for pattern, indexes in by_pattern.items():
                added = frozenset(bindings[index].entry for index in indexes)
                error = self._try_update(pattern, added.union)
                for index in indexes:
                    results[index] = error
        return results

    def _refusal(self, binding: AclBinding) -> ApiError | None:
        if binding.pattern.pattern_type is PatternType.PREFIXED and not self._prefixed_patterns:
            why = "Adding ACLs on prefixed resource patterns requires inter.broker.protocol.version of 2.0 or greater"
        elif binding.is_unknown:
            why = "ACL binding contains unknown elements"
        elif "/" in binding.pattern.name:
            why = f"ACL binding contains invalid resource name: {binding.pattern.name}"
        else:
            return None
        return Errors.INVALID_REQUEST.exception(f"Failed to create ACL: {why}")

    def delete_acls(self, filters: Sequence[AclBindingFilter]) -> list[list[AclDeleteResult]]:
        """Remove the bindings that filters choose; for each filter those that it was the first to choose."""
        results: list[list[AclDeleteResult]] = [[] for _ in filters]
        with self._lock:
            named = (pattern for chosen in filters for pattern in chosen.pattern.single_patterns)
            for pattern in dict.fromkeys((*self._cache.patterns(), *named)):
                matching = [(i, chosen) for i, chosen in enumerate(filters) if chosen.pattern.matches(pattern)]
                if matching:
                    self._delete_from(pattern, matching, results)
        return results

    def _delete_from(
        self,
        pattern: ResourcePattern,
        matching: list[tuple[int, AclBindingFilter]],
        results: list[list[AclDeleteResult]],
    ) -> None:
        chosen_by: dict[AccessControlEntry, int] = {}

        def without_chosen(current: frozenset[AccessControlEntry]) -> frozenset[AccessControlEntry]:
            for index, chosen in matching:
                for entry in current:
                    if chosen.entry.matches(entry):
                        chosen_by.setdefault(entry, index)
            return current - chosen_by.keys()

        error = self._try_update(pattern, without_chosen)
        for entry, index in sorted(chosen_by.items()):
            results[index].append(AclDeleteResult(AclBinding(pattern, entry), error))

    def _try_update(
        self, pattern: ResourcePattern, change: Callable[[frozenset[AccessControlEntry]], frozenset[AccessControlEntry]]
    ) -> ApiError | None:
        try:
            self._update(pattern, change)
        except ApiError as error:
            return error
        except KafkaError as error:  # a node that cannot be read, or a name that no node can have
            return Errors.UNKNOWN_SERVER_ERROR.exception(str(error))
        return None

    def _update(
        self, pattern: ResourcePattern, change: Callable[[frozenset[AccessControlEntry]], frozenset[AccessControlEntry]]
    ) -> None:
        """Write what ``change`` makes of the entries; read them again as long as another writer is first."""
        current = self._cache.get(pattern) or self._store.read(pattern)
        for _ in range(MAX_UPDATE_RETRIES + 1):
            entries = change(current.entries)
            if not entries and current.version is None:
                self._cache = self._cache.updated(pattern, VersionedAcls())
                return
            version = self._store.write(pattern, entries, current.version)
            if version is not None:
                self._cache = self._cache.updated(pattern, VersionedAcls(entries, version if entries else None))
                if entries != current.entries:
                    logger.info("Updated ACLs for %s with new version %d", pattern, version)
                    self._store.announce(pattern)
                return
            self._time.sleep(RETRY_BACKOFF_MS + random.randrange(RETRY_BACKOFF_JITTER_MS))
            current = self._store.read(pattern)
        raise Errors.UNKNOWN_SERVER_ERROR.exception(
            f"Failed to update ACLs for {pattern} after trying a maximum of {MAX_UPDATE_RETRIES} times"
        )


def _covers(denial: ResourcePattern, pattern: ResourcePattern) -> bool:
    """Whether a denial is about all that a pattern is about; the literal ``*`` denial is treated before."""
    if pattern == ResourcePattern(pattern.resource_type, WILDCARD_RESOURCE):
        return False
    if denial.pattern_type is PatternType.PREFIXED:
        return pattern.name.startswith(denial.name)
    return denial == pattern


def _log_audit_message(context: AuthorizableRequestContext, action: Action, allowed: bool) -> None:
    """Refused requests are at INFO, granted ones at DEBUG, and questions that grant nothing at TRACE.

    Names come from clients: they are quoted if they have other than printable characters, so that none makes a line.
    """
    if allowed:
        level = logging.DEBUG if action.log_if_allowed else TRACE
    else:
        level = logging.INFO if action.log_if_denied else TRACE
    if authorizer_logger.isEnabledFor(level):
        authorizer_logger.log(
            level,
            "Principal = %s is %s Operation = %s from host = %s on resource = %s for request = %s with "
            "resourceRefCount = %d",
            _printable(str(context.principal)),
            "Allowed" if allowed else "Denied",
            pascal_case(action.operation.name),
            context.client_address,
            _printable(str(action.resource)),
            context.request_name,
            action.resource_reference_count,
        )


def _printable(text: str) -> str:
    return text if text.isprintable() else ascii(text)
