"""Task 2: the partition of a key."""

from collections import Counter

import pytest

from kafka_lite.producer.partitioner import partition_for_key

KNOWN = [(b"21", 8, 4), (b"foobar", 8, 6), (b"foobar", 3, 0), (b"abc", 7, 4), (b"abc", 1, 0), (b"", 12, 9)]
"""Keys, numbers of partitions, and what Java's producer chooses."""


@pytest.mark.points(20, task=2)
def test_known_keys():
    """Keys whose partition every client knows"""
    for key, partitions, wanted in KNOWN:
        got = partition_for_key(key, partitions)
        assert isinstance(got, int), f"a partition is a whole number, not {got!r}"
        assert 0 <= got < partitions, f"of {partitions} partitions none has the number {got}: take the remainder"
        assert got == wanted, f"with {partitions} partitions, the key {key!r} belongs to partition {wanted}, not {got}"


@pytest.mark.points(15, task=2)
def test_keys_are_spread():
    """A thousand keys are spread over ten partitions, and each stays where it is"""
    keys = [b"customer-%d" % number for number in range(1000)]
    chosen = [partition_for_key(key, 10) for key in keys]
    assert chosen == [partition_for_key(key, 10) for key in keys], "the same key has the same partition each time"
    counts = Counter(chosen)
    assert len(counts) == 10, f"no key is in {min(set(range(10)) - set(counts))}: take the hash of the whole key"
    assert max(counts.values()) < 150, f"of 1000 keys, {max(counts.values())} are in one of ten partitions"
