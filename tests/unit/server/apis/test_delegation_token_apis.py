"""Who may ask for tokens at all, and the responses."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.security.kafka_principal import ANONYMOUS, KafkaPrincipal
from kafka_lite.common.time import MockTime
from kafka_lite.network.request import Request
from kafka_lite.protocol.framing import encode_response
from kafka_lite.protocol.messages import api_38_create_delegation_token as create
from kafka_lite.protocol.messages import api_39_renew_delegation_token as renew
from kafka_lite.protocol.messages import api_40_expire_delegation_token as expire
from kafka_lite.protocol.messages import api_41_describe_delegation_token as describe
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.security.delegation_token.delegation_token_cache import DelegationTokenCache
from kafka_lite.security.delegation_token.token_information import TokenInformation
from kafka_lite.server.admin.delegation_token_manager import DelegationTokenConfig, DelegationTokenManager
from kafka_lite.server.apis.delegation_token_apis import DelegationTokenApis, MayDescribe
from tests.unit.server.admin.test_delegation_token_manager import Store

ALICE, BOB = KafkaPrincipal("User", "alice"), KafkaPrincipal("User", "bob")
BY_TOKEN = KafkaPrincipal("User", "alice", token_authenticated=True)
START_MS = 1_000


class Given:
    """One broker's handlers; with no key it has no tokens."""

    def __init__(self, key: bytes = b"key", may_describe: MayDescribe | None = None) -> None:
        config = DelegationTokenConfig(key, max_lifetime_ms=70, expiry_time_ms=10, expiry_check_interval_ms=1)
        self.store = Store()
        self.apis = DelegationTokenApis(
            DelegationTokenManager(config, self.store, DelegationTokenCache(), MockTime(start_ms=START_MS)),
            may_describe,
        )

    def ask(
        self, body: Any, principal: KafkaPrincipal = ALICE, protocol: str = "SASL_SSL", version: int | None = None
    ) -> Any:
        """The response, which can be encoded in the request's version; without one in the latest."""
        version = body.VERSIONS.highest if version is None else version
        header = RequestHeader(api_key=body.API_KEY, api_version=version)
        request = Request(0, "c", "L", protocol, "10.0.0.1", header, body, 0, 0.0)
        request.principal = principal
        handler = {
            create.CreateDelegationTokenRequest: self.apis.handle_create_delegation_token,
            renew.RenewDelegationTokenRequest: self.apis.handle_renew_delegation_token,
            expire.ExpireDelegationTokenRequest: self.apis.handle_expire_delegation_token,
            describe.DescribeDelegationTokenRequest: self.apis.handle_describe_delegation_token,
        }[type(body)]
        responses: list[Any] = []
        handler(request, body, responses.append)  # type: ignore[operator]
        (response,) = responses
        encode_response(response, version, 1)
        return response


def creation(owner: KafkaPrincipal | None = None, renewers: tuple[KafkaPrincipal, ...] = ()) -> Any:
    return create.CreateDelegationTokenRequest(
        owner_principal_type=None if owner is None else owner.principal_type,
        owner_principal_name=None if owner is None else owner.name,
        renewers=[create.CreatableRenewers(principal_type=r.principal_type, principal_name=r.name) for r in renewers],
        max_lifetime_ms=-1,
    )


def described_of(*owners: KafkaPrincipal) -> Any:
    return describe.DescribeDelegationTokenRequest(
        owners=[
            describe.DescribeDelegationTokenOwner(principal_type=o.principal_type, principal_name=o.name)
            for o in owners
        ]
    )


EVERYTHING = describe.DescribeDelegationTokenRequest(owners=None)
REQUESTS = (
    creation(),
    renew.RenewDelegationTokenRequest(hmac=b"h", renew_period_ms=-1),
    expire.ExpireDelegationTokenRequest(hmac=b"h", expiry_time_period_ms=-1),
    EVERYTHING,
)
NOT_ALLOWED = Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.code
DISABLED = Errors.DELEGATION_TOKEN_AUTH_DISABLED.code


def test_the_life_of_a_token() -> None:
    given = Given()
    made = given.ask(creation(renewers=(BOB,)))
    assert (made.error_code, made.principal_type, made.principal_name) == (0, "User", "alice")
    assert (made.token_requester_principal_type, made.token_requester_principal_name) == ("User", "alice")
    times = (made.issue_timestamp_ms, made.expiry_timestamp_ms, made.max_timestamp_ms)
    assert times == (START_MS, START_MS + 10, START_MS + 70)

    renewed = given.ask(renew.RenewDelegationTokenRequest(hmac=made.hmac, renew_period_ms=30), BOB)
    assert (renewed.error_code, renewed.expiry_timestamp_ms) == (0, START_MS + 30)

    (found,) = given.ask(EVERYTHING).tokens
    assert (found.token_id, found.hmac, found.expiry_timestamp) == (made.token_id, made.hmac, START_MS + 30)
    assert [(each.principal_type, each.principal_name) for each in found.renewers] == [("User", "bob")]

    ended = given.ask(expire.ExpireDelegationTokenRequest(hmac=memoryview(made.hmac), expiry_time_period_ms=-1))
    assert (ended.error_code, ended.expiry_timestamp_ms) == (0, START_MS)
    assert given.ask(EVERYTHING).tokens == []


@pytest.mark.parametrize("body", REQUESTS, ids=lambda body: body.API_KEY.name)
@pytest.mark.parametrize(
    ("principal", "protocol", "allowed"),
    [
        (ANONYMOUS, "PLAINTEXT", False),
        (ALICE, "PLAINTEXT", False),
        (ANONYMOUS, "SSL", False),  # TLS without a client certificate
        (ALICE, "SSL", True),
        (ALICE, "SASL_PLAINTEXT", True),
        (ALICE, "SASL_SSL", True),
        (BY_TOKEN, "SASL_SSL", False),  # a token gets no further tokens
    ],
)
def test_only_who_proved_a_user_may_ask(body: Any, principal: KafkaPrincipal, protocol: str, allowed: bool) -> None:
    for key in (b"key", b""):
        response = Given(key).ask(body, principal, protocol)
        assert (response.error_code != NOT_ALLOWED) is allowed, key


@pytest.mark.parametrize("body", REQUESTS, ids=lambda body: body.API_KEY.name)
def test_without_a_key_of_the_broker_tokens_are_disabled(body: Any) -> None:
    response = Given(b"").ask(body)
    assert response.error_code == DISABLED
    if not isinstance(body, describe.DescribeDelegationTokenRequest):
        assert response.expiry_timestamp_ms == -1


def test_errors_have_kafka_s_fields() -> None:
    given = Given()
    groups = given.ask(creation(renewers=(BOB, KafkaPrincipal("Group", "g"))))
    assert (groups.error_code, groups.principal_name) == (Errors.INVALID_PRINCIPAL_TYPE.code, "alice")
    assert (groups.issue_timestamp_ms, groups.expiry_timestamp_ms, groups.max_timestamp_ms) == (-1, -1, -1)
    assert (groups.token_id, groups.hmac) == ("", b"")
    missing = given.ask(renew.RenewDelegationTokenRequest(hmac=b"none", renew_period_ms=-1))
    assert (missing.error_code, missing.expiry_timestamp_ms) == (Errors.DELEGATION_TOKEN_NOT_FOUND.code, -1)
    untyped = create.CreateDelegationTokenRequest(owner_principal_type=None, owner_principal_name="bob", renewers=[])
    refused = given.ask(untyped)
    assert (refused.error_code, refused.principal_name) == (Errors.UNKNOWN_SERVER_ERROR.code, "ANONYMOUS")


def test_a_token_for_another_user_has_a_requester() -> None:
    made = Given().ask(creation(owner=BOB))
    assert (made.principal_name, made.token_requester_principal_name) == ("bob", "alice")


def test_tokens_are_described_by_owner_requester_or_renewer() -> None:
    given = Given()
    own = given.ask(creation(renewers=(KafkaPrincipal("User", "carol"),))).token_id
    for_bob = given.ask(creation(owner=BOB)).token_id

    def ids(body: Any) -> set[str]:
        return {token.token_id for token in given.ask(body).tokens}

    assert ids(EVERYTHING) == {own, for_bob}
    assert ids(described_of(ALICE)) == {own, for_bob}
    assert ids(described_of(BOB)) == {for_bob}
    assert ids(described_of(KafkaPrincipal("User", "carol"))) == {own}
    assert ids(described_of(KafkaPrincipal("User", "dave"))) == ids(described_of()) == set()


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_older_versions_have_no_requester(version: int) -> None:
    given = Given()
    made = given.ask(creation(), version=version)
    (found,) = given.ask(EVERYTHING, version=version).tokens
    refused = given.ask(creation(), BY_TOKEN, version=version)
    for each in (made, found, refused):
        assert each.token_requester_principal_name == ("alice" if version == 3 else "")


def test_tokens_of_others_are_left_out_unless_the_authorizer_allows_them() -> None:
    asked: list[str] = []

    def may_describe(request: Request, token: TokenInformation) -> bool:
        asked.append(f"{request.principal} {token.owner}")
        return token.owner == BOB

    given = Given(may_describe=may_describe)
    dave = KafkaPrincipal("User", "dave")
    for owner in (ALICE, BOB, dave):
        given.ask(creation(), owner)
    assert {token.principal_name for token in given.ask(EVERYTHING).tokens} == {"alice", "bob"}
    assert sorted(asked) == ["User:alice User:bob", "User:alice User:dave"]
    assert {token.principal_name for token in given.ask(described_of(dave, BOB)).tokens} == {"bob"}


def test_an_error_of_the_store_is_that_of_the_response(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError("lost")

    given = Given()
    monkeypatch.setattr(given.store, "write", fails)
    assert given.ask(creation()).error_code == Errors.UNKNOWN_SERVER_ERROR.code
    assert given.ask(EVERYTHING).tokens == []
