"""Compiled decoders: equal to a plain one for every message and version, and what they refuse to read."""

from __future__ import annotations

import random
import tracemalloc
from uuid import UUID

import pytest

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.decoder_compiler import (
    MAX_UNKNOWN_TAGS,
    bad_length,
    decoder_source,
    read_tag,
    read_unknown_tags,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsResponse
from kafka_lite.protocol.schema import (
    MAX_ELEMENTS_OF_CLIENTS,
    MAX_ELEMENTS_OF_CONTROLLER,
    Message,
    Request,
    Struct,
    array,
    bytes_,
    int8,
    int16,
    int32,
    nested,
    source,
    string,
    uuid_,
)
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.varint import unsigned_varint
from kafka_lite.protocol.wire_types import RawTaggedField
from tests.support.messages import MESSAGES, random_message, shares_of_defaults, versions
from tests.support.plain_codec import PlainDecoder, PlainEncoder


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_compiled_code_reads_what_plain_code_reads(message: type[Message]) -> None:
    rng = random.Random(message.__name__)
    for version in versions(message):
        for defaults in shares_of_defaults(message, version):
            data = PlainEncoder(random_message(message, version, rng, defaults), version).bytes
            plain = PlainDecoder(message, data, version)
            assert message.decode_from(data, 0, version) == (plain.message, plain.position)
            assert plain.position == len(data)


# ---- The generated source --------------------------------------------------------------------------------------------


class Fixed(Message, versions="0-2", flexible="2"):
    small: int = int8()
    middle: int = int16()
    name: str = string()
    identity: UUID = uuid_()
    late: int = int32(versions="1+", default=-1)


def test_adjacent_numbers_are_unpacked_together() -> None:
    text = source(Fixed, 1, "decode")
    assert "message.small, message.middle, n = unpack_bhh(buffer, position)" in text
    assert "message.identity = UUID(bytes=raw_message_identity)" in text
    assert text.rstrip().endswith("return message, position")


def test_a_field_that_the_version_lacks_is_not_read() -> None:
    assert "message.late" not in source(Fixed, 0, "decode")
    assert Fixed.decode(bytes(21), 0).late == -1
    assert Fixed.decode(bytes(25), 1).late == 0


def test_the_source_comes_with_the_objects_that_it_names() -> None:
    text, names = decoder_source(HeartbeatRequest, 0)
    namespace = dict(names)
    exec(compile(text, "<test>", "exec"), namespace)
    message, position = namespace["decode"](memoryview(bytes.fromhex("00 0001 67 00000001 0001 6d")), 1)
    assert message == HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    assert position == 11


def test_messages_do_not_share_what_was_not_read() -> None:
    class Absent(Message, versions="0-1"):
        numbers: list[int] = array(int32, versions="1+")

    first, second = Absent.decode(b"", 0), Absent.decode(b"", 0)
    assert first.numbers == second.numbers == []
    assert first.numbers is not second.numbers


# ---- Tagged fields ---------------------------------------------------------------------------------------------------


class Inner(Struct):
    number: int = int32(default=-1)


class Tagged(Message, versions="0-1", flexible="0-1"):
    first: str = string(tag=1, default="none")
    second: int = int16(tag=2, default=9, versions="1+")
    inner: Inner = nested(Inner, tag=5)
    payload: bytes = bytes_(versions="none")


def test_tags_that_were_not_sent_have_their_defaults() -> None:
    decoded = Tagged.decode(b"\0", 1)
    assert decoded == Tagged(first="none", second=9, inner=Inner(number=-1))
    assert decoded.inner is not Tagged.decode(b"\0", 1).inner


def test_tags_are_read_in_any_order_and_unknown_ones_are_kept() -> None:
    data = bytes.fromhex("05  05 05 00000003 00  03 01 ff  02 02 0001  01 03 03 6162  ac02 00")
    decoded = Tagged.decode(data, 1)
    assert (decoded.first, decoded.second, decoded.inner.number) == ("ab", 1, 3)
    assert decoded.unknown_tagged_fields == (RawTaggedField(3, b"\xff"), RawTaggedField(300, b""))


def test_unknown_tags_inside_a_struct_stay_there() -> None:
    decoded = Tagged.decode(bytes.fromhex("01 05 08 00000003 01 07 01 aa"), 1)
    assert decoded.inner.unknown_tagged_fields == (RawTaggedField(7, b"\xaa"),)
    assert decoded.unknown_tagged_fields == ()
    assert decoded.encode(1) == bytes.fromhex("01 05 08 00000003 01 07 01 aa")


def test_a_tag_of_a_later_version_is_refused() -> None:
    with pytest.raises(SchemaError, match="Tagged v0: tag 2 is not valid for version 0"):
        Tagged.decode(bytes.fromhex("01 02 02 0001"), 0)


@pytest.mark.parametrize("size", [1, 3])
def test_a_tag_of_another_size_than_it_says_is_refused(size: int) -> None:
    with pytest.raises(SchemaError, match="tagged field 2 of message has another size than it says"):
        Tagged.decode(bytes.fromhex(f"01 02 0{size} 0001 00"), 1)


def test_a_tag_that_is_larger_than_the_frame_is_refused() -> None:
    for data in ("01 02 04 0001", "01 07 04 0001"):
        with pytest.raises(SchemaError, match=r"tagged field \d claims 4, with 2 bytes left in the frame"):
            Tagged.decode(bytes.fromhex(data), 1)


def test_the_head_of_a_tag() -> None:
    assert read_tag(b"??" + bytes.fromhex("ac02 03 616263"), 2) == (300, 5, 8)
    with pytest.raises(SchemaError, match="tagged field 300 claims 3, with 2 bytes left"):
        read_tag(bytes.fromhex("ac02 03 6162"), 0)


def test_a_section_of_unknown_tags_is_read_with_its_count() -> None:
    data = memoryview(bytes.fromhex("02 07 01 aa 08 00 ff"))
    assert read_unknown_tags(data, 0) == ((RawTaggedField(7, b"\xaa"), RawTaggedField(8, b"")), 6)
    with pytest.raises(IndexError):
        read_unknown_tags(data[:4], 0)


# ---- Lengths ---------------------------------------------------------------------------------------------------------


class Element(Struct):
    number: int = int32()
    name: str = string()


class Lengths(Message, versions="0-2", flexible="2"):
    elements: list[Element] = array(Element, nullable="1+")
    name: str = string(nullable="1+")


def test_null_is_read_only_in_versions_that_allow_it() -> None:
    null = bytes.fromhex("ffffffff ffff")
    assert Lengths.decode(null, 1) == Lengths(elements=None, name=None)  # type: ignore[arg-type]
    assert Lengths.decode(bytes.fromhex("00 00 00"), 2) == Lengths(elements=None, name=None)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="Lengths v0: elements is null, or has the length -1"):
        Lengths.decode(null, 0)
    with pytest.raises(SchemaError, match="Lengths v0: name is null, or has the length -1"):
        Lengths.decode(bytes.fromhex("00000000 ffff"), 0)


def test_a_count_is_compared_with_the_smallest_size_of_so_many_elements() -> None:
    """An element has at least six bytes: a number, and the length of a name."""
    two = bytes.fromhex("00000002") + bytes(12)
    assert Lengths.decode(two + bytes(2), 0).elements == [Element(), Element()]
    with pytest.raises(SchemaError, match="elements claims 2, with 11 bytes left in the frame"):
        Lengths.decode(two[:-1], 0)


def test_a_compact_element_has_fewer_bytes_and_its_tags() -> None:
    two = bytes.fromhex("03") + (bytes(4) + b"\x01\x00") * 2
    assert Lengths.decode(two + b"\x01\x00", 2).elements == [Element(), Element()]
    with pytest.raises(SchemaError, match="elements claims 2, with 11 bytes left in the frame"):
        Lengths.decode(two[:-1], 2)


def test_an_array_of_structs_without_bytes_is_bounded_by_the_frame() -> None:
    class Empty(Struct):
        later: int = int32(versions="1+")

    class Nothings(Message, versions="0-1"):
        elements: list[Empty] = array(Empty)

    with pytest.raises(SchemaError, match="elements claims 2147483647, with 0 bytes left"):
        Nothings.decode(b"\x7f\xff\xff\xff", 0)


def test_a_compact_string_has_the_limit_of_other_strings() -> None:
    longest = bytes.fromhex("01 808002") + b"x" * 0x7FFF + b"\0"
    assert Lengths.decode(longest, 2).name == "x" * 0x7FFF
    with pytest.raises(SchemaError, match="string field name had invalid length 32768"):
        Lengths.decode(bytes.fromhex("01 818002") + b"x" * 0x8000 + b"\0", 2)


@pytest.mark.parametrize(
    ("length", "text"),
    [(-1, "f is null, or has the length -1"), (-7, "f is null, or has the length -7"), (9, "f claims 9, with 3 bytes")],
)
def test_the_error_of_a_length(length: int, text: str) -> None:
    assert text in str(bad_length("f", length, 3))


# ---- Text that is not UTF-8 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 2])
def test_invalid_utf_8_is_replaced(version: int) -> None:
    data = {0: b"\0\0\0\0\0\3a\xffb", 2: b"\1\4a\xffb\0"}
    assert Lengths.decode(data[version], version).name == "a\ufffdb"


# ---- Bounds of a whole request ---------------------------------------------------------------------------------------


class Numbers(Struct):
    numbers: list[int] = array(int32)


class Bounded(Request, api_key=ApiKey.METADATA, versions="0-1", flexible="1"):
    inners: list[Numbers] = array(Numbers)
    more: list[int] = array(int8)


def bounded(*, elements: int, version: int) -> bytes:
    """Half of the elements in nested arrays; the arrays' own elements count, too."""
    nested_count = elements // 2 - 2
    inners = [Numbers(numbers=[7] * (nested_count - 3)), Numbers(numbers=[7] * 3)]
    return Bounded(inners=inners, more=[1] * (elements - nested_count - len(inners))).encode(version)


@pytest.mark.parametrize("version", [0, 1])
def test_the_elements_of_all_arrays_have_one_bound(version: int) -> None:
    Bounded.decode(bounded(elements=MAX_ELEMENTS_OF_CLIENTS, version=version), version)
    with pytest.raises(SchemaError, match="more has 1 elements more than a request may have"):
        Bounded.decode(bounded(elements=MAX_ELEMENTS_OF_CLIENTS + 1, version=version), version)


def test_a_call_can_have_another_bound() -> None:
    frame = bounded(elements=100, version=0)
    assert Bounded.decode_from(frame, 0, 0, 100)[0] == Bounded.decode(frame, 0)
    with pytest.raises(SchemaError, match="more has 1 elements more than a request may have"):
        Bounded.decode_from(frame, 0, 0, 99)


def test_an_array_beyond_the_bound_is_refused_before_it_is_read() -> None:
    count = MAX_ELEMENTS_OF_CLIENTS + 3
    frame = memoryview(count.to_bytes(4, "big") + bytes(4 * count))
    tracemalloc.start()
    with pytest.raises(SchemaError, match="inners has 3 elements more"):
        Bounded.decode(frame, 0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000


def test_only_requests_have_a_bound_and_the_controllers_have_a_larger_one() -> None:
    assert "room" not in source(MetadataResponse, 0, "decode")
    assert f"room={MAX_ELEMENTS_OF_CLIENTS}" in source(MetadataRequest, 0, "decode")
    assert f"room={MAX_ELEMENTS_OF_CONTROLLER}" in source(UpdateMetadataRequest, 0, "decode")
    assert "room" not in source(HeartbeatRequest, 0, "decode")  # no array, no cost


@pytest.mark.parametrize("known", [True, False])
def test_unknown_tagged_fields_have_a_bound(known: bool) -> None:
    struct_class = ApiVersionsResponse if known else HeartbeatRequest
    version = 3 if known else 4
    empty = struct_class().encode(version)
    tags = b"".join(unsigned_varint(100 + tag) + b"\0" for tag in range(MAX_UNKNOWN_TAGS + 20))

    def with_tags(count: int) -> bytes:
        return empty[:-1] + unsigned_varint(count) + tags

    assert len(struct_class.decode(with_tags(MAX_UNKNOWN_TAGS), version).unknown_tagged_fields) == MAX_UNKNOWN_TAGS
    with pytest.raises(SchemaError, match="unknown_tagged_fields has"):
        struct_class.decode(with_tags(MAX_UNKNOWN_TAGS + 20), version)


def test_unknown_tagged_fields_of_many_structs_count_as_elements() -> None:
    one = Numbers(numbers=[])
    one.unknown_tagged_fields = tuple(RawTaggedField(tag, b"") for tag in range(MAX_UNKNOWN_TAGS))
    count = MAX_ELEMENTS_OF_CLIENTS // MAX_UNKNOWN_TAGS
    with pytest.raises(SchemaError, match="unknown_tagged_fields has"):
        Bounded.decode(Bounded(inners=[one] * count).encode(1), 1)
