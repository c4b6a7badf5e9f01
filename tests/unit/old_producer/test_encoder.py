"""The encoders of keys and values, and what they refuse."""

from __future__ import annotations

import pytest

from kafka_lite.old_producer.encoder import DefaultEncoder, NullEncoder, StringEncoder


def test_bytes_pass_through_and_text_does_not() -> None:
    assert DefaultEncoder({}).to_bytes(b"\xff") == b"\xff"
    assert DefaultEncoder({}).to_bytes(None) is None
    with pytest.raises(TypeError, match=r"a str is not bytes: encode it, or set serializer\.class"):
        DefaultEncoder({}).to_bytes("x")


def test_text_is_encoded_as_configured() -> None:
    assert StringEncoder({}).to_bytes("é") == "é".encode()
    assert StringEncoder({"serializer.encoding": "latin-1"}).to_bytes("é") == b"\xe9"
    assert StringEncoder({}).to_bytes(None) is None
    with pytest.raises(TypeError, match="a bytes is not a str"):
        StringEncoder({}).to_bytes(b"x")
    with pytest.raises(UnicodeEncodeError):
        StringEncoder({"serializer.encoding": "ascii"}).to_bytes("é")


def test_everything_becomes_none() -> None:
    assert NullEncoder({}).to_bytes("x") is None
