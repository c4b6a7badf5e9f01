"""Bytes to text and numbers, and bytes that are neither."""

from __future__ import annotations

import pytest

from kafka_lite.old_consumer.decoder import DecodeError, DefaultDecoder, IntegerDecoder, LongDecoder, StringDecoder


def test_decoders() -> None:
    assert DefaultDecoder().from_bytes(b"\xff") == b"\xff"
    assert StringDecoder().from_bytes("ä".encode()) == "ä"
    assert StringDecoder({"serializer.encoding": "latin-1"}).from_bytes(b"\xe4") == "ä"
    assert IntegerDecoder().from_bytes(b"\xff\xff\xff\xfe") == -2
    assert LongDecoder().from_bytes(b"\0" * 7 + b"\x07") == 7
    for decoder in (StringDecoder(), StringDecoder({"serializer.encoding": "no such"})):
        with pytest.raises(DecodeError):
            decoder.from_bytes(b"\xff")
