"""Both sides of DIGEST-MD5: the RFC's example, each other, and what neither accepts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.zookeeper.digest_md5 import (
    DigestError,
    DigestMd5Client,
    DigestMd5Server,
    encode_directives,
    parse_directives,
    response_value,
)
from tests.support.examples import examples

USERS = {"kafka": "secret"}


def exchange(client: DigestMd5Client, server: DigestMd5Server) -> None:
    """All four messages. Raises DigestError."""
    token = b""
    while not client.is_complete:
        token = client.evaluate_challenge(server.evaluate_response(token))


def test_the_example_of_the_rfc() -> None:
    """RFC 2831, section 4."""
    fields = {
        "username": "chris", "realm": "elwood.innosoft.com", "nonce": "OA6MG9tEQGm2hh", "nc": "00000001",
        "cnonce": "OA6MHXh6VqTrRk", "digest-uri": "imap/elwood.innosoft.com", "qop": "auth",
    }  # fmt: skip
    assert response_value(fields, "secret", "AUTHENTICATE") == "d388dad90d4bbd760a152321f2143af7"
    assert response_value(fields, "secret", "") == "ea40f60335c427b5527b84dbabcdfffd"


@given(st.text(min_size=1, max_size=20), st.text(max_size=20))
@settings(max_examples=examples(100), deadline=None)
def test_both_sides_agree_on_any_user_and_password(user: str, password: str) -> None:
    server = DigestMd5Server({user: password})
    exchange(DigestMd5Client(user, password), server)
    assert server.authorization_id == user


@pytest.mark.parametrize(("user", "password"), [("kafka", "wrong"), ("nobody", "secret"), ("", ""), ("kafka", "")])
def test_a_wrong_user_and_a_wrong_password_have_the_same_error(user: str, password: str) -> None:
    server = DigestMd5Server(USERS)
    with pytest.raises(DigestError, match=r"^wrong user or password$"):
        exchange(DigestMd5Client(user, password), server)
    assert server.authorization_id is None


def test_a_server_that_does_not_know_the_password_is_no_server() -> None:
    client = DigestMd5Client("kafka", "secret")
    client.evaluate_challenge(DigestMd5Server(USERS).evaluate_response(b""))
    for rspauth in (b"rspauth=0123", b'rspauth="\xc3\xb6"', b""):
        with pytest.raises(DigestError, match="does not know the password"):
            client.evaluate_challenge(rspauth)
    assert not client.is_complete


def test_a_recorded_response_cannot_be_sent_again() -> None:
    first, client = DigestMd5Server(USERS), DigestMd5Client("kafka", "secret")
    token = client.evaluate_challenge(first.evaluate_response(b""))
    first.evaluate_response(token)
    with pytest.raises(DigestError, match="already complete"):
        first.evaluate_response(token)
    second = DigestMd5Server(USERS)
    second.evaluate_response(b"")
    with pytest.raises(DigestError, match="another nonce"):
        second.evaluate_response(token)


@pytest.mark.parametrize(
    ("field", "value"),
    [("nonce", "x"), ("nc", "00000002"), ("digest-uri", "imap/x"), ("qop", "auth-int"), ("realm", "other")],
)
def test_a_response_about_something_else_is_refused(field: str, value: str) -> None:
    server = DigestMd5Server(USERS)
    fields = parse_directives(DigestMd5Client("kafka", "secret").evaluate_challenge(server.evaluate_response(b"")))
    with pytest.raises(DigestError, match=f"another {field}"):
        server.evaluate_response(encode_directives(fields | {field: value}))


def test_a_user_is_not_authorized_as_another_one() -> None:
    server = DigestMd5Server(USERS)
    fields = parse_directives(DigestMd5Client("kafka", "secret").evaluate_challenge(server.evaluate_response(b"")))
    fields["authzid"] = "admin"
    fields["response"] = response_value(fields, "secret", "AUTHENTICATE")
    with pytest.raises(DigestError, match="only be authorized as itself"):
        server.evaluate_response(encode_directives(fields))


@pytest.mark.parametrize(
    ("token", "why"),
    [
        (b"x" * 4097, "longer than 4096"),
        (b"\xff", "not UTF-8"),
        (b"nonce", "cannot be read"),
        (b'nonce="open', "cannot be read"),
        (b"nonce=a,nonce=b", "cannot be read"),
        (b"realm=x", "no nonce"),
    ],
)
def test_bad_tokens_are_refused(token: bytes, why: str) -> None:
    with pytest.raises(DigestError, match=why):
        DigestMd5Client("kafka", "secret").evaluate_challenge(token)


def test_quotes_in_a_value_are_escaped() -> None:
    fields = {"username": 'a"b\\c,d=e', "nc": "00000001"}
    assert encode_directives(fields) == b'username="a\\"b\\\\c,d=e",nc=00000001'
    assert parse_directives(encode_directives(fields)) == fields
