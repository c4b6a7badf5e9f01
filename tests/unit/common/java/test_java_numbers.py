import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.java.java_numbers import double_text, float_text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (1e-5, "1.0E-5"),
        (123.456, "123.456"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (1e30, "1.0E30"),
        (5e-324, "4.9E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
    ],
)
def test_doubles(number: float, text: str) -> None:
    assert double_text(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.1, "0.1"),
        (1.5, "1.5"),
        (16777216.0, "1.6777216E7"),
        (3.4028235e38, "3.4028235E38"),
        (1e39, "Infinity"),
        (-1e39, "-Infinity"),
        (1e-46, "0.0"),
        (1.4e-45, "1.4E-45"),
        (math.nan, "NaN"),
        (0.333333333333, "0.33333334"),
    ],
)
def test_floats(number: float, text: str) -> None:
    assert float_text(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_reads_back(number: float) -> None:
    assert float(double_text(number)) == number


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_reads_back(number: float) -> None:
    assert math.isclose(float(float_text(number)), number, rel_tol=1e-7, abs_tol=1e-45)
