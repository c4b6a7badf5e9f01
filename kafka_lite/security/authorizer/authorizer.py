"""The interface of an authorizer: ours, or one of a user.

Kafka 2.4: clients/.../server/authorizer/Authorizer.java, Action.java, AuthorizableRequestContext.java; 0.10.2 has
core/.../security/auth/Authorizer.scala · book 2.3.5
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from kafka_lite.common.errors import ApiError
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.security.authorizer.acl_binding import AclBinding, AclBindingFilter, AclOperation
from kafka_lite.security.authorizer.resource_pattern import ResourcePattern, ResourceType


@dataclass(frozen=True)
class AuthorizableRequestContext:
    """The client, and the request that it has sent."""

    principal: KafkaPrincipal
    client_address: str
    """The IP address, without a port."""
    request_name: str = ""
    """For the audit log, such as FETCH."""


@dataclass(frozen=True)
class Action:
    """An operation on a resource, whose pattern is literal."""

    operation: AclOperation
    resource: ResourcePattern
    resource_reference_count: int = 1
    """How often the request names the resource; for the audit log."""
    log_if_allowed: bool = True
    """Whether it grants access now; false if only the answer counts, such as for a list of authorised operations."""
    log_if_denied: bool = True
    """Whether the client named the resource; false if the broker only leaves out what a client may not see."""


@dataclass(frozen=True)
class AclDeleteResult:
    """A binding that a filter chose: deleted, or why not."""

    binding: AclBinding
    error: ApiError | None = None


class Authorizer(Protocol):
    """Decides, and keeps the access control lists."""

    def authorize(self, context: AuthorizableRequestContext, actions: Sequence[Action]) -> list[bool]:
        """For each action whether it is allowed."""
        ...

    def authorize_by_resource_type(
        self, context: AuthorizableRequestContext, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whether the operation is allowed on any resource of the type: enough to get a producer id (KIP-679)."""
        ...

    def create_acls(self, bindings: Sequence[AclBinding]) -> list[ApiError | None]:
        """Add bindings; for each the error, or None."""
        ...

    def delete_acls(self, filters: Sequence[AclBindingFilter]) -> list[list[AclDeleteResult]]:
        """Remove the bindings that filters choose; for each filter those that it was the first to choose."""
        ...

    def acls(self, chosen: AclBindingFilter) -> Iterator[AclBinding]:
        """The bindings that a filter chooses."""
        ...
