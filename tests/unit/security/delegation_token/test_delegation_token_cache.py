"""Tokens by id and by secret, and the credentials that are made of them."""

from __future__ import annotations

from dataclasses import replace

from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.security.delegation_token.delegation_token_cache import DelegationTokenCache
from kafka_lite.security.delegation_token.token_information import DelegationToken, TokenInformation
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism

SHA_256, SHA_512 = ScramMechanism
ALICE = KafkaPrincipal("User", "alice")
TOKEN = DelegationToken(TokenInformation("id", ALICE, ALICE, (), 1, 900, 500), b"secret")


def test_a_token_is_found_by_its_secret_until_it_is_removed() -> None:
    cache = DelegationTokenCache()
    cache.update(TOKEN)
    assert cache.token_for_hmac(b"secret") == TOKEN
    assert cache.token_for_hmac(b"another") is None
    assert cache.tokens() == [TOKEN]
    cache.remove("id")
    cache.remove("id")
    assert (cache.token_for_hmac(b"secret"), cache.tokens(), cache.credential(SHA_256, "id")) == (None, [], None)


def test_the_secret_is_the_password_of_both_mechanisms() -> None:
    cache = DelegationTokenCache()
    cache.update(TOKEN)
    for mechanism in ScramMechanism:
        found = cache.credential(mechanism, "id")
        assert found is not None
        assert (found.owner, found.expiry_timestamp) == ("alice", 500)
        credential = found.credential
        made = ScramFormatter(mechanism).credential("c2VjcmV0", credential.salt, mechanism.min_iterations)
        assert credential == made
    assert cache.credential(SHA_256, "other") is None


def test_a_renewed_token_keeps_its_credentials_and_has_new_times() -> None:
    cache = DelegationTokenCache()
    cache.update(TOKEN)
    before = cache.credential(SHA_512, "id")
    cache.update(replace(TOKEN, token_info=replace(TOKEN.token_info, expiry_timestamp=700)))
    after = cache.credential(SHA_512, "id")
    assert before is not None
    assert after is not None
    assert after.credential is before.credential
    assert (before.expiry_timestamp, after.expiry_timestamp) == (500, 700)
    assert len(cache.tokens()) == 1
