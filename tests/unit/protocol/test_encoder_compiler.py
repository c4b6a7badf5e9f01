"""Compiled encoders: equal to a plain one for every message and version, and what they refuse to write."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.sendable import Part
from kafka_lite.protocol.encoder_compiler import (
    COMPACT_TEXTS,
    TEXTS,
    Texts,
    encoder_source,
    not_in_version,
    write_tagged_fields,
)
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.schema import (
    Message,
    Struct,
    array,
    int8,
    int16,
    int32,
    int64,
    nested,
    records_,
    source,
    string,
    uuid_,
)
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError
from kafka_lite.protocol.wire_types import RawTaggedField
from tests.support.messages import MESSAGES, random_message, shares_of_defaults, versions
from tests.support.plain_codec import PlainEncoder


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_compiled_code_writes_what_plain_code_writes(message: type[Message]) -> None:
    rng = random.Random(message.__name__)
    for version in versions(message):
        for defaults in shares_of_defaults(message, version):
            made = random_message(message, version, rng, defaults)
            assert made.encode(version) == PlainEncoder(made, version).bytes


# ---- The generated source --------------------------------------------------------------------------------------------


class Fixed(Message, versions="0-2", flexible="2"):
    small: int = int8()
    middle: int = int16()
    name: str = string()
    large: int = int64()
    late: int = int32(versions="1+", default=-1)


def test_adjacent_numbers_are_packed_together() -> None:
    text = source(Fixed, 1, "encode")
    assert "add(pack_bh(message.small, message.middle))" in text
    assert "add(texts_h[message.name])" in text
    assert "add(pack_qi(message.large, message.late))" in text


def test_a_field_that_the_version_lacks_is_compared_with_its_default() -> None:
    assert "if message.late != -1:" in source(Fixed, 0, "encode")
    assert "message.late != -1" not in source(Fixed, 1, "encode")


def test_a_flexible_version_writes_compact_texts_and_tags() -> None:
    text = source(Fixed, 2, "encode")
    assert "add(texts_compact[message.name])" in text
    assert "write_tagged_fields(add, message.unknown_tagged_fields)" in text


def test_the_source_comes_with_the_objects_that_it_names() -> None:
    text, names = encoder_source(HeartbeatRequest, 4)
    namespace = dict(names)
    exec(compile(text, "<test>", "exec"), namespace)
    parts: list[Any] = []
    namespace["encode"](HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), parts.append)
    assert b"".join(parts) == bytes.fromhex("02 67 00000001 02 6d 00 00")


# ---- Fields that a version does not have -----------------------------------------------------------------------------


class Inner(Struct):
    number: int = int32(default=-1)
    name: str = string()


class Later(Message, versions="0-1", flexible="1"):
    number: int = int32(versions="1+", default=5)
    text: str | None = string(versions="1+", nullable="1+", default=None)
    numbers: list[int] = array(int32, versions="1+")
    identity: Any = uuid_(versions="1+")
    inner: Inner = nested(Inner, versions="1+")
    hint: int = int32(versions="1+", default=-1, ignorable=True)


def test_defaults_need_no_field() -> None:
    assert Later().encode(0) == b""
    assert Later(inner=Inner(number=-1, name=""), numbers=[], identity=ZERO_UUID, number=5).encode(0) == b""


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("number", 0),
        ("text", ""),
        ("numbers", [0]),
        ("numbers", None),
        ("inner", Inner(number=0)),
        ("inner", Inner(name="x")),
    ],
)
def test_any_other_value_is_refused_without_its_field(field: str, value: object) -> None:
    made = Later(**{field: value})  # type: ignore[arg-type]
    with pytest.raises(UnsupportedVersionError, match=f"{field} is set, and version 0 has no such field"):
        made.encode(0)


def test_an_ignorable_field_is_left_out() -> None:
    assert Later(hint=7).encode(0) == b""


def test_unknown_tags_are_refused_where_tags_do_not_exist() -> None:
    made = Later()
    made.unknown_tagged_fields = (RawTaggedField(1, b""),)
    with pytest.raises(UnsupportedVersionError, match="unknown_tagged_fields is set, and version 0"):
        made.encode(0)
    inner = Later(inner=Inner())
    inner.inner.unknown_tagged_fields = (RawTaggedField(1, b""),)
    with pytest.raises(UnsupportedVersionError, match="inner is set, and version 0"):
        inner.encode(0)


def test_the_error_names_field_and_version() -> None:
    assert str(not_in_version("isr", 3)) == "isr is set, and version 3 has no such field"


# ---- Tagged fields ---------------------------------------------------------------------------------------------------


class Tagged(Message, versions="0", flexible="0"):
    second: int = int16(tag=2, default=9)
    first: str = string(tag=1)
    inner: Inner = nested(Inner, tag=5)


def test_tagged_fields_with_their_defaults_are_not_sent() -> None:
    assert Tagged().encode(0) == b"\0"
    assert Tagged(second=9, first="", inner=Inner()).encode(0) == b"\0"


def test_tagged_fields_are_ordered_by_tag_between_unknown_ones() -> None:
    made = Tagged(second=1, first="ab", inner=Inner(number=3))
    made.unknown_tagged_fields = (RawTaggedField(300, b"z"), RawTaggedField(3, b""))
    drawn = "05  01 03 03 6162  02 02 0001  03 00  05 06 00000003 01 00  ac02 01 7a"
    assert made.encode(0) == bytes.fromhex(drawn)
    assert made.unknown_tagged_fields == (RawTaggedField(300, b"z"), RawTaggedField(3, b"")), "it is left as it was"


def test_a_section_of_tags_has_a_count_and_sizes() -> None:
    parts: list[Part] = []
    write_tagged_fields(parts.append, [(200, b"b" * 130), (0, b"a")])
    assert b"".join(map(bytes, parts)) == bytes.fromhex("02 00 01 61 c801 8201") + b"b" * 130  # type: ignore[arg-type]


# ---- Values that are refused -----------------------------------------------------------------------------------------


class Values(Message, versions="0-1", flexible="1"):
    number: int = int8()
    names: list[str] = array(string)
    numbers: list[int] = array(int16)
    inner: list[Inner] = array(Inner)
    records: Any = records_(nullable="none")


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("number", 128),
        ("number", None),
        ("number", "1"),
        ("names", None),
        ("names", [None]),
        ("names", [b"bytes"]),
        ("names", ["\ud800"]),
        ("numbers", [1, 40_000]),
        ("inner", [None]),
        ("inner", [Inner(number=1 << 31)]),
        ("records", None),
        ("records", "text"),
    ],
)
def test_a_value_of_another_type_is_refused(version: int, field: str, value: object) -> None:
    made = Values(**{"records": b"", field: value})
    with pytest.raises(SchemaError, match=f"Values v{version}: "):
        made.encode(version)


def test_the_error_shows_the_line_that_failed() -> None:
    with pytest.raises(SchemaError, match=r"at: add\(pack_bi\(message\.number, len\(message\.names\)\)\)"):
        Values(number=1000, records=b"").encode(0)


def test_records_are_added_as_they_are() -> None:
    parts: list[Part] = []
    records = memoryview(b"batch")
    Values(records=records).encode_to(parts, 0)
    assert parts[-1] is records


# ---- Counts and texts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 0x7F, 0x80, 0x81, 0x4000])
def test_counts_of_any_size(count: int) -> None:
    made = Values(numbers=[7] * count, records=b"")
    for version in (0, 1):
        assert made.encode(version) == PlainEncoder(made, version).bytes


def test_texts_have_their_length_in_front() -> None:
    assert TEXTS["topic"] == b"\0\5topic"
    assert COMPACT_TEXTS["topic"] == b"\6topic"
    assert TEXTS["\u4e2d"] == b"\0\3\xe4\xb8\xad"
    assert COMPACT_TEXTS["x" * 127] == b"\x80\x01" + b"x" * 127


def test_the_longest_text_is_that_of_an_int16() -> None:
    assert TEXTS["x" * 0x7FFF][:2] == b"\x7f\xff"
    for texts in (TEXTS, COMPACT_TEXTS):
        with pytest.raises(ValueError, match="a string of 32768 bytes is too long to be serialized"):
            texts["x" * 0x8000]


def test_long_texts_are_not_kept_and_a_full_cache_is_cleared() -> None:
    texts = Texts(lambda length: bytes([length % 256]))
    assert texts["y" * Texts.MAX_KEPT_BYTES][1:] == b"y" * Texts.MAX_KEPT_BYTES
    assert not texts
    for number in range(Texts.MAX_KEPT):
        texts[str(number)]
    assert len(texts) == Texts.MAX_KEPT
    assert texts["one more"] == b"\x08one more"
    assert list(texts) == ["one more"]
