"""Task 1: one field after the other."""

import pytest

from pipeline.tables.group_history import Reader


@pytest.mark.points(5, task=1)
def test_numbers_one_after_the_other():
    """I16, I32, I64"""
    reader = Reader(bytes.fromhex("0001 00000007 00000000000f4240 ffffffff"))
    first = reader.number("h")
    assert first != 256, "0001 was read as little-endian; Kafka's integers are big-endian"
    got = [first, reader.number("i"), reader.number("q"), reader.number("i")]
    assert got == [1, 7, 1_000_000, -1], (
        f"the numbers are 1, 7, 1000000 and -1; you read {got}: does the position move?"
    )


@pytest.mark.points(4, task=1)
def test_strings():
    """Text, empty, null"""
    reader = Reader(b"\x00\x06riders\x00\x00\xff\xff\x00\x01x")
    got = [reader.string(), reader.string(), reader.string(), reader.string()]
    assert got[2] is None, f"length -1 is null, which is not the empty string: None, not {got[2]!r}"
    assert got == ["riders", "", None, "x"], f"the strings are 'riders', '', None and 'x'; you read {got}"


@pytest.mark.points(3, task=1)
def test_the_length_of_a_string_counts_bytes():
    """乘客"""
    reader = Reader(b"\x00\x06" + "乘客".encode() + b"\x00\x01x")
    try:
        got = [reader.string(), reader.string()]
    except NotImplementedError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a wrong length leads to
        pytest.fail(f"'乘客' has two letters and six bytes, and its length is 6: take bytes, then decode ({error})")
    assert got == ["乘客", "x"], f"the strings are '乘客', of six bytes, and 'x'; you read {got}"


@pytest.mark.points(3, task=1)
def test_bytes():
    """Bytes with an I32 before them"""
    reader = Reader(b"\x00\x00\x00\x02\xca\xfe\xff\xff\xff\xff\x00\x00\x00\x00\x00\x07")
    got = [reader.bytes_(), reader.bytes_(), reader.bytes_(), reader.number("h")]
    assert got == [b"\xca\xfe", b"", b"", 7], (
        f"cafe, nothing (length -1), nothing (length 0), and then 7; you read {got}"
    )
