"""Requests about delegation tokens.

Who may ask at all is decided here; who may ask for other users, and see their tokens, in
``auth/delegation_token_rules.py``.

Kafka 1.1: core/.../server/KafkaApis.scala (handleCreateTokenRequest, handleRenewTokenRequest, handleExpireTokenRequest,
handleDescribeTokensRequest, allowTokenRequests) · book 2.3.5
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.common.security.kafka_principal import ANONYMOUS, USER_TYPE, KafkaPrincipal
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_41_describe_delegation_token as describe
from kafka_lite.protocol.messages.api_38_create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from kafka_lite.protocol.messages.api_39_renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from kafka_lite.protocol.messages.api_40_expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from kafka_lite.security.delegation_token.token_information import DelegationToken, TokenInformation
from kafka_lite.server.admin.admin_errors import api_error
from kafka_lite.server.admin.delegation_token_manager import DelegationTokenManager
from kafka_lite.server.apis.api_handler import Respond

ERROR_TIMESTAMP = -1
SINCE_REQUESTER = 3
"""First version of Create and Describe with the user that asked for a token."""
MayDescribe = Callable[[Request, TokenInformation], bool]
"""Whether the user of a request may see a token."""
_SHOWN_IN_PLAIN_TEXT = "PLAINTEXT"


class DelegationTokenApis:
    """The handlers. Any broker has them: tokens are in ZooKeeper, and all brokers follow their changes."""

    def __init__(self, tokens: DelegationTokenManager, may_describe: MayDescribe | None = None) -> None:
        """``may_describe``: asks the authorizer; None if there is none, and everyone sees every token, as in Kafka."""
        self._tokens = tokens
        self._may_describe = may_describe

    def handle_create_delegation_token(
        self, request: Request, body: CreateDelegationTokenRequest, respond: Respond
    ) -> None:
        """Create a token for the user itself, or (v3) for another one."""
        owner = owner_of(request, body)
        renewers = [KafkaPrincipal(each.principal_type, each.principal_name) for each in body.renewers]
        if owner is None:
            respond(not_created(request, Errors.UNKNOWN_SERVER_ERROR, ANONYMOUS, ANONYMOUS))
        elif not allows_token_requests(request):
            respond(not_created(request, Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, owner))
        elif any(renewer.principal_type != USER_TYPE for renewer in renewers):
            respond(not_created(request, Errors.INVALID_PRINCIPAL_TYPE, owner))
        else:
            try:
                token = self._tokens.create_token(owner, request.principal, renewers, body.max_lifetime_ms)
            except Exception as error:  # noqa: BLE001  (becomes the error of the response)
                respond(not_created(request, api_error(error, "creating a delegation token").error, owner))
            else:
                respond(_created(request, token))

    def handle_renew_delegation_token(
        self, request: Request, body: RenewDelegationTokenRequest, respond: Respond
    ) -> None:
        """Let a token expire later."""
        error, timestamp = self._changed(
            request, lambda: self._tokens.renew_token(request.principal, bytes(body.hmac), body.renew_period_ms)
        )
        respond(RenewDelegationTokenResponse(error_code=error.code, expiry_timestamp_ms=timestamp))

    def handle_expire_delegation_token(
        self, request: Request, body: ExpireDelegationTokenRequest, respond: Respond
    ) -> None:
        """Let a token expire earlier, or end it."""
        error, timestamp = self._changed(
            request, lambda: self._tokens.expire_token(request.principal, bytes(body.hmac), body.expiry_time_period_ms)
        )
        respond(ExpireDelegationTokenResponse(error_code=error.code, expiry_timestamp_ms=timestamp))

    def _changed(self, request: Request, change: Callable[[], int]) -> tuple[Errors, int]:
        if not allows_token_requests(request):
            return Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, ERROR_TIMESTAMP
        try:
            return Errors.NONE, change()
        except Exception as error:  # noqa: BLE001  (becomes the error of the response)
            return api_error(error, "changing a delegation token").error, ERROR_TIMESTAMP

    def handle_describe_delegation_token(
        self, request: Request, body: describe.DescribeDelegationTokenRequest, respond: Respond
    ) -> None:
        """Respond with the tokens of these users, or (null) of all; with secrets, so not every channel may ask."""
        if not allows_token_requests(request):
            respond(_not_described(Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED))
            return
        try:
            shown = [_described(request, token) for token in self._tokens.tokens() if self._shows(request, body, token)]
        except Exception as error:  # noqa: BLE001  (becomes the error of the response)
            respond(_not_described(api_error(error, "describing delegation tokens").error))
        else:
            respond(describe.DescribeDelegationTokenResponse(tokens=shown))

    def _shows(self, request: Request, body: describe.DescribeDelegationTokenRequest, token: DelegationToken) -> bool:
        info = token.token_info
        asked_for = body.owners is None or any(
            info.owner_or_renewer(KafkaPrincipal(each.principal_type, each.principal_name)) for each in body.owners
        )
        if not asked_for or self._may_describe is None:
            return asked_for
        return info.owner_or_renewer(request.principal) or self._may_describe(request, info)


def allows_token_requests(request: Request) -> bool:
    """Whether a connection may ask for tokens: if it proved who the user is, and not by a token."""
    principal, protocol = request.principal, request.security_protocol
    if principal.token_authenticated or protocol == _SHOWN_IN_PLAIN_TEXT:
        return False
    return not (protocol == "SSL" and principal == ANONYMOUS)


def owner_of(request: Request, body: CreateDelegationTokenRequest) -> KafkaPrincipal | None:
    """The user for whom a token is asked; None for one without a type."""
    if not body.owner_principal_name:
        return request.principal
    if body.owner_principal_type is None:
        return None
    return KafkaPrincipal(body.owner_principal_type, body.owner_principal_name)


def not_created(
    request: Request, error: Errors, owner: KafkaPrincipal, requester: KafkaPrincipal | None = None
) -> CreateDelegationTokenResponse:
    """The response to a request for a token that was not created. ``requester``: another one than the user."""
    return CreateDelegationTokenResponse(
        error_code=error.code,
        principal_type=owner.principal_type,
        principal_name=owner.name,
        **_requester(request, request.principal if requester is None else requester),
        issue_timestamp_ms=ERROR_TIMESTAMP,
        expiry_timestamp_ms=ERROR_TIMESTAMP,
        max_timestamp_ms=ERROR_TIMESTAMP,
    )


def _requester(request: Request, principal: KafkaPrincipal) -> dict[str, Any]:
    """The fields of the user that asked for a token, if the version has them."""
    if request.header.api_version < SINCE_REQUESTER:
        return {}
    return {
        "token_requester_principal_type": principal.principal_type,
        "token_requester_principal_name": principal.name,
    }


def _created(request: Request, token: DelegationToken) -> CreateDelegationTokenResponse:
    info = token.token_info
    return CreateDelegationTokenResponse(
        principal_type=info.owner.principal_type,
        principal_name=info.owner.name,
        **_requester(request, info.token_requester),
        issue_timestamp_ms=info.issue_timestamp,
        expiry_timestamp_ms=info.expiry_timestamp,
        max_timestamp_ms=info.max_timestamp,
        token_id=info.token_id,
        hmac=token.hmac,
    )


def _not_described(error: Errors) -> describe.DescribeDelegationTokenResponse:
    return describe.DescribeDelegationTokenResponse(error_code=error.code)


def _described(request: Request, token: DelegationToken) -> describe.DescribedDelegationToken:
    info = token.token_info
    return describe.DescribedDelegationToken(
        principal_type=info.owner.principal_type,
        principal_name=info.owner.name,
        **_requester(request, info.token_requester),
        issue_timestamp=info.issue_timestamp,
        expiry_timestamp=info.expiry_timestamp,
        max_timestamp=info.max_timestamp,
        token_id=info.token_id,
        hmac=token.hmac,
        renewers=[
            describe.DescribedDelegationTokenRenewer(principal_type=each.principal_type, principal_name=each.name)
            for each in info.renewers
        ],
    )
