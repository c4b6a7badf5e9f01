"""Compiled encoders: equal to a plain one for every message and version, and what they refuse to write."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, cast

import pytest

from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.sendable import Part
from kafka_lite.protocol import encoder_compiler
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.encoder_compiler import (
    COMPACT_TEXTS,
    LONG_ARRAY,
    PIECES_OF_SLICE,
    TEXTS,
    LongArrayError,
    Texts,
    encoder_source,
    not_in_version,
    slicing_encoder_source,
    write_tagged_fields,
)
from kafka_lite.protocol.messages.api_01_fetch import FetchableTopicResponse, FetchResponse
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.schema import (
    Message,
    Response,
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
from kafka_lite.protocol.source_writer import execute
from kafka_lite.protocol.wire_types import RawTaggedField
from tests.support.largest_requests import array_paths, largest
from tests.support.messages import MESSAGES, random_message, shares_of_defaults, versions
from tests.support.plain_codec import PlainEncoder


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_compiled_code_writes_what_plain_code_writes(message: type[Message]) -> None:
    rng = random.Random(message.__name__)
    for version in versions(message):
        for defaults in shares_of_defaults(message, version):
            made = random_message(message, version, rng, defaults)
            assert made.encode(version) == PlainEncoder(made, version).bytes


def long_responses() -> list[tuple[type[Response], int, tuple[str, ...]]]:
    """Each array of structs or texts of each response, in its first and in its last version."""
    found = []
    for spec in API_SPECS.values():
        cls = spec.response
        for version in {cls.VERSIONS.lowest, cls.VERSIONS.highest}:
            found += [(cls, version, path) for path in array_paths(cls, version)]
    return found


def made_long(cls: type[Response], version: int, path: Sequence[str], elements: int) -> Response:
    return cast(Response, largest(cast(Any, cls), version, elements, path))


def test_the_slices_of_every_response_are_what_plain_code_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With each array in turn so long that there are some slices."""
    monkeypatch.setattr(encoder_compiler, "PIECES_OF_SLICE", 20)
    in_slices = 0
    for cls, version, path in long_responses():
        made = made_long(cls, version, path, LONG_ARRAY + 10)
        encode = execute("in slices", "encode_slices", *slicing_encoder_source(cls, version))
        pieces: list[bytes] = []
        slices = [joined(pieces) for _ in encode(made, pieces)]
        in_slices += bool(slices)
        slices.append(joined(pieces))
        assert b"".join(slices) == PlainEncoder(made, version).bytes == made.encode(version), (cls, version, path)
    assert in_slices > 140


def joined(pieces: list[bytes]) -> bytes:
    """The pieces, which are taken out."""
    data = b"".join(pieces)
    pieces.clear()
    return data


@pytest.mark.parametrize(
    ("version", "elements", "is_long"),
    [(0, LONG_ARRAY - 1, False), (0, LONG_ARRAY, True), (12, LONG_ARRAY - 2, False), (12, LONG_ARRAY - 1, True)],
)
def test_an_array_is_long_from_so_many_elements_on(version: int, elements: int, is_long: bool) -> None:
    """In v12 the count is compact: one more, so that zero is null."""
    response = MetadataResponse(topics=[MetadataResponseTopic(name="t") for _ in range(elements)])
    if is_long:
        with pytest.raises(LongArrayError, match="elements"):
            response.encode_short_to([], version)
    else:
        response.encode_short_to([], version)
    assert MetadataResponse.decode(response.encode(version), version) == response


@pytest.mark.parametrize(("elements", "is_long"), [(LONG_ARRAY - 1, False), (LONG_ARRAY, True)])
def test_the_count_of_a_long_array_may_be_packed_with_other_numbers(elements: int, is_long: bool) -> None:
    response = FetchResponse(responses=[FetchableTopicResponse(topic="t") for _ in range(elements)])
    assert "long_array(n)" in encoder_source(FetchResponse, 7, refuses_long_arrays=True)[0]
    parts: list[Part] = []
    if is_long:
        with pytest.raises(LongArrayError):
            response.encode_short_to(parts, 7)
    else:
        response.encode_short_to(parts, 7)


def test_numbers_are_written_at_once_however_many() -> None:
    leaders = [MetadataResponsePartition(replica_nodes=list(range(5_000)))]
    response = MetadataResponse(topics=[MetadataResponseTopic(name="t", partitions=leaders)])
    response.encode_short_to([], 9)


def test_requests_are_never_refused_nor_sliced() -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(name="t") for _ in range(5_000)])
    request.encode_short_to([], 9)


def test_a_slice_that_cannot_be_encoded_says_where() -> None:
    topics = [MetadataResponseTopic(name="t") for _ in range(5_000)]
    topics[4_999].error_code = 1 << 20
    with pytest.raises(SchemaError, match=r"MetadataResponse v9: .*error_code"):
        MetadataResponse(topics=topics).encode(9)


def test_slices_have_so_many_pieces() -> None:
    response = MetadataResponse(topics=[MetadataResponseTopic(name="t") for _ in range(10_000)])
    sizes = [len(pieces) for pieces in response.encode_slices(1)]
    assert len(sizes) > 4
    assert all(PIECES_OF_SLICE <= size < PIECES_OF_SLICE + 10 for size in sizes[:-1])
    assert 0 < sizes[-1] <= PIECES_OF_SLICE + 10


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
