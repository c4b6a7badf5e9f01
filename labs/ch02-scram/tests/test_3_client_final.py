"""Task 3: the client proves itself."""

import pytest

from kafka_lite.security.scram.scram_sasl_client import ScramClientState


@pytest.mark.points(8, task=3)
def test_the_third_message(client, rfc):
    """The exchange of RFC 7677"""
    end = client()
    message = end.evaluate_challenge(rfc.server_first)
    assert message == rfc.client_final, (
        f"c= repeats the header in base 64, r= both nonces, p= is the proof of all that was said before, not {message}"
    )
    assert end.state is ScramClientState.RECEIVE_SERVER_FINAL_MESSAGE, "now the client waits for the signature"
    assert client("pen").evaluate_challenge(rfc.server_first) != rfc.client_final, "another password, another proof"


@pytest.mark.points(7, task=3)
def test_a_nonce_of_somebody_else(client, rfc, error_of):
    """A nonce that does not begin with the client's"""
    for nonce in ("x" + rfc.nonce, rfc.server_nonce, rfc.nonce[1:]):
        end = client()
        message = rfc.server_first.replace(rfc.nonce.encode(), nonce.encode())
        says = "the nonce does not begin with the client's: it is the answer to somebody else"
        error_of(says, end.evaluate_challenge, message)
        assert end.state is ScramClientState.FAILED


@pytest.mark.points(5, task=3)
def test_iterations(client, rfc, error_of):
    """1, 4,095 and 5,000"""
    for iterations in (b"i=1", b"i=4095"):
        says = "so few iterations would make the password easy to guess from the proof"
        error_of(says, client().evaluate_challenge, rfc.server_first.replace(b"i=4096", iterations))
    assert client().evaluate_challenge(rfc.server_first.replace(b"i=4096", b"i=5000")), "more are welcome"
