"""The choice of a layer: none, or the exchange ends."""

from __future__ import annotations

import pytest

from kafka_lite.security.kerberos.gssapi_security_layer import authorization_id_of, choice, offer
from kafka_lite.security.sasl.sasl_mechanism import SaslError


def test_no_layer_is_offered_and_chosen() -> None:
    assert offer() == b"\1\0\0\0"
    assert choice(offer(), "alice@R") == b"\1\0\0\0alice@R"
    assert authorization_id_of(b"\1\0\0\0alice@R") == "alice@R"
    assert authorization_id_of(b"\1\0\xff\xff") == ""


def test_a_broker_may_offer_more() -> None:
    assert choice(b"\7\0\xff\xff", "é") == b"\1\0\0\0\xc3\xa9"


@pytest.mark.parametrize(("offered", "says"), [(b"", "0 bytes"), (b"\1\0\0\0\0", "5 bytes"), (b"\6\0\0\0", "layers 6")])
def test_a_bad_offer(offered: bytes, says: str) -> None:
    with pytest.raises(SaslError, match=says):
        choice(offered, "alice")


@pytest.mark.parametrize(
    ("chosen", "says"), [(b"\1\0\0", "3 bytes"), (b"\2\0\0\0", "protection: 2"), (b"\0\0\0\0", "0")]
)
def test_a_bad_choice(chosen: bytes, says: str) -> None:
    with pytest.raises(SaslError, match=says):
        authorization_id_of(chosen)


def test_bytes_that_are_no_text_are_no_crash() -> None:
    assert authorization_id_of(b"\1\0\0\0\xff") == "\ufffd"
