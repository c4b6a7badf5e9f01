"""Both ends of each mechanism by its name, from the options of a login module."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import MockTime
from kafka_lite.security.auth.jaas_config import JaasConfigError
from kafka_lite.security.auth.jaas_context import JaasContext
from kafka_lite.security.delegation_token.delegation_token_cache import DelegationTokenCache
from kafka_lite.security.delegation_token.token_information import DelegationToken, TokenInformation
from kafka_lite.security.oauthbearer.json_web_key_set import JwksError
from kafka_lite.security.oauthbearer.oauth_bearer_unsecured_jws import new_unsecured_token
from kafka_lite.security.sasl.sasl_mechanism import SaslClient, SaslError, SaslServer
from kafka_lite.security.sasl_mechanisms import MECHANISMS, sasl_client, sasl_server
from kafka_lite.security.scram.credential_provider import CredentialProvider
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import SCRAM_MECHANISM_NAMES, ScramMechanism
from tests.support.fake_gss import FakeGssapi

TIME = MockTime(start_ms=1_000_000)
ALICE = JaasContext("module", {"username": "alice", "password": "secret"})
TOKEN_OF_ALICE = {"unsecuredLoginStringClaim_sub": "alice"}


def credentials() -> CredentialProvider:
    provider = CredentialProvider()
    made = {each: ScramFormatter(each).generate_credential("secret", 4096) for each in ScramMechanism}
    provider.update_credentials(
        "alice", {each.mechanism_name: credential.to_string() for each, credential in made.items()}
    )
    return provider


def exchange(client: SaslClient, server: SaslServer) -> str:
    """All tokens between both ends; returns the user."""
    token = client.evaluate_challenge(b"")
    while not server.complete:
        assert token is not None
        challenge = server.evaluate_response(token)
        if challenge is not None:
            token = client.evaluate_challenge(challenge) if challenge or not client.complete else None
    assert client.complete
    return server.authorization_id


@pytest.mark.parametrize("mechanism", [each for each in MECHANISMS if each != "GSSAPI"])
def test_both_ends_of_a_mechanism_agree(mechanism: str) -> None:
    jaas = JaasContext("module", TOKEN_OF_ALICE) if mechanism == "OAUTHBEARER" else ALICE
    options = {"user_alice": "secret"} if mechanism == "PLAIN" else {}
    client, server = (
        sasl_client(mechanism, jaas, TIME)("h"),
        sasl_server(mechanism, options, credentials(), DelegationTokenCache(), TIME)(),
    )
    assert (client.mechanism, server.mechanism) == (mechanism, mechanism)
    assert exchange(client, server) == "alice"
    assert (server.token_authenticated, server.credential_expiration_ms) == (
        False,
        TIME.milliseconds() + 3_600_000 if mechanism == "OAUTHBEARER" else None,
    )


@pytest.mark.parametrize("mechanism", SCRAM_MECHANISM_NAMES)
def test_a_delegation_token_proves_that_the_client_is_its_owner(mechanism: str) -> None:
    tokens = DelegationTokenCache()
    info = TokenInformation("id,=1", KafkaPrincipal("User", "bob"), KafkaPrincipal("User", "alice"), (), 1, 900, 500)
    token = DelegationToken(info, b"secret of the token")
    tokens.update(token)
    jaas = JaasContext("m", {"username": "id,=1", "password": token.hmac_as_base64_string, "tokenauth": "True"})
    server = sasl_server(mechanism, {}, credentials(), tokens, TIME)()
    assert exchange(sasl_client(mechanism, jaas, TIME)("h"), server) == "bob"
    assert (server.token_authenticated, server.credential_expiration_ms) == (True, 500)


def test_a_token_is_no_user_and_a_user_no_token() -> None:
    tokens = DelegationTokenCache()
    alice = KafkaPrincipal("User", "alice")
    token = DelegationToken(TokenInformation("id", alice, alice, (), 1, 900, 500), b"secret")
    tokens.update(token)
    of_token = {"username": "id", "password": token.hmac_as_base64_string}
    for options, why in (
        (of_token, "Invalid user credentials"),
        (of_token | {"tokenauth": "false"}, "Invalid user credentials"),
        ({**ALICE.options, "tokenauth": "true"}, "Invalid tokenId"),
        (of_token | {"tokenauth": "true", "password": "wrong"}, "Invalid client credentials"),
    ):
        client = sasl_client("SCRAM-SHA-256", JaasContext("m", options), TIME)("h")
        with pytest.raises(SaslError, match=why):
            exchange(client, sasl_server("SCRAM-SHA-256", {}, credentials(), tokens, TIME)())


def test_a_mechanism_that_is_not_served_is_named() -> None:
    words = "the mechanism DIGEST-MD5 is not supported; valid: PLAIN, SCRAM-SHA-256, .*GSSAPI"
    with pytest.raises(ValueError, match=words):
        sasl_server("DIGEST-MD5", {}, CredentialProvider(), DelegationTokenCache(), TIME)
    with pytest.raises(ValueError, match=words):
        sasl_client("DIGEST-MD5", ALICE, TIME)


def test_both_ends_of_gssapi_use_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    gssapi = FakeGssapi()
    monkeypatch.setitem(sys.modules, "gssapi", gssapi)
    options = {"useKeyTab": "true", "storeKey": "true", "principal": "kafka/h@R"}
    values = {"sasl.kerberos.service.name": "kafka"}
    client = sasl_client("GSSAPI", JaasContext("module", options), TIME, values)("h")
    server = sasl_server("GSSAPI", options, CredentialProvider(), DelegationTokenCache(), TIME, values)()
    assert server.evaluate_response(client.evaluate_challenge(b"") or b"") == b"token"
    assert (client.mechanism, server.mechanism) == ("GSSAPI", "GSSAPI")
    assert gssapi.asked[-3]["name"].text == "kafka@h"


@pytest.mark.parametrize("mechanism", ["PLAIN", *SCRAM_MECHANISM_NAMES])
def test_a_client_needs_a_user_and_a_password(mechanism: str) -> None:
    with pytest.raises(JaasConfigError, match="password is missing"):
        sasl_client(mechanism, JaasContext("module", {"username": "alice"}), TIME)


def test_a_token_in_a_file_is_read_for_each_exchange(tmp_path: Path) -> None:
    file = tmp_path / "token"
    client = sasl_client("OAUTHBEARER", JaasContext("module", {"tokenFile": str(file)}), TIME)
    with pytest.raises(SaslError, match="cannot read the token"):
        client("h")
    server = sasl_server("OAUTHBEARER", {}, CredentialProvider(), DelegationTokenCache(), TIME)
    for user in ("alice", "bob"):
        token = new_unsecured_token({"unsecuredLoginStringClaim_sub": user}, TIME.milliseconds())
        file.write_text(f"{token.value}\n")
        assert exchange(client("h"), server()) == user


def test_a_url_of_keys_means_that_tokens_are_signed(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    values = {
        "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        "sasl.oauthbearer.jwks.endpoint.refresh.ms": 1,
        "sasl.oauthbearer.expected.audience": None,
        "sasl.oauthbearer.expected.issuer": None,
        "sasl.oauthbearer.clock.skew.seconds": 30,
        "sasl.oauthbearer.sub.claim.name": "sub",
        "sasl.oauthbearer.scope.claim.name": "scope",
    }
    with pytest.raises(JwksError, match="cannot read file:"):
        sasl_server("OAUTHBEARER", {}, CredentialProvider(), DelegationTokenCache(), TIME, values)
    keys.write_text('{"keys": [{"kid": "1", "kty": "RSA", "n": "3Q", "e": "AQAB"}]}')
    server = sasl_server("OAUTHBEARER", {}, CredentialProvider(), DelegationTokenCache(), TIME, values)()
    token = sasl_client("OAUTHBEARER", JaasContext("module", TOKEN_OF_ALICE), TIME)("h").evaluate_challenge(b"")
    assert token is not None
    server.evaluate_response(token)
    assert not server.complete, "an unsecured token is refused"
