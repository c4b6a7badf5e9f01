"""The broker's end of GSSAPI: tokens, the offer, the choice, and clients that do not keep to it."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.security.kerberos.gssapi_sasl_client import GssapiSaslClient
from kafka_lite.security.kerberos.gssapi_sasl_server import VALID_PREVIOUS_STATES, GssapiSaslServer, GssapiServerState
from kafka_lite.security.sasl.sasl_mechanism import SaslError
from tests.support.fake_gss import FakeContext

OFFER, CHOICE = b"key:\1\0\0\0", b"key:\1\0\0\0"


def server(*tokens: bytes) -> GssapiSaslServer:
    return GssapiSaslServer(lambda: FakeContext(*tokens, awaits=1))


def test_a_client_that_asks_for_a_proof_gets_it_before_the_offer(caplog: pytest.LogCaptureFixture) -> None:
    end = server(b"proof")
    assert end.evaluate_response(b"ticket") == b"proof"
    assert end.evaluate_response(b"") == OFFER
    assert not end.complete
    with caplog.at_level(logging.INFO):
        assert end.evaluate_response(CHOICE + b"root@R") is None
    assert end.complete
    assert end.authorization_id == "alice@EXAMPLE.COM"  # whoever it wanted to be
    assert "authenticationID=alice@EXAMPLE.COM; authorizationID=root@R" in caplog.text


def test_a_client_that_asks_for_none_gets_the_offer_at_once() -> None:
    end = server()
    assert end.evaluate_response(b"ticket") == OFFER
    assert end.evaluate_response(CHOICE) is None
    assert end.complete


def test_a_context_may_need_several_tokens() -> None:
    end = GssapiSaslServer(lambda: FakeContext(b"one", awaits=2))
    assert end.evaluate_response(b"a") == b"one"
    assert end.state is GssapiServerState.CONTEXT
    assert end.evaluate_response(b"b") == OFFER


def test_data_in_place_of_the_empty_token() -> None:
    end = server(b"proof")
    end.evaluate_response(b"ticket")
    with pytest.raises(SaslError, match="expecting no response data"):
        end.evaluate_response(b"x")


@pytest.mark.parametrize("choice", [b"", b"\1\0\0\0", b"key:", b"key:\4\0\0\0"])
def test_a_choice_that_is_forged_short_or_not_offered(choice: bytes) -> None:
    end = server()
    end.evaluate_response(b"ticket")
    with pytest.raises(SaslError):
        end.evaluate_response(choice)
    assert not end.complete


def test_nobody_is_known_before_the_end_nor_authenticates_twice() -> None:
    end = server()
    end.evaluate_response(b"ticket")
    with pytest.raises(RuntimeError, match="has not completed"):
        _ = end.authorization_id
    end.evaluate_response(CHOICE)
    with pytest.raises(SaslError, match="already complete"):
        end.evaluate_response(b"ticket")


def test_no_context_is_made_before_the_first_token() -> None:
    def fails() -> FakeContext:
        raise SaslError("no key")

    end = GssapiSaslServer(fails)
    with pytest.raises(SaslError, match="no key"):
        end.evaluate_response(b"ticket")


@pytest.mark.parametrize("mutual", [True, False])
def test_both_ends_agree(mutual: bool) -> None:
    client = GssapiSaslClient(lambda: FakeContext(b"ticket", awaits=2 if mutual else 1))
    end = server(*([b"proof"] if mutual else []))
    token = client.evaluate_challenge(b"")
    while not end.complete:
        assert token is not None
        answer = end.evaluate_response(token)
        if answer is not None:
            token = client.evaluate_challenge(answer)
    assert client.complete
    assert end.authorization_id == "alice@EXAMPLE.COM"


@pytest.mark.parametrize("state", GssapiServerState)
def test_every_state_is_in_the_table(state: GssapiServerState) -> None:
    assert state not in VALID_PREVIOUS_STATES[state]
    assert state.name in (GssapiServerState.__doc__ or "")


def test_a_transition_outside_of_the_table_is_a_bug() -> None:
    end = server()
    with pytest.raises(RuntimeError, match="cannot go from CONTEXT to COMPLETE"):
        end._transition_to(GssapiServerState.COMPLETE)
