"""Task 1: seven bits in each byte, the lowest first."""

import pytest

from kafka_lite.protocol.varint import read_unsigned_varint, unsigned_varint

KNOWN = {
    0: "00", 1: "01", 127: "7f", 128: "8001", 300: "ac02", 16383: "ff7f", 16384: "808001", 2**31 - 1: "ffffffff07",
}  # fmt: skip


@pytest.mark.points(8, task=1)
def test_write():
    """Numbers of one to five bytes"""
    for number, wanted in KNOWN.items():
        got = unsigned_varint(number)
        assert isinstance(got, bytes), f"unsigned_varint returns bytes, not {type(got).__name__}"
        assert got.hex() == wanted, (
            f"{number} is {wanted} on the wire, not {got.hex()}: seven bits a byte, lowest first"
        )


@pytest.mark.points(8, task=1)
def test_read():
    """The same numbers, at a position, with other bytes behind"""
    for number, written in KNOWN.items():
        data = bytes.fromhex("ffff" + written + "ff05")
        end = 2 + len(written) // 2
        got = read_unsigned_varint(data, 2)
        assert got == (number, end), f"{written} at position 2 is {number} and ends at {end}; yours: {got}"
    got = read_unsigned_varint(b"\x80\x00", 0)
    assert got == (0, 2), f"8000 is a long way to write 0, and allowed; yours: {got}"


@pytest.mark.points(4, task=1)
def test_what_is_no_length(refused):
    """The buffer ends, more than five bytes, more than an int32"""
    for data in (b"", b"\x80", b"\xff\xff"):
        with pytest.raises(IndexError):
            pytest.fail(
                f"{data.hex() or 'nothing'} has no last byte: IndexError; yours: {read_unsigned_varint(data, 0)}"
            )
    for written, why in (
        ("808080808001", "it has six bytes, and no number of this protocol needs more than five"),
        ("808080808000", "it has six bytes, even if they make 0"),
        ("8080808008", "it is 2147483648, and the largest length is that of Java's int, 2147483647"),
        ("ffffffff0f", "it is 4294967295, and the largest length is that of Java's int, 2147483647"),
    ):
        error = refused(lambda text=written: read_unsigned_varint(bytes.fromhex(text), 0))
        assert error, f"{written}: raise SchemaError, since {why}"
