"""Rules of the requests about delegation tokens: users may ask for their own without any right.

Kafka 3.3: core/.../server/KafkaApis.scala (handleCreateTokenRequest, handleDescribeTokensRequest),
core/.../server/DelegationTokenManager.scala (filterToken) · book 2.3.5
"""

from __future__ import annotations

from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.network.request import Request
from kafka_lite.security.authorizer.acl_binding import AclOperation
from kafka_lite.security.authorizer.resource_pattern import ResourceType
from kafka_lite.security.delegation_token.token_information import TokenInformation
from kafka_lite.server.apis.api_handler import Handler, Respond
from kafka_lite.server.apis.delegation_token_apis import MayDescribe, allows_token_requests, not_created, owner_of
from kafka_lite.server.auth.auth_helper import AuthHelper

TOKEN, USER = ResourceType.DELEGATION_TOKEN, ResourceType.USER


def create_delegation_token(auth: AuthHelper, request: Request, body: Any, respond: Respond, handler: Handler) -> None:
    """CREATE_TOKENS on the user for whom a token is asked, if that is another one (KIP-373)."""
    owner = owner_of(request, body)
    for_another = owner is not None and owner != request.principal and allows_token_requests(request)
    if owner is None or not for_another or auth.authorize(request, AclOperation.CREATE_TOKENS, USER, str(owner)):
        handler(request, body, respond)
    else:
        respond(not_created(request, Errors.DELEGATION_TOKEN_AUTHORIZATION_FAILED, owner))


def token_rule(auth: AuthHelper) -> MayDescribe:
    """For ``DelegationTokenApis``: whether a user may describe a token of others, by its id or because of its owner."""

    def may_describe(request: Request, token: TokenInformation) -> bool:
        return auth.authorize(request, AclOperation.DESCRIBE, TOKEN, token.token_id) or auth.authorize(
            request, AclOperation.DESCRIBE_TOKENS, USER, str(token.owner)
        )

    return may_describe
