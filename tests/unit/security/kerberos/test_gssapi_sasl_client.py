"""The client's end of GSSAPI."""

from __future__ import annotations

import pytest

from kafka_lite.security.kerberos.gssapi_sasl_client import GssapiSaslClient
from kafka_lite.security.sasl.sasl_mechanism import RetriableSaslError, SaslError
from tests.support.fake_gss import FakeContext


def test_a_ticket_an_empty_token_and_a_choice() -> None:
    context = FakeContext(b"ticket", awaits=2)
    client = GssapiSaslClient(lambda: context)
    assert client.evaluate_challenge(b"") == b"ticket"
    assert client.evaluate_challenge(b"proof") == b""
    assert not client.complete
    assert client.evaluate_challenge(b"key:\1\0\0\0") == b"key:\1\0\0\0alice@EXAMPLE.COM"
    assert client.complete
    assert context.given == [b"", b"proof"]
    with pytest.raises(SaslError, match="already complete"):
        client.evaluate_challenge(b"")


def test_an_offer_that_is_forged_or_insists_on_a_layer() -> None:
    for offer in (b"\1\0\0\0", b"key:\6\0\0\0"):
        client = GssapiSaslClient(lambda: FakeContext(b"ticket", awaits=1))
        client.evaluate_challenge(b"")
        with pytest.raises(SaslError):
            client.evaluate_challenge(offer)
        assert not client.complete


def test_a_ticket_is_asked_for_when_the_exchange_begins() -> None:
    asked = []

    def no_ticket() -> FakeContext:
        asked.append(1)
        raise RetriableSaslError("not yet valid")

    client = GssapiSaslClient(no_ticket)
    assert asked == []
    for _ in range(2):
        with pytest.raises(RetriableSaslError):
            client.evaluate_challenge(b"")
    assert asked == [1, 1]
