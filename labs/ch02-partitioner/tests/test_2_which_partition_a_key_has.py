"""Task 2: from 32 bits to a partition."""

import pytest

from kafka_lite.common.murmur2 import to_positive
from kafka_lite.producer.partitioner import partition_for_key


@pytest.mark.points(8, task=2)
def test_without_the_sign_bit():
    """to_positive"""
    assert to_positive(5) == 5, "a positive number is returned unchanged"
    got = to_positive(-1)
    assert got == 0x7FFFFFFF, (
        f"to_positive(-1) is 2147483647, -1 without its sign bit, not {got}: abs is a different function"
    )
    got = to_positive(-(2**31))
    assert got == 0, f"to_positive(-2**31) is 0, not {got}: its absolute value does not fit into Java's int"


@pytest.mark.points(7, task=2)
def test_known_keys():
    """Known keys"""
    for key, count, wanted in [(b"21", 8, 4), (b"foobar", 8, 6), (b"foobar", 3, 0), (b"abc", 7, 4), (b"abc", 1, 0)]:
        got = partition_for_key(key, count)
        assert got == wanted, f"with {count} partitions, the key {key!r} belongs to partition {wanted}, not {got}"
