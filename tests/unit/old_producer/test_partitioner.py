"""Java's hash codes, and the partition that follows from one."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.old_producer.partitioner import DefaultPartitioner, java_hash_code


@pytest.mark.parametrize(
    ("key", "code"),
    [
        # As Java prints them.
        ("", 0), ("a", 97), ("hello", 99162322), ("技术", 808111), (b"", 1), (b"a", 128),
        (b"\xff\x01", (1 * 31 - 1) * 31 + 1), (7, 7), (-1, -1), (1 << 40, 256), (True, 1231), (False, 1237),
        ("polygenelubricants", -(1 << 31)), ("\N{GRINNING FACE}", 0xD83D * 31 + 0xDE00),
    ],
)  # fmt: skip
def test_hash_codes_match_java(key: Any, code: int) -> None:
    assert java_hash_code(key) == code


def test_keys_without_a_hash_code_are_refused() -> None:
    with pytest.raises(TypeError, match=r"a float: set partitioner\.class"):
        java_hash_code(1.5)


@pytest.mark.parametrize(
    ("key", "place"), [(5, 2), (-5, 2), (-(1 << 31), 0), (b"\xff" * 8, None), ("polygenelubricants", 0)]
)
def test_the_absolute_value_of_the_hash_counts(key: object, place: int | None) -> None:
    chosen = DefaultPartitioner({}).partition(key, 3)
    assert chosen == (abs(java_hash_code(key)) % 3 if place is None else place)


def test_equal_keys_go_to_one_partition_and_many_keys_to_all() -> None:
    partitioner = DefaultPartitioner({})
    chosen = [partitioner.partition(f"key-{number}", 7) for number in range(200)]
    assert chosen == [partitioner.partition(f"key-{number}", 7) for number in range(200)]
    assert set(chosen) == set(range(7))
