from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.security.sasl.sasl_mechanism import SaslError
from kafka_lite.security.scram.scram_formatter import sasl_name
from kafka_lite.security.scram.scram_messages import (
    ClientFinalMessage,
    ClientFirstMessage,
    ServerFinalMessage,
    ServerFirstMessage,
    auth_message,
)
from tests.support.kafka_security_samples import accepted, refused


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def shown(kind: str, data: bytes) -> str:
    """A message as the recording shows it."""
    match kind:
        case "client_first_message":
            first = ClientFirstMessage.decode(data)
            pairs = ", ".join(f"{key}={value}" for key, value in sorted(first.extensions.items()))
            return f"{first.authorization_id}|{first.name}|{first.nonce}|{{{pairs}}}"
        case "client_final_message":
            final = ClientFinalMessage.decode(data)
            return f"{final.channel_binding.decode('latin-1')}|{final.nonce}|{_base64(final.proof)}"
        case "server_first_message":
            server = ServerFirstMessage.decode(data)
            return f"{server.nonce}|{_base64(server.salt)}|{server.iterations}"
        case _:
            last = ServerFinalMessage.decode(data)
            return f"{'null' if last.error is None else last.error}|{_base64(last.server_signature)}"


KINDS = ("client_first_message", "client_final_message", "server_first_message", "server_final_message")


@pytest.mark.parametrize(
    ("kind", "text", "parts"), [(kind, given[0], parts) for kind in KINDS for given, parts in accepted(kind)]
)
def test_a_message_is_read_as_kafka_reads_it(kind: str, text: str, parts: str) -> None:
    assert shown(kind, text.encode()) == parts


@pytest.mark.parametrize(("kind", "text"), [(kind, given[0]) for kind in KINDS for given in refused(kind)])
def test_a_message_that_kafka_refuses_is_refused(kind: str, text: str) -> None:
    with pytest.raises(SaslError, match="Invalid SCRAM"):
        shown(kind, text.encode())


def test_messages_are_written_as_rfc_5802_writes_them() -> None:
    first = ClientFirstMessage("user", "fyko+d2lbbFgONRv9qkxdawL")
    nonce = "fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j"
    server = ServerFirstMessage(nonce, base64.b64decode("QSXCR+Q6sek8bf92"), 4096)
    final = ClientFinalMessage(b"n,,", nonce, base64.b64decode("v0X8v3Bz2T0CJGbJQyF0X+HI4Ts="))
    last = ServerFinalMessage(server_signature=base64.b64decode("rmF9pqV8S7suAoZWja4dJRkFsKQ="))

    assert first.encode() == b"n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL"
    assert server.encode() == b"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096"
    assert final.encode() == (b"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=")
    assert last.encode() == b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ="
    assert ServerFinalMessage("other-error").encode() == b"e=other-error"
    assert auth_message(first, server, final) == first.encode()[3:] + b"," + server.encode() + b"," + (
        b"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j"
    )


def test_extensions_are_signed() -> None:
    message = ClientFirstMessage("id", "abc", extensions={"tokenauth": "true"})

    assert message.bare == "n=id,r=abc,tokenauth=true"
    assert message.token_authenticated
    assert not ClientFirstMessage("id", "abc").token_authenticated
    assert not ClientFirstMessage("id", "abc", extensions={"tokenauth": "no"}).token_authenticated


NAMES = st.text(st.characters(min_codepoint=1, max_codepoint=0x7F), min_size=1)
NONCES = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters=","), min_size=1)


@given(NAMES, NONCES)
def test_a_client_s_message_comes_back(name: str, nonce: str) -> None:
    message = ClientFirstMessage(sasl_name(name), nonce)
    assert ClientFirstMessage.decode(message.encode()) == message


@given(NONCES, st.binary(), st.integers(1, 2**31 - 1), st.binary())
def test_the_others_come_back(nonce: str, data: bytes, iterations: int, proof: bytes) -> None:
    server = ServerFirstMessage(nonce, data, iterations)
    assert ServerFirstMessage.decode(server.encode()) == server
    final = ClientFinalMessage(data, nonce, proof)
    assert ClientFinalMessage.decode(final.encode()) == final
    last = ServerFinalMessage(server_signature=data)
    assert ServerFinalMessage.decode(last.encode()) == last


def test_thousands_of_digits_are_no_iterations() -> None:
    with pytest.raises(SaslError, match="iterations"):
        ServerFirstMessage.decode(b"r=a,s=AAAA,i=" + b"9" * 10_000)
