from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.security.scram.scram_credential import ScramCredential
from kafka_lite.security.scram.scram_formatter import ScramFormatter, sasl_name, secure_random_string, username, xor
from kafka_lite.security.scram.scram_mechanism import SCRAM_MECHANISM_NAMES, ScramMechanism
from tests.support.kafka_security_samples import accepted, refused


@pytest.mark.parametrize(("given", "text"), accepted("scram_credential"))
def test_a_credential_is_the_one_that_kafka_makes(given: list[str], text: str) -> None:
    name, password, salt, iterations = given
    mechanism = ScramMechanism.for_mechanism_name(name)
    assert mechanism is not None

    credential = ScramFormatter(mechanism).credential(password, salt.encode(), int(iterations))

    assert credential.to_string() == text
    assert ScramCredential.from_string(text) == credential


def test_the_keys_of_rfc_7677() -> None:
    formatter = ScramFormatter(ScramMechanism.SCRAM_SHA_256)
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    salted = formatter.salted_password("pencil", base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096)
    message = f"n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r={nonce}".encode()

    proof = formatter.client_proof(salted, message)

    assert base64.b64encode(proof) == b"dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    signature = formatter.server_signature(formatter.server_key(salted), message)
    assert base64.b64encode(signature) == b"6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    stored_key = formatter.hash(formatter.client_key(salted))
    assert formatter.proves(proof, stored_key, message)
    assert not formatter.proves(proof, stored_key, message + b" ")
    assert not formatter.proves(proof[:-1], stored_key, message)
    assert not formatter.proves(b"", stored_key, message)


def test_a_generated_credential_has_a_salt_of_its_own() -> None:
    formatter = ScramFormatter(ScramMechanism.SCRAM_SHA_512)
    first, second = (formatter.generate_credential("secret", 4096) for _ in range(2))

    assert first.salt != second.salt
    assert first == formatter.credential("secret", first.salt, 4096)
    assert len(first.stored_key) == len(first.server_key) == 64


def test_a_nonce_is_short_and_new() -> None:
    nonces = {secure_random_string() for _ in range(50)}

    assert len(nonces) == 50
    assert all(20 <= len(nonce) <= 26 and nonce.isalnum() for nonce in nonces)


@pytest.mark.parametrize(("given", "name"), accepted("sasl_name"))
def test_commas_and_equals_signs_are_escaped(given: list[str], name: str) -> None:
    assert sasl_name(given[0]) == name


@pytest.mark.parametrize(("given", "name"), accepted("user_name"))
def test_an_escaped_name_is_read(given: list[str], name: str) -> None:
    assert username(given[0]) == name


@pytest.mark.parametrize("given", refused("user_name"))
def test_a_bare_equals_sign_is_refused(given: list[str]) -> None:
    with pytest.raises(ValueError, match="Invalid username"):
        username(given[0])


@given(st.text())
def test_any_name_comes_back(name: str) -> None:
    assert username(sasl_name(name)) == name


def test_xor_refuses_different_lengths() -> None:
    assert xor(b"\x0f\xf0", b"\xff\xff") == b"\xf0\x0f"
    with pytest.raises(ValueError):
        xor(b"ab", b"a")


def test_the_mechanisms_have_kafka_s_names() -> None:
    assert SCRAM_MECHANISM_NAMES == ("SCRAM-SHA-256", "SCRAM-SHA-512")
    assert [mechanism.type for mechanism in ScramMechanism] == [1, 2]
    assert ScramMechanism.for_mechanism_name("SCRAM-SHA-1") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "salt=c2FsdA==,stored_key=AAAA,server_key=AAAA",
        "salt=c2FsdA==,stored_key=AAAA,server_key=AAAA,iterations=4096,more=1",
        "salt=c2FsdA,stored_key=AAAA,server_key=AAAA,iterations=4096",
        "salt=c2FsdA==,stored_key=AAAA,server_key=AAAA,iterations=many",
        "salt=c2FsdA==,stored_key=A!AA,server_key=AAAA,iterations=4096",
    ],
)
def test_a_credential_that_is_not_complete_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="Credentials not valid") as raised:
        ScramCredential.from_string(text)
    assert "AAAA" not in str(raised.value)


def test_the_parts_of_a_credential_may_come_in_any_order() -> None:
    text = "iterations=4096,server_key=AQ==,salt=c2FsdA==,stored_key=Ag=="

    assert ScramCredential.from_string(text) == ScramCredential(b"salt", b"\2", b"\1", 4096)


def test_the_keys_do_not_show_in_logs() -> None:
    assert (
        repr(ScramCredential(b"salt", b"stored", b"server", 4096)) == "ScramCredential(salt=b'salt', iterations=4096)"
    )
