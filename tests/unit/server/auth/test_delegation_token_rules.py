"""The rights that one needs for tokens of others."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_38_create_delegation_token import CreateDelegationTokenRequest
from kafka_lite.protocol.messages.api_39_renew_delegation_token import RenewDelegationTokenRequest
from kafka_lite.protocol.messages.api_41_describe_delegation_token import DescribeDelegationTokenRequest
from kafka_lite.security.delegation_token.token_information import TokenInformation
from kafka_lite.server.auth.delegation_token_rules import token_rule
from tests.support.authorizing import Broker


def for_owner(name: str | None) -> CreateDelegationTokenRequest:
    kind = None if name is None else "User"
    return CreateDelegationTokenRequest(owner_principal_type=kind, owner_principal_name=name, renewers=[])


@pytest.mark.parametrize("owner", [None, "", "alice"])
def test_everyone_may_ask_for_a_token_of_their_own(owner: str | None) -> None:
    broker = Broker()
    assert broker.ask(for_owner(owner), 3).error_code == 0
    assert (len(broker.handled), broker.authorizer.asked) == (1, set())


def test_a_token_for_another_user_needs_a_right_on_that_user() -> None:
    broker = Broker()
    refused = broker.ask(for_owner("bob"), 3)
    assert refused.error_code == Errors.DELEGATION_TOKEN_AUTHORIZATION_FAILED.code
    assert (refused.principal_name, refused.token_requester_principal_name) == ("bob", "alice")
    assert broker.authorizer.asked == {("CREATE_TOKENS", "USER", "User:bob")}
    assert broker.handled == []
    assert Broker("CREATE_TOKENS USER User:bob").ask(for_owner("bob"), 3).error_code == 0
    assert Broker("CREATE_TOKENS USER User:carol").ask(for_owner("bob"), 3).error_code != 0


@pytest.mark.parametrize(
    ("rights", "allowed"),
    [
        ((), False),
        (("DESCRIBE DELEGATION_TOKEN id",), True),
        (("DESCRIBE DELEGATION_TOKEN other",), False),
        (("DESCRIBE_TOKENS USER User:bob",), True),
        (("DESCRIBE_TOKENS USER User:carol",), False),  # who asked for it, and does not own it
    ],
)
def test_a_token_of_others_is_seen_by_its_id_or_its_owner(rights: tuple[str, ...], allowed: bool) -> None:
    broker = Broker(*rights)
    body = DescribeDelegationTokenRequest(owners=None)
    request = broker.request(ApiKey.DESCRIBE_DELEGATION_TOKEN, 3, body)
    bob, carol = KafkaPrincipal("User", "bob"), KafkaPrincipal("User", "carol")
    token = TokenInformation("id", bob, carol, (carol,), 1, 3, 2)
    assert token_rule(broker.auth)(request, token) is allowed


def test_renewing_needs_no_right_but_the_secret() -> None:
    broker = Broker()
    broker.ask(RenewDelegationTokenRequest(hmac=b"h", renew_period_ms=-1), 2)
    assert (len(broker.handled), broker.authorizer.asked) == (1, set())
