"""Signed tokens: only the issuer's are accepted, for us and at their time."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest

from kafka_lite.security.oauthbearer.oauth_bearer_secured_jws import SecuredValidator
from kafka_lite.security.oauthbearer.oauth_bearer_unsecured_jws import IllegalTokenError
from tests.support.signed_tokens import ec_jwk, encoded, json_text, rsa_jwk, token

NOW_MS = 1_700_000_000_000
CLAIMS: dict[str, Any] = {"sub": "alice", "iss": "https://us", "aud": ["kafka", "x"], "iat": NOW_MS // 1000 - 60,
                          "exp": NOW_MS // 1000 + 60, "scope": "orders bills"}  # fmt: skip
KEYS = {"a": rsa_jwk("a"), "b": ec_jwk("b"), "p": rsa_jwk("p") | {"alg": "PS256"}}
VALIDATOR = SecuredValidator(KEYS.get, ["kafka"], "https://us", clock_skew_ms=1000)


@pytest.mark.parametrize(("algorithm", "key"), [("RS256", "a"), ("PS256", "a"), ("ES256", "b"), ("PS256", "p")])
def test_signatures_of_the_issuer(algorithm: str, key: str) -> None:
    found = VALIDATOR.validate(token(CLAIMS, algorithm, key), NOW_MS)
    assert (found.principal_name, found.lifetime_ms, found.start_time_ms) == ("alice", NOW_MS + 60_000, NOW_MS - 60_000)
    assert found.scope == {"orders", "bills"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"iss": "https://them"}, "of another issuer"),
        ({"aud": "others"}, "for another audience"),
        ({"aud": None}, "for another audience"),
        ({"exp": NOW_MS // 1000 - 1}, "has expired"),
        ({"iat": NOW_MS // 1000 + 2}, "not valid yet"),
        ({"nbf": NOW_MS // 1000 + 2}, "not valid yet"),
        ({"exp": None}, "must have the claims exp and iat"),
        ({"exp": "soon"}, "was not a number"),
        ({"sub": " "}, "No principal name in JWT claim: sub"),
    ],
)
def test_claims_that_are_not_for_us(change: dict[str, Any], says: str) -> None:
    with pytest.raises(IllegalTokenError, match=says):
        VALIDATOR.validate(token(CLAIMS | change), NOW_MS)


def test_clocks_may_differ_a_little() -> None:
    VALIDATOR.validate(token(CLAIMS), NOW_MS + 60_999)
    with pytest.raises(IllegalTokenError, match="has expired"):
        VALIDATOR.validate(token(CLAIMS), NOW_MS + 61_000)


def unsigned() -> str:
    return f"{json_text({'alg': 'none', 'kid': 'a'})}.{json_text(CLAIMS)}.{encoded(b'x')}"


def signed_with_the_public_key() -> str:
    """The old attack: the public key, which everyone has, taken for a secret."""
    signed = f"{json_text({'alg': 'HS256', 'kid': 'a'})}.{json_text(CLAIMS)}"
    return f"{signed}.{encoded(hmac.digest(str(KEYS['a']['n']).encode(), signed.encode(), hashlib.sha256))}"


def changed() -> str:
    header, _, signature = token(CLAIMS).split(".")
    return f"{header}.{json_text(CLAIMS | {'sub': 'admin'})}.{signature}"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (unsigned(), "signature is wrong"),
        (signed_with_the_public_key(), "signature is wrong"),
        (changed(), "signature is wrong"),
        (token(CLAIMS, "RS256", "p"), "signature is wrong"),
        (token(CLAIMS, "RS256", "stranger"), "a key that the issuer does not have"),
        (token(CLAIMS, "ES256", "b")[:-4], "signature is wrong"),
        (token(CLAIMS).rpartition(".")[0] + ".", "3 dot-separated"),
        ("a.b.c.d", "3 dot-separated"),
        ("!.!.!", "malformed"),
        ("x" * 70_000 + ".b.c", "3 dot-separated"),
    ],
)
def test_what_the_issuer_has_not_signed(value: str, says: str) -> None:
    with pytest.raises(IllegalTokenError, match=says):
        VALIDATOR.validate(value, NOW_MS)
