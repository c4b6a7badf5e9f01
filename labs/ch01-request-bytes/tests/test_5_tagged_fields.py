"""Task 5: fields that only some know: a count, and for each a tag, a size, a value."""

import pytest

from kafka_lite.protocol.decoder_compiler import MAX_UNKNOWN_TAGS, read_tag, read_unknown_tags
from kafka_lite.protocol.encoder_compiler import write_tagged_fields
from kafka_lite.protocol.framing import decode_request
from kafka_lite.protocol.varint import unsigned_varint
from kafka_lite.protocol.wire_types import RawTaggedField


@pytest.mark.points(4, task=5)
def test_the_head_of_a_field(refused):
    """A tag, a size, and where the value stands"""
    data = memoryview(bytes.fromhex("ff 05 03 aabbcc 00"))
    got = read_tag(data, 1)
    assert got == (5, 3, 6), f"tag 5, its value from 3 to 6; yours: {got}"
    long = memoryview(bytes.fromhex("ac02 8001") + bytes(128))
    got = read_tag(long, 0)
    assert got == (300, 4, 132), f"tag 300, 128 bytes, up to the end of the buffer; yours: {got}"
    error = refused(lambda: read_tag(long[:-1], 0))
    assert "300" in error, f"the value claims 128 bytes, 127 are left: a SchemaError names the tag; yours: {error!r}"


@pytest.mark.points(5, task=5)
def test_unknown_fields(refused):
    """Two fields that this version does not know, and too many"""
    data = bytearray(bytes.fromhex("02 05 01 aa 07 02 bbcc ff"))
    fields, end = read_unknown_tags(memoryview(data), 0)
    wanted = (RawTaggedField(5, b"\xaa"), RawTaggedField(7, b"\xbb\xcc"))
    assert tuple(fields) == wanted, f"tag 5 with aa, tag 7 with bbcc; yours: {fields}"
    assert end == 8, f"the section ends after its last value, at 8, not at {end}"
    assert isinstance(fields, tuple), f"a tuple, since messages share it; yours is a {type(fields).__name__}"
    data[:] = bytes(len(data))
    assert bytes(fields[1].data) == b"\xbb\xcc", "the frame's memory is used again: copy the values (bytes)"
    for count in (0, MAX_UNKNOWN_TAGS):
        many = unsigned_varint(count) + b"".join(unsigned_varint(tag) + b"\0" for tag in range(count))
        got = len(read_unknown_tags(memoryview(many), 0)[0])
        assert got == count, f"{count} fields are allowed; yours: {got}"
    error = refused(lambda: read_unknown_tags(memoryview(unsigned_varint(MAX_UNKNOWN_TAGS + 1) + bytes(4000)), 0))
    assert "elements more" in error, f"{MAX_UNKNOWN_TAGS + 1} fields: too_many, before any is read; yours: {error!r}"


@pytest.mark.points(3, task=5)
def test_write():
    """Three fields, given in any order"""
    for fields in ([(7, b"\xbb\xcc"), (5, b"\xaa"), (300, b"")], [(300, b""), (5, b"\xaa"), (7, b"\xbb\xcc")]):
        pieces = []
        write_tagged_fields(pieces.append, iter(fields))
        got = b"".join(pieces).hex()
        assert got == "030501aa0702bbccac0200", f"030501aa0702bbccac0200: a count, then by tag; yours: {got}"


@pytest.mark.points(3, task=5)
def test_a_request_of_the_future(frame):
    """librdkafka's ApiVersions, with a tagged field that nobody knows yet"""
    known = frame("api versions 3").tobytes()
    newer = known[:-1] + bytes.fromhex("01 2a 03 010203")
    header, request = decode_request(newer)
    got = (header.client_id, request.client_software_name, request.unknown_tagged_fields)
    wanted = ("rdk-admin", "confluent-kafka-python", ((42, b"\1\2\3"),))
    assert got == wanted, f"what is known is read, tag 42 is kept; yours: {got}"
    sent_on = request.encode(3)
    assert sent_on == newer[20:], f"whoever sends it on sends tag 42, too: {newer[20:].hex()}, not {sent_on.hex()}"
