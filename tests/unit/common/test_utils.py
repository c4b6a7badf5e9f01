"""Java's small functions, checked against values that Java printed."""

import pytest

from kafka_lite.common.utils import java_abs, java_string_hash


@pytest.mark.parametrize(
    ("text", "expected"),
    # newgrp and delgrp were observed on a live 0.10.2.2 cluster: partitions 7 and 8 of 10.
    [("", 0), ("a", 97), ("newgrp", -1048837307), ("delgrp", -1335456518), ("polygenelubricants", -(2**31))],
)
def test_string_hash(text: str, expected: int) -> None:
    assert java_string_hash(text) == expected


def test_string_hash_counts_utf16_units() -> None:
    assert java_string_hash("😀") == 31 * 0xD83D + 0xDE00


def test_abs_of_the_smallest_int() -> None:
    assert java_abs(-(2**31)) == 0
    assert java_abs(-7) == 7
