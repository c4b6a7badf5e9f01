"""Floating-point numbers as Java writes them.

A number has the fewest digits, but at least two, that read back as the same number, as since JDK 19.

Kafka 0.10.2: none; java.lang.Double.toString, Float.toString · book 8.3.3
"""

from __future__ import annotations

import math
import struct


def double_text(number: float) -> str:
    """A double: ``100.0``, ``0.001``, ``1.0E-4``, ``1.0E7``, ``NaN``, ``-Infinity``."""
    two_digits = f"{number:.1e}"
    return _java_form(number, two_digits if float(two_digits) == number else repr(number))


def float_text(number: float) -> str:
    """A 32-bit float, with the fewest digits that make it: ``0.1`` for the float nearest to 0.1."""
    single = to_single(number)
    if not math.isfinite(single):
        return _java_form(single, "")
    texts = (f"{single:.{digits}e}" for digits in range(1, 9))
    return _java_form(single, next(text for text in texts if to_single(float(text)) == single))


def to_single(number: float) -> float:
    """The nearest 32-bit float. Beyond the largest one it is infinite."""
    try:
        single: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)
    return single


def _java_form(number: float, digits: str) -> str:
    """``digits`` is the number in any form of Python; Java shows an exponent from 1e7 up and below 1e-3."""
    if math.isnan(number):
        return "NaN"
    sign = "-" if math.copysign(1, number) < 0 else ""
    if math.isinf(number):
        return f"{sign}Infinity"
    if number == 0:
        return f"{sign}0.0"
    mantissa, point = _digits_and_point(digits.lstrip("-"))
    if 1e-3 <= abs(number) < 1e7:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{mantissa}"
        mantissa = mantissa.ljust(point + 1, "0")
        return f"{sign}{mantissa[:point]}.{mantissa[point:]}"
    return f"{sign}{mantissa[0]}.{mantissa[1:] or '0'}E{point - 1}"


def _digits_and_point(text: str) -> tuple[str, int]:
    """The significant digits, and how many of them stand before the point (0 or less: zeros follow the point)."""
    number, _, exponent = text.partition("e")
    whole, _, fraction = number.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole + fraction) - len(digits)
    return digits.rstrip("0"), len(whole) - leading_zeros + int(exponent or 0)
