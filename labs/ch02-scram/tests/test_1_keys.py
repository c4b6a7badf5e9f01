"""Task 1: keys and proofs."""

import pytest


@pytest.mark.points(8, task=1)
def test_a_credential(formatter, rfc):
    """The credential of RFC 7677's user"""
    made = formatter.credential_of(rfc.salted, rfc.salt, 4096)
    assert made.stored_key == rfc.credential.stored_key, (
        "StoredKey is the hash of ClientKey: the broker keeps no ClientKey"
    )
    assert made.server_key == rfc.credential.server_key, "ServerKey = HMAC(SaltedPassword, 'Server Key')"
    assert (made.salt, made.iterations) == (rfc.salt, 4096), "salt and iterations are kept, for the client needs them"


@pytest.mark.points(8, task=1)
def test_a_proof(formatter, rfc):
    """The proof of RFC 7677"""
    made = formatter.client_proof(rfc.salted, rfc.auth_message)
    assert made == rfc.proof, "ClientProof = ClientKey XOR HMAC(StoredKey, AuthMessage)"


@pytest.mark.points(9, task=1)
def test_a_proof_is_checked(formatter, rfc):
    """Right, about another message, with another key, too short"""
    stored_key = rfc.credential.stored_key
    assert formatter.proves(rfc.proof, stored_key, rfc.auth_message) is True, "it is the proof of this message"
    assert not formatter.proves(rfc.proof, stored_key, rfc.auth_message + b" "), "it is about another message"
    assert not formatter.proves(rfc.proof, rfc.credential.server_key, rfc.auth_message), "it was made with another key"
    for proof in (b"", rfc.proof[:-1], rfc.proof + b"\0"):
        try:
            verdict = formatter.proves(proof, stored_key, rfc.auth_message)
        except ValueError:
            verdict = "a ValueError"
        assert verdict is False, f"a proof of {len(proof)} bytes proves nothing: False, not {verdict}"
