"""The base class of authorizers of one's own, which ``authorizer.class.name`` names.

Kafka 2.4: clients/.../server/authorizer/Authorizer.java · book 2.3.5
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.security.authorizer.acl_binding import AclBinding, AclBindingFilter, AclOperation, AclPermissionType
from kafka_lite.security.authorizer.authorizer import AclDeleteResult, Action, AuthorizableRequestContext
from kafka_lite.security.authorizer.resource_pattern import (
    PatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)

_ANY_NAME = "hardcode"
"""A name that Kafka's interface asks about, too: only an authorizer that allows everything allows this."""


class CustomAuthorizer(ABC):
    """Decides who may do what::

        # my_company/authorizer.py                            # server.properties
        class OwnTopics(CustomAuthorizer):                    authorizer.class.name=my_company.authorizer.OwnTopics
            def authorize(self, context, actions):
                return [action.resource.name.startswith(context.principal.name) for action in actions]

    All request handlers ask at the same time, so it has to be thread-safe, and quick. An exception refuses the request
    with UNKNOWN_SERVER_ERROR. It has no access control lists unless it says so.
    """

    def configure(self, configs: Mapping[str, object]) -> None:  # noqa: B027  # not every one has keys
        """Called once, with all keys of ``server.properties``; an exception ends the start of the broker."""

    @abstractmethod
    def authorize(self, context: AuthorizableRequestContext, actions: Sequence[Action]) -> list[bool]:
        """For each action whether it is allowed."""

    def authorize_by_resource_type(
        self, context: AuthorizableRequestContext, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whether the operation is allowed on any resource of the type: enough to get a producer id (KIP-679).

        By default this asks about a name that nobody has, and then about each name that a list gives permission to.
        """
        granted = (
            binding.pattern.name
            for binding in self.acls(AclBindingFilter(ResourcePatternFilter(resource_type, None, PatternType.ANY)))
            if binding.entry.permission_type is AclPermissionType.ALLOW
        )
        return any(
            self.authorize(context, [Action(operation, ResourcePattern(resource_type, name), 0)])[0]
            for name in (_ANY_NAME, *granted)
        )

    def create_acls(self, bindings: Sequence[AclBinding]) -> list[ApiError | None]:
        """Add bindings; for each the error, or None."""
        return [_no_lists() for _ in bindings]

    def delete_acls(self, filters: Sequence[AclBindingFilter]) -> list[list[AclDeleteResult]]:
        """Remove the bindings that filters choose; for each filter those that it was the first to choose."""
        return [[] for _ in filters]

    def acls(self, chosen: AclBindingFilter) -> Iterator[AclBinding]:  # noqa: ARG002
        """The bindings that a filter chooses."""
        return iter(())

    def close(self) -> None:  # noqa: B027  # not every one has something to close
        """Called once, when the broker has stopped."""


def _no_lists() -> ApiError:
    return Errors.INVALID_REQUEST.exception("This broker's authorizer has no access control lists")
