"""Kinds of rules that many requests share.

A rule stands in front of a handler. It refuses the request, or parts of it, and passes on what is left.

Kafka 0.10.2: core/.../server/KafkaApis.scala (authorizeClusterAction, authorize) · book 2.3.5
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.security.authorizer.acl_binding import AclOperation
from kafka_lite.security.authorizer.resource_pattern import ResourceType
from kafka_lite.server.apis.api_handler import Handler, Respond
from kafka_lite.server.auth.auth_helper import AuthHelper
from kafka_lite.server.auth.refusals import handle_rest, refused


class KnownTopics(Protocol):
    """The metadata cache, as far as rules need it."""

    def contains(self, topic: str) -> bool:
        """Whether there is a topic of this name."""
        ...

    def topic_id(self, topic: str) -> UUID | None:
        """The id of the topic; None without one."""
        ...

    def topic_name(self, topic_id: UUID) -> str | None:
        """The name of the topic with this id."""
        ...

    def get_all_topics(self) -> list[str]:
        """The names of all topics."""
        ...


Rule = Callable[[AuthHelper, Request, Any, Respond, Handler], None]

UNAUTHORIZED: dict[ResourceType, Errors] = {
    ResourceType.TOPIC: Errors.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: Errors.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: Errors.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}


def free(_auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """Everyone may."""
    handler(request, body, respond)


def on_cluster(operation: AclOperation, *, instead: AclOperation | None = None) -> Rule:
    """The operation on the cluster, or the one that does ``instead``; otherwise the whole request is refused."""

    def rule(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
        may_instead = instead is not None and auth.authorize_cluster(request, instead, log_if_denied=False)
        if may_instead or auth.authorize_cluster(request, operation):
            handler(request, body, respond)
        else:
            respond(refused(request, body, Errors.CLUSTER_AUTHORIZATION_FAILED))

    return rule


def on_named(operation: AclOperation, resource_type: ResourceType, field: str, then: Rule = free) -> Rule:
    """The operation on the resource that a field of the request names, or the whole request is refused."""

    def rule(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
        if auth.authorize(request, operation, resource_type, getattr(body, field)):
            then(auth, request, body, respond, handler)
        else:
            respond(refused(request, body, UNAUTHORIZED[resource_type]))

    return rule


def on_each(operation: AclOperation, resource_type: ResourceType, names: Callable[[Any], Iterable[str]]) -> Rule:
    """The operation on each resource, or the request is refused in part."""

    def rule(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
        denied = auth.denied(request, operation, resource_type, names(body))
        handle_rest(request, body, respond, handler, UNAUTHORIZED[resource_type], denied)

    return rule


def topic_names(body: Any) -> list[str]:
    """The topics in the request's field ``topics``."""
    return [topic.name for topic in body.topics or ()]


def on_topics(operation: AclOperation) -> Rule:
    """The operation on each of the topics."""
    return on_each(operation, ResourceType.TOPIC, topic_names)
