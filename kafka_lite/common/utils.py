"""Small Java functions that Kafka's formats depend on.

Kafka 0.10.2: clients/.../common/utils/Utils.java, java.lang.String.hashCode · book 3.5.3
"""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1024)  # the same groups are looked up again and again
def java_string_hash(text: str) -> int:
    """``text.hashCode()``: 31-based, over UTF-16 code units, as a signed 32-bit number."""
    value = 0
    units = text.encode("utf-16-be")
    for i in range(0, len(units), 2):
        value = (31 * value + (units[i] << 8 | units[i + 1])) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def java_abs(number: int) -> int:
    """Kafka's ``Utils.abs``: the absolute value, or 0 for the one int whose absolute value overflows."""
    return 0 if number == -(2**31) else abs(number)
