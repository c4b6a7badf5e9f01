"""Questions to the authorizer, in the form in which handlers have them.

Kafka 2.7: core/.../server/AuthHelper.scala; 0.10.2 has core/.../server/KafkaApis.scala (authorize) · book 2.3.5
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from kafka_lite.common.errors import KafkaError
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_keys import api_name
from kafka_lite.security.authorizer.acl_binding import AclOperation
from kafka_lite.security.authorizer.authorizer import Action, AuthorizableRequestContext, Authorizer
from kafka_lite.security.authorizer.resource_pattern import CLUSTER_NAME, ResourcePattern, ResourceType

_OP = AclOperation
SUPPORTED_OPERATIONS: dict[ResourceType, tuple[AclOperation, ...]] = {
    ResourceType.TOPIC: (
        _OP.READ, _OP.WRITE, _OP.CREATE, _OP.DESCRIBE, _OP.DELETE, _OP.ALTER, _OP.DESCRIBE_CONFIGS, _OP.ALTER_CONFIGS,
    ),
    ResourceType.GROUP: (_OP.READ, _OP.DESCRIBE, _OP.DELETE, _OP.DESCRIBE_CONFIGS, _OP.ALTER_CONFIGS),
    ResourceType.CLUSTER: (
        _OP.CREATE, _OP.CLUSTER_ACTION, _OP.DESCRIBE_CONFIGS, _OP.ALTER_CONFIGS, _OP.IDEMPOTENT_WRITE, _OP.ALTER,
        _OP.DESCRIBE,
    ),
}  # fmt: skip
"""The operations that a list of authorised operations may have."""


class AuthorizerError(KafkaError):
    """The authorizer, which may be a class of the user, could not decide."""


class AuthHelper:
    """Asks the authorizer about the user of a request."""

    def __init__(self, authorizer: Authorizer, close_connection: Callable[[Request], None]) -> None:
        """``close_connection``: ends a connection whose client expects no response."""
        self.authorizer = authorizer
        self.close_connection = close_connection

    def authorize(
        self,
        request: Request,
        operation: AclOperation,
        resource_type: ResourceType,
        name: str,
        *,
        log_if_denied: bool = True,
    ) -> bool:
        """Whether the user may do this to the resource."""
        action = Action(operation, ResourcePattern(resource_type, name), log_if_denied=log_if_denied)
        return self._ask(request, [action])[0]

    def authorize_cluster(self, request: Request, operation: AclOperation, *, log_if_denied: bool = True) -> bool:
        """Whether the user may do this to the cluster."""
        return self.authorize(request, operation, ResourceType.CLUSTER, CLUSTER_NAME, log_if_denied=log_if_denied)

    def authorize_by_resource_type(
        self, request: Request, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whether the user may do this to any resource of the type."""
        with _errors_of_the_authorizer():
            return self.authorizer.authorize_by_resource_type(_context(request), operation, resource_type)

    def denied(
        self,
        request: Request,
        operation: AclOperation,
        resource_type: ResourceType,
        names: Iterable[str],
        *,
        log_if_denied: bool = True,
    ) -> set[str]:
        """The names of resources to which the user may not do this; each is asked for once."""
        counts = Counter(names)
        actions = [
            Action(operation, ResourcePattern(resource_type, name), count, log_if_denied=log_if_denied)
            for name, count in counts.items()
        ]
        results = self._ask(request, actions) if actions else []
        return {name for name, allowed in zip(counts, results, strict=True) if not allowed}

    def authorized_operations(self, request: Request, resource_type: ResourceType, name: str) -> int:
        """The operations that are allowed on the resource: bit n is set for the operation with code n."""
        operations = SUPPORTED_OPERATIONS[resource_type]
        pattern = ResourcePattern(resource_type, name)
        actions = [Action(each, pattern, log_if_allowed=False, log_if_denied=False) for each in operations]
        results = self._ask(request, actions)
        return sum(1 << operation for operation, allowed in zip(operations, results, strict=True) if allowed)

    def cluster_authorized_operations(self, request: Request) -> int:
        """The operations that are allowed on the cluster; 0 without the right to describe it."""
        if not self.authorize_cluster(request, AclOperation.DESCRIBE):
            return 0
        return self.authorized_operations(request, ResourceType.CLUSTER, CLUSTER_NAME)

    def _ask(self, request: Request, actions: Sequence[Action]) -> list[bool]:
        """For each action whether it is allowed. Raises AuthorizerError."""
        with _errors_of_the_authorizer():
            return self.authorizer.authorize(_context(request), actions)


@contextmanager
def _errors_of_the_authorizer() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise AuthorizerError(f"the authorizer has failed: {error}") from error


def _context(request: Request) -> AuthorizableRequestContext:
    return AuthorizableRequestContext(request.principal, request.client_address, api_name(request.header.api_key))
