"""How ids are drawn and written."""

from __future__ import annotations

import uuid

import pytest

from kafka_lite.common.ids import uuids
from kafka_lite.common.ids.uuids import ZERO_UUID, decode_uuid, encode_uuid, random_uuid


def test_an_id_has_22_characters_which_a_url_may_contain() -> None:
    written = encode_uuid(uuid.UUID(bytes=b"\xfb\xff\xbf" * 5 + b"\x00"))
    assert written == "-_-_-_-_-_-_-_-_-_-_AA"
    assert decode_uuid(written).bytes == b"\xfb\xff\xbf" * 5 + b"\x00"
    assert encode_uuid(ZERO_UUID) == "A" * 22


@pytest.mark.parametrize("text", ["", "abc", "AAAAAAAAAAAAAAAAAAAAAAAA", "é" * 22])
def test_another_text_is_no_id(text: str) -> None:
    with pytest.raises(ValueError):
        decode_uuid(text)


def test_reserved_ids_and_those_with_a_leading_dash_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = uuid.UUID(int=2)
    drawn = iter([uuid.UUID(int=0), uuid.UUID(int=1), uuid.UUID(bytes=b"\xfb" + bytes(15)), wanted])
    monkeypatch.setattr(uuids.uuid, "uuid4", lambda: next(drawn))
    assert random_uuid() == wanted
