from __future__ import annotations

import base64

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.security.sasl.sasl_mechanism import SaslError
from kafka_lite.security.scram.scram_credential import ScramCredential
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from kafka_lite.security.scram.scram_messages import ClientFinalMessage
from kafka_lite.security.scram.scram_sasl_client import ScramSaslClient
from kafka_lite.security.scram.scram_sasl_server import VALID_PREVIOUS_STATES, ScramSaslServer, ScramServerState

MECHANISM = ScramMechanism.SCRAM_SHA_256
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
CREDENTIAL = ScramFormatter(MECHANISM).credential("pencil", SALT, 4096)
FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
BOTH = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
FINAL = b"c=biws," + BOTH + b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="


def server(credential: ScramCredential | None = CREDENTIAL) -> ScramSaslServer:
    users = {"user": credential}
    return ScramSaslServer(MECHANISM, users.get, nonce=lambda: "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")


def test_the_exchange_of_rfc_7677() -> None:
    end = server()

    assert end.evaluate_response(FIRST) == BOTH + b",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    assert not end.complete
    assert end.evaluate_response(FINAL) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert end.complete
    assert end.authorization_id == "user"
    assert not end.token_authenticated


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (b"n,,n=nobody,r=abc", "Invalid user credentials"),
        (b"n,,n=user,r=abc,tokenauth=true", "Invalid tokenId"),
        (b"garbage", "Invalid SCRAM client first message format"),
        (b"", "Invalid SCRAM client first message format"),
        (b"\xff" * 100, "Invalid SCRAM client first message format"),
        (FINAL, "Invalid SCRAM client first message format"),
    ],
)
def test_a_bad_first_message_fails_and_tells_the_client_nothing(message: bytes, why: str) -> None:
    end = server()

    with pytest.raises(SaslError, match=why):
        end.evaluate_response(message)
    assert end.state is ScramServerState.FAILED


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (FINAL.replace(b"p=d", b"p=e"), "Invalid client credentials"),
        (b"c=biws," + BOTH + b",p=", "Invalid client credentials"),
        (FINAL.replace(b"%hv", b"%hw"), "Invalid client nonce"),
        (FINAL.replace(b"r=rO", b"r=xrO"), "Invalid client nonce"),
        (FINAL.replace(b"c=biws", b"c=eSws"), "Invalid client credentials"),  # the proof is about another message
        (FIRST, "Invalid SCRAM client final message format"),
    ],
)
def test_a_bad_proof_fails(message: bytes, why: str) -> None:
    end = server()
    end.evaluate_response(FIRST)

    with pytest.raises(SaslError, match=why):
        end.evaluate_response(message)
    assert end.state is ScramServerState.FAILED


def test_the_wrong_password_fails() -> None:
    end, client = server(), ScramSaslClient(MECHANISM, "user", "pen")
    final = client.evaluate_challenge(end.evaluate_response(client.evaluate_challenge(b"") or b""))
    assert final is not None

    with pytest.raises(SaslError, match="Invalid client credentials"):
        end.evaluate_response(final)


def test_a_recorded_exchange_cannot_be_played_again() -> None:
    end = ScramSaslServer(MECHANISM, {"user": CREDENTIAL}.get)
    end.evaluate_response(FIRST)

    with pytest.raises(SaslError, match="Invalid client nonce"):
        end.evaluate_response(FINAL)


def test_another_authorization_id_is_refused_and_the_client_may_know_why() -> None:
    with pytest.raises(ApiError, match="different from username") as raised:
        server().evaluate_response(b"n,a=admin,n=user,r=abc")
    assert raised.value.error is Errors.SASL_AUTHENTICATION_FAILED


def test_the_own_authorization_id_is_accepted() -> None:
    end = server()

    first = end.evaluate_response(b"n,a=user,n=user,r=abc")
    formatter = ScramFormatter(MECHANISM)
    final = ClientFinalMessage(b"n,a=user,", first.decode().split(",")[0].removeprefix("r="))
    message = b"n=user,r=abc," + first + b"," + final.without_proof.encode()
    proof = formatter.client_proof(formatter.salted_password("pencil", SALT, 4096), message)
    end.evaluate_response(ClientFinalMessage(final.channel_binding, final.nonce, proof).encode())

    assert end.complete


def test_too_few_iterations_are_refused() -> None:
    weak = ScramFormatter(MECHANISM).credential("pencil", SALT, 4095)

    with pytest.raises(SaslError, match="4095 is less than the minimum 4096 for SCRAM_SHA_256"):
        server(weak).evaluate_response(FIRST)


def test_a_message_after_the_end_is_refused() -> None:
    end = server()
    end.evaluate_response(FIRST)
    end.evaluate_response(FINAL)

    with pytest.raises(ApiError, match="COMPLETE"):
        end.evaluate_response(FINAL)
    assert not end.complete
    with pytest.raises(ApiError, match="FAILED"):
        end.evaluate_response(FIRST)


def test_nobody_is_known_before_the_end() -> None:
    end = server()
    end.evaluate_response(FIRST)

    with pytest.raises(RuntimeError, match="has not completed"):
        _ = end.authorization_id


def test_every_state_is_explained() -> None:
    documentation = ScramServerState.__doc__ or ""
    assert all(state.name in documentation for state in ScramServerState)
    assert set(VALID_PREVIOUS_STATES) == set(ScramServerState)
