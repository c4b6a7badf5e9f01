"""Task 3: a length, and that many bytes; the code that reads them is what you emit."""

import pytest

LONG = "x" * 200


@pytest.mark.points(6, task=3)
def test_strings(messages, read):
    """A number and a string, null behind it; plain and compact"""
    for version, text in (
        (0, "0007 0005 68656c6c6f ffff"), (0, "0007 0000 ffff"), (1, "0007 06 68656c6c6f 00 00"), (1, "0007 01 00 00")
    ):  # fmt: skip
        note, end = read(messages.Note, version, text)
        wanted = "hello" if "68" in text else ""
        got = (note.number, note.text, note.remark)
        assert got == (7, wanted, None), f"version {version}, {text}: 7, {wanted!r} and null; yours: {got}"
        assert end == len(bytes.fromhex(text)), (
            f"version {version}, {text}: the message ends with its bytes, not at {end}"
        )
    note, _ = read(messages.Note, 0, "0007 0001 61 0002 c3a9")
    assert note.remark == "é", f"c3a9 is é in UTF-8, and two bytes long; yours: {note.remark!r}"
    note, _ = read(messages.Note, 0, "0007 0001 ff ffff")
    assert note.text == "\ufffd", (
        f"a byte that is no UTF-8 becomes a replacement character, as in Java; yours: {note.text!r}"
    )


@pytest.mark.points(5, task=3)
def test_long_compact_strings(messages, refused, decode, read):
    """200 bytes, 32,767 bytes, and one more"""
    note, end = read(messages.Note, 1, "0007 c901" + LONG.encode().hex() + "00 00")
    assert (note.text, end) == (LONG, 206), (
        f"c901 is 201, one more than the length; yours: {len(note.text)} bytes, end {end}"
    )
    longest = read(messages.Note, 1, "0007 808002" + "61" * 32767 + "00 00")[0]
    assert len(longest.text) == 32767, f"32,767 bytes are allowed; yours: {len(longest.text)}"
    error = refused(lambda: decode(messages.Note, 1, "0007 818002" + "61" * 32768 + "00 00"))
    assert "text" in error, (
        f"32,768 bytes are more than Kafka's longest string: a SchemaError names text; yours: {error!r}"
    )
    parcel, _ = read(messages.Parcel, 1, "818002" + "61" * 32768 + "00 00 00")
    assert len(parcel.content) == 32768, "bytes may be longer than a string"


@pytest.mark.points(5, task=3)
def test_null_and_lies(messages, refused, decode):
    """Null where it is not allowed, and lengths beyond the end of the frame"""
    for version, text, why in (
        (0, "0007 ffff ffff", "text must not be null"),
        (0, "0007 0006 68656c6c6f", "5 bytes are left, and text claims 6"),
        (0, "0007 7fff 68", "1 byte is left, and text claims 32767"),
        (1, "0007 00 00 00", "text must not be null"),
        (1, "0007 09 68656c6c6f 00", "6 bytes are left, and text claims 8"),
    ):
        error = refused(lambda version=version, text=text: decode(messages.Note, version, text))
        assert "text" in error, (
            f"version {version}, {text}: {why}; a SchemaError (bad_length) names it; yours: {error!r}"
        )
    error = refused(lambda: decode(messages.Note, 0, "0007 0000 0002 61"))
    assert "remark" in error, f"1 byte is left, and remark, which may be null, claims 2: SchemaError; yours: {error!r}"
    parcel = refused(lambda: decode(messages.Parcel, 0, "7fffffff 61"))
    assert "content" in parcel, f"1 byte is left, and content claims 2147483647: SchemaError; yours: {parcel!r}"


@pytest.mark.points(4, task=3)
def test_bytes_and_records(messages, read):
    """bytes are copied, records stay a view of the frame"""
    for version, text in ((0, "00000003 010203 ffffffff 00000002 0a0b"), (1, "04 010203 00 03 0a0b 00")):
        parcel, end = read(messages.Parcel, version, text)
        assert parcel.content == b"\1\2\3", f"version {version}: content is 010203, not {bytes(parcel.content).hex()}"
        assert isinstance(parcel.content, bytes), "bytes are copied out of the frame"
        assert parcel.spare is None, f"version {version}: spare is null, not {parcel.spare!r}"
        assert bytes(parcel.batches) == b"\n\x0b", f"version {version}: the records are 0a0b"
        assert isinstance(parcel.batches, memoryview), "records are not copied: a view of the frame (_CUT says how)"
        assert end == len(bytes.fromhex(text)), f"version {version}: the message ends at {len(bytes.fromhex(text))}"
