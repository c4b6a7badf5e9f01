from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.security.oauthbearer.oauth_bearer_sasl_client import (
    VALID_PREVIOUS_STATES,
    OAuthBearerClientState,
    OAuthBearerSaslClient,
)
from kafka_lite.security.oauthbearer.oauth_bearer_sasl_server import OAuthBearerSaslServer
from kafka_lite.security.oauthbearer.oauth_bearer_unsecured_jws import UnsecuredValidator, new_unsecured_token
from kafka_lite.security.sasl.sasl_mechanism import SaslError

NOW_MS = 1_500_000_000_000
TOKEN = new_unsecured_token({"unsecuredLoginStringClaim_sub": "alice"}, NOW_MS)


def server(now_ms: int = NOW_MS, **rules: object) -> OAuthBearerSaslServer:
    validator = UnsecuredValidator(**rules)  # type: ignore[arg-type]
    return OAuthBearerSaslServer(lambda value: validator.validate(value, now_ms))


def first(value: str = TOKEN.value, authorization_id: str = "", more: str = "") -> bytes:
    return f"n,{authorization_id},\1auth=Bearer {value}\1{more}\1".encode()


def test_a_token_is_accepted_and_its_end_is_the_credential_s() -> None:
    end, client = server(), OAuthBearerSaslClient(TOKEN.value)
    message = client.evaluate_challenge(b"")
    assert message == first()

    assert client.evaluate_challenge(end.evaluate_response(message or b"")) is None

    assert client.complete
    assert end.complete
    assert end.authorization_id == "alice"
    assert end.credential_expiration_ms == TOKEN.lifetime_ms


def test_a_refused_token_takes_another_round() -> None:
    end, client = server(now_ms=TOKEN.lifetime_ms), OAuthBearerSaslClient(TOKEN.value)
    refusal = end.evaluate_response(client.evaluate_challenge(b"") or b"")
    assert refusal == b'{"status":"invalid_token"}'
    answer = client.evaluate_challenge(refusal)
    assert answer == b"\1"

    with pytest.raises(ApiError, match="invalid_token") as raised:
        end.evaluate_response(answer)
    assert raised.value.error is Errors.SASL_AUTHENTICATION_FAILED
    assert not client.complete
    assert not end.complete


def test_a_missing_scope_is_named() -> None:
    refusal = server(required_scope=("read",)).evaluate_response(first())
    assert refusal == b'{"status":"insufficient_scope", "scope":"[read]"}'


def test_the_own_authorization_id_and_extensions_are_accepted() -> None:
    end = server()
    assert end.evaluate_response(first(authorization_id="a=alice", more="traceId=1 2\1")) == b""
    assert end.complete


def test_another_authorization_id_is_refused() -> None:
    with pytest.raises(ApiError, match=r"authorization id \(bob\) that is different from the token's principal name"):
        server().evaluate_response(first(authorization_id="a=bob"))


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\1",
        b"n,,\1\1",
        b"n,,\1key=value\1\1",
        b"n,,\1auth=Bearer\1\1",
        b"n,,\1auth=Basic abc\1\1",
        b"y,,\1auth=Bearer abc\1\1",
        b"n,,\1auth=Bearer abc\1",
        b"n,,\1auth=Bearer abc def\1\1",
        b"n,a=,\1auth=Bearer abc\1\1",
        b"\xff" * 50,
    ],
)
def test_other_messages_are_refused(message: bytes) -> None:
    with pytest.raises(SaslError, match="OAUTHBEARER client first message"):
        server().evaluate_response(message)


def test_nobody_is_known_before_the_end() -> None:
    end = server()
    assert end.credential_expiration_ms is None
    with pytest.raises(RuntimeError, match="has not completed"):
        _ = end.authorization_id


def test_a_client_refuses_what_it_does_not_expect() -> None:
    begun, refused, done = (OAuthBearerSaslClient("t") for _ in range(3))
    with pytest.raises(SaslError, match="SEND_CLIENT_FIRST_MESSAGE"):
        begun.evaluate_challenge(b"you first")
    refused.evaluate_challenge(b"")
    refused.evaluate_challenge(b"{}")
    with pytest.raises(SaslError, match="RECEIVE_SERVER_MESSAGE_AFTER_FAILURE"):
        refused.evaluate_challenge(b"")
    done.evaluate_challenge(b"")
    done.evaluate_challenge(b"")
    with pytest.raises(SaslError, match="COMPLETE"):
        done.evaluate_challenge(b"")
    assert {each.state for each in (begun, refused, done)} == {OAuthBearerClientState.FAILED}


def test_every_state_is_explained() -> None:
    documentation = OAuthBearerClientState.__doc__ or ""
    assert all(state.name in documentation for state in OAuthBearerClientState)
    assert set(VALID_PREVIOUS_STATES) == set(OAuthBearerClientState)
