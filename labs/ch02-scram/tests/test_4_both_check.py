"""Task 4: both ends check."""

import base64

import pytest

from kafka_lite.security.scram.scram_sasl_client import ScramClientState
from kafka_lite.security.scram.scram_sasl_server import ScramServerState

ANOTHER = "the nonce is not that of this exchange: it may be a recorded message"


@pytest.mark.points(8, task=4)
def test_the_fourth_message(server, rfc):
    """The exchange of RFC 7677"""
    end = server()
    end.evaluate_response(rfc.client_first)
    answer = end.evaluate_response(rfc.client_final)
    assert answer == rfc.server_final, f"v= is the signature of all that was said, with ServerKey, not {answer}"
    assert end.complete, "the client has proved itself"
    assert end.authorization_id == "user", f"it is user, not {end.authorization_id}"


@pytest.mark.points(6, task=4)
def test_what_the_broker_refuses(server, rfc, error_of):
    """A wrong proof, another nonce, another header"""
    for old, new, says in (
        (b"p=dHzb", b"p=eHzb", "the proof is wrong"),
        (b"Ilj)hNlF$k0,", b"Ilj)hNlF$k1,", ANOTHER),
        (b"c=biws", b"c=eSws", "the proof is about another header: somebody has changed it"),
    ):
        end = server()
        end.evaluate_response(rfc.client_first)
        error_of(says, end.evaluate_response, rfc.client_final.replace(old, new))
        assert not end.complete, f"{says}: nobody is authenticated"
        assert end.state is ScramServerState.FAILED


@pytest.mark.points(3, task=4)
def test_a_proof_that_fits_another_nonce_is_refused(server, rfc, formatter, error_of):
    """A right proof of the wrong nonce"""
    end = server()
    first = end.evaluate_response(rfc.client_first)
    other = "c=biws,r=x" + rfc.nonce
    message = b",".join((rfc.client_first[3:], first, other.encode()))
    proof = base64.b64encode(formatter.client_proof(rfc.salted, message)).decode()
    error_of(ANOTHER, end.evaluate_response, f"{other},p={proof}".encode())


@pytest.mark.points(8, task=4)
def test_what_the_client_refuses(client, rfc, error_of):
    """A wrong signature, an error; then the right one"""
    for answer, says in (
        (rfc.server_final.replace(b"v=6", b"v=7"), "the signature is wrong: this broker does not know the user"),
        (b"e=other-error", "the broker says that something is wrong"),
        (b"v=", "no signature is a wrong one"),
    ):
        end = client()
        end.evaluate_challenge(rfc.server_first)
        error = error_of(says, end.evaluate_challenge, answer)
        assert not end.complete, f"{says}: the exchange is not complete"
        assert end.state is ScramClientState.FAILED
        if answer.startswith(b"e="):
            assert "other-error" in str(error), f"the message has the broker's error, other-error, in it, not: {error}"
    end = client()
    end.evaluate_challenge(rfc.server_first)
    assert end.evaluate_challenge(rfc.server_final) is None, "there is nothing more to send: None"
    assert end.complete, "both ends have proved themselves"
