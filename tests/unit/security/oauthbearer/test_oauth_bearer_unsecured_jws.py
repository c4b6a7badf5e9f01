from __future__ import annotations

import base64
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.security.oauthbearer.oauth_bearer_unsecured_jws import (
    IllegalTokenError,
    UnsecuredValidator,
    new_unsecured_token,
    read_unsecured_token,
)

NOW_MS = 1_500_000_000_000
ALICE = {"unsecuredLoginStringClaim_sub": "alice"}


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def token(header: object = None, signature: str = "", **claims: Any) -> str:
    found = {"sub": "alice", "exp": NOW_MS / 1000 + 60, "iat": NOW_MS / 1000} | claims
    kept = {key: value for key, value in found.items() if value is not None}
    return f"{encoded({'alg': 'none'} if header is None else header)}.{encoded(kept)}.{signature}"


def test_a_token_names_its_user_its_time_and_its_scope() -> None:
    found = read_unsecured_token(token(scope=["a", " b ", ""]))

    assert found.principal_name == "alice"
    assert (found.start_time_ms, found.lifetime_ms) == (NOW_MS, NOW_MS + 60_000)
    assert found.scope == {"a", "b"}
    assert read_unsecured_token(token(scope="a b")).scope == {"a b"}
    assert read_unsecured_token(token(iat=None)).start_time_ms is None
    assert read_unsecured_token(token(user="bob", roles=["r"]), "user", "roles").principal_name == "bob"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "3 dot-separated"),
        ("a.b", "3 dot-separated"),
        ("..", "3 dot-separated"),
        (token() + ".", "3 dot-separated"),
        ("!!!.e30.", "malformed"),
        (token(header={"alg": "HS256"}), "must have 'none'"),
        (token(header={}), "must have 'none'"),
        (token(header=[]), "malformed JSON"),
        (token(signature="c2ln"), "must not contain a digital signature"),
        (token(exp=None), "No expiration time"),
        (token(exp="soon"), "'exp' claim was not a number"),
        (token(exp=True), "'exp' claim was not a number"),
        (token(exp=float("inf")), "'exp' claim was not a number"),
        (token(exp=float("nan")), "'exp' claim was not a number"),
        (token(iat="now"), "'iat' claim was not a number"),
        (token(sub=None), "No principal name in JWT claim: sub"),
        (token(sub="  "), "No principal name"),
        (token(sub=7), "No principal name"),
        (token(exp=NOW_MS / 1000), "not after the time of issue"),
    ],
)
def test_a_bad_token_is_refused(text: str, why: str) -> None:
    with pytest.raises(IllegalTokenError, match=why):
        read_unsecured_token(text)


@given(st.text(st.sampled_from("aZ0-_.=eyJ"), max_size=30))
def test_garbage_is_read_or_refused(text: str) -> None:
    with suppress(IllegalTokenError):
        read_unsecured_token(text)


def test_the_time_decides() -> None:
    validator = UnsecuredValidator()

    assert validator.validate(token(), NOW_MS).principal_name == "alice"
    assert validator.validate(token(), NOW_MS + 59_999)
    with pytest.raises(IllegalTokenError, match="expired"):
        validator.validate(token(), NOW_MS + 60_000)
    with pytest.raises(IllegalTokenError, match="issued after"):
        validator.validate(token(), NOW_MS - 1)


def test_clocks_may_differ_as_much_as_configured() -> None:
    validator = UnsecuredValidator.of({"unsecuredValidatorAllowableClockSkewMs": "1000"})

    assert validator.validate(token(), NOW_MS - 1000)
    assert validator.validate(token(), NOW_MS + 60_999)
    with pytest.raises(IllegalTokenError):
        validator.validate(token(), NOW_MS + 61_000)


def test_a_missing_scope_is_named() -> None:
    validator = UnsecuredValidator.of({"unsecuredValidatorRequiredScope": "read write"})

    assert validator.validate(token(scope=["write", "read"]), NOW_MS)
    with pytest.raises(IllegalTokenError, match="lacks the scope write") as raised:
        validator.validate(token(scope=["read"]), NOW_MS)
    assert raised.value.failure_scope == "[read, write]"


def test_the_broker_s_options() -> None:
    options = {"unsecuredValidatorPrincipalClaimName": "user", "unsecuredValidatorScopeClaimName": "roles"}
    assert UnsecuredValidator.of(options) == UnsecuredValidator("user", "roles")
    for skew in ("-1", "1s", "1.5"):
        with pytest.raises(ValueError, match="AllowableClockSkewMs"):
            UnsecuredValidator.of({"unsecuredValidatorAllowableClockSkewMs": skew})


def test_a_client_makes_a_token_of_its_options() -> None:
    made = new_unsecured_token(
        ALICE
        | {
            "unsecuredLoginLifetimeSeconds": "60",
            "unsecuredLoginListClaim_scope": "|a|b",
            "unsecuredLoginNumberClaim_level": "7",
            "unsecuredLoginListClaim_none": "",
            "unsecuredLoginExtension_traceId": "123",
        },
        NOW_MS,
    )

    assert (made.principal_name, made.lifetime_ms, made.scope) == ("alice", NOW_MS + 60_000, {"a", "b"})
    assert made.value.endswith(".")
    claims = json.loads(base64.urlsafe_b64decode(made.value.split(".")[1] + "=="))
    assert claims["level"] == 7.0
    assert claims["none"] == []
    assert "traceId" not in claims
    assert new_unsecured_token(ALICE, NOW_MS).lifetime_ms == NOW_MS + 3_600_000


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, 'add unsecuredLoginStringClaim_sub="…"'),
        ({"unsecuredLoginPrincipalClaimName": "user"} | ALICE, 'add unsecuredLoginStringClaim_user="…"'),
        ({"unsecuredLoginNumberClaim_exp": "1"} | ALICE, "Cannot explicitly set the 'exp' claim"),
        ({"unsecuredLoginLifetimeSeconds": "long"} | ALICE, "number of seconds"),
        ({"unsecuredLoginNumberClaim_x": "many"} | ALICE, "many"),
    ],
)
def test_options_that_make_no_token_are_refused(options: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        new_unsecured_token(options, NOW_MS)
