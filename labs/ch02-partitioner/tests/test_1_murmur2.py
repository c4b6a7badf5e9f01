"""Task 1: bit for bit what Kafka's clients in all languages compute."""

import pytest

from kafka_lite.common.murmur2 import murmur2

# The results of org.apache.kafka.common.utils.Utils.murmur2.
KNOWN = {
    b"21": -973932308,
    b"abc": 479470107,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
}


@pytest.mark.points(15, task=1)
def test_four_bytes_at_a_time():
    """Keys of 24 and 48 bytes"""
    for key in (b"a-little-bit-long-string", b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8"):
        wanted, got = KNOWN[key], murmur2(key)
        assert got != wanted + (1 << 32), f"{key!r}: {got} has the right bits; Java's int is signed: {wanted}"
        assert got < 1 << 32, f"{key!r}: {got} has more than 32 bits; Python's integers do not wrap around: & _MASK"
        swapped = b"".join(key[place : place + 4][::-1] for place in range(0, len(key), 4))
        hint = " It would be right with the four bytes in reverse order: they are little-endian."
        assert got == wanted, f"murmur2({key!r}) is {wanted}, not {got}.{hint if murmur2(swapped) == wanted else ''}"


@pytest.mark.points(8, task=1)
def test_the_remaining_bytes():
    """Keys of 2, 3, 6 and 26 bytes"""
    for key in (b"21", b"abc", b"foobar", b"a-little-bit-longer-string"):
        wanted, got = KNOWN[key], murmur2(key)
        assert got == wanted, f"murmur2({key!r}) is {wanted}, not {got}: mind the last {len(key) % 4} bytes"


@pytest.mark.points(4, task=1)
def test_different_tails_give_different_hashes():
    """Keys that differ in the last byte only"""
    seen = {murmur2(b"key-%03d" % number) for number in range(200)}
    assert len(seen) > 190, (
        f"200 keys that differ in their last bytes have only {len(seen)} hashes: these bytes are ignored"
    )


@pytest.mark.points(3, task=1)
def test_an_empty_key():
    """No bytes at all"""
    assert murmur2(b"") == 275646681, f"murmur2(b'') is 275646681, not {murmur2(b'')}"
