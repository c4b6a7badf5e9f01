from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.security.plain.plain_sasl_client import PlainSaslClient
from kafka_lite.security.plain.plain_sasl_server import PlainSaslServer, plain_users
from kafka_lite.security.sasl.sasl_mechanism import SaslError

USERS = plain_users({"username": "broker", "password": "x", "user_alice": "secret", "user_empty": ""})


def test_a_user_with_its_password_is_known() -> None:
    server, client = PlainSaslServer(USERS), PlainSaslClient("alice", "secret")

    token = client.evaluate_challenge(b"")

    assert token == b"\0alice\0secret"
    assert server.evaluate_response(token) == b""
    assert server.complete
    assert client.complete
    assert server.authorization_id == "alice"


@pytest.mark.parametrize(
    ("token", "why"),
    [
        (b"\0alice\0wrong", "Invalid username or password"),
        (b"\0nobody\0secret", "Invalid username or password"),
        (b"\0broker\0x", "Invalid username or password"),
        (b"\0empty\0x", "Invalid username or password"),
        (b"\0empty\0", "password not specified"),
        (b"\0\0secret", "username not specified"),
        (b"admin\0alice\0secret", "authorization id that is different from username"),
        (b"", "expected 3 tokens, got 1"),
        (b"\0alice", "expected 3 tokens, got 2"),
        (b"\0alice\0secret\0", "expected 3 tokens, got 4"),
        (b"\0" * 100, "expected 3 tokens, got 4"),
        (b"\0alice\0\xff\xfe", "Invalid username or password"),
    ],
)
def test_anything_else_is_refused(token: bytes, why: str) -> None:
    server = PlainSaslServer(USERS)

    with pytest.raises(ApiError, match=why) as raised:
        server.evaluate_response(token)
    assert raised.value.error is Errors.SASL_AUTHENTICATION_FAILED
    assert not server.complete


def test_the_own_authorization_id_is_accepted() -> None:
    server = PlainSaslServer(USERS)
    server.evaluate_response(b"alice\0alice\0secret")
    assert server.authorization_id == "alice"


def test_a_wrong_user_and_a_wrong_password_look_the_same() -> None:
    errors = set()
    for token in (b"\0nobody\0secret", b"\0alice\0wrong"):
        with pytest.raises(ApiError) as raised:
            PlainSaslServer(USERS).evaluate_response(token)
        errors.add(str(raised.value))
    assert len(errors) == 1


def test_nobody_is_known_before_the_end() -> None:
    with pytest.raises(RuntimeError, match="has not completed"):
        _ = PlainSaslServer(USERS).authorization_id


def test_a_client_sends_one_token() -> None:
    client = PlainSaslClient("alice", "secret")
    client.evaluate_challenge(b"")

    with pytest.raises(SaslError, match="already completed"):
        client.evaluate_challenge(b"")


@pytest.mark.parametrize(("user", "password"), [("a\0b", "c"), ("a", "b\0c")])
def test_a_separator_in_a_name_is_refused(user: str, password: str) -> None:
    with pytest.raises(ValueError, match="zero byte"):
        PlainSaslClient(user, password)
