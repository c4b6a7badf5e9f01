from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.common.errors import ApiError
from kafka_lite.security.sasl.sasl_mechanism import SaslError
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from kafka_lite.security.scram.scram_sasl_client import VALID_PREVIOUS_STATES, ScramClientState, ScramSaslClient
from kafka_lite.security.scram.scram_sasl_server import ScramSaslServer
from tests.support.examples import examples

SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"


def client(password: str = "pencil") -> ScramSaslClient:
    return ScramSaslClient(ScramMechanism.SCRAM_SHA_256, "user", password, nonce=lambda: "rOprNGfwEbeRWgbNEkqO")


def test_the_exchange_of_rfc_7677() -> None:
    end = client()

    assert end.evaluate_challenge(b"") == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert end.evaluate_challenge(SERVER_FIRST) == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    assert not end.complete
    assert end.evaluate_challenge(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=") is None
    assert end.complete


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (SERVER_FIRST.replace(b"r=r", b"r=x"), "does not start with client nonce"),
        (SERVER_FIRST.replace(b"i=4096", b"i=1"), "Requested iterations 1 is less than the minimum 4096"),
        (b"garbage", "Invalid SCRAM server first message format"),
    ],
)
def test_a_server_that_cheats_with_its_first_message_gets_no_proof(message: bytes, why: str) -> None:
    end = client()
    end.evaluate_challenge(b"")

    with pytest.raises(SaslError, match=why):
        end.evaluate_challenge(message)
    assert end.state is ScramClientState.FAILED


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (b"v=AAAA", "Invalid server signature"),
        (b"v=", "Invalid server signature"),
        (b"e=invalid-proof", "failed with error: invalid-proof"),
        (b"", "Invalid SCRAM server final message format"),
    ],
)
def test_a_server_without_the_credential_is_found_out(message: bytes, why: str) -> None:
    end = client()
    end.evaluate_challenge(b"")
    end.evaluate_challenge(SERVER_FIRST)

    with pytest.raises(SaslError, match=why):
        end.evaluate_challenge(message)
    assert not end.complete


def test_the_client_begins() -> None:
    with pytest.raises(SaslError, match="Expected empty challenge"):
        client().evaluate_challenge(b"you first")


def test_a_message_after_the_end_is_refused() -> None:
    end = client()
    end.evaluate_challenge(b"")
    end.evaluate_challenge(SERVER_FIRST)
    end.evaluate_challenge(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")

    with pytest.raises(ApiError, match="Unexpected challenge in Sasl client state COMPLETE"):
        end.evaluate_challenge(b"")


@settings(max_examples=examples(15))
@given(st.text(st.characters(min_codepoint=1, max_codepoint=0x7F), min_size=1), st.text(min_size=1), st.booleans())
def test_both_ends_agree_whatever_the_name_and_the_password(name: str, password: str, strong: bool) -> None:
    mechanism = ScramMechanism.SCRAM_SHA_512 if strong else ScramMechanism.SCRAM_SHA_256
    credential = ScramFormatter(mechanism).generate_credential(password, mechanism.min_iterations)
    server, end = ScramSaslServer(mechanism, {name: credential}.get), ScramSaslClient(mechanism, name, password)
    challenge = b""
    while not end.complete:
        response = end.evaluate_challenge(challenge)
        if response is not None:
            challenge = server.evaluate_response(response)

    assert server.complete
    assert server.authorization_id == name


def test_every_state_is_explained() -> None:
    documentation = ScramClientState.__doc__ or ""
    assert all(state.name in documentation for state in ScramClientState)
    assert set(VALID_PREVIOUS_STATES) == set(ScramClientState)
