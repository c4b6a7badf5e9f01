"""Task 1: a hash without its sign."""

import pytest

from kafka_lite.common.murmur2 import to_positive


@pytest.mark.points(10, task=1)
def test_positive_numbers():
    """A positive number stays as it is"""
    for number in (0, 5, 2**31 - 1):
        got = to_positive(number)
        assert got == number, f"to_positive({number}) is {number}, not {got}: it has no sign bit"


@pytest.mark.points(15, task=1)
def test_negative_numbers():
    """A negative number loses its highest bit, and no other"""
    for number, wanted in ((-1, 2**31 - 1), (-2, 2**31 - 2), (-(2**31), 0), (-1_924_862_113, 222_621_535)):
        got = to_positive(number)
        why = "that is abs: Java's absolute value of -2147483648 is still negative" if got == abs(number) else ""
        assert got == wanted, f"to_positive({number}) is {wanted}, not {got}" + (f"; {why}" if why else "")
