"""The texts of JSON as Jackson, Java's library, writes them, and reading what Jackson reads.

Kafka 0.10.2: connect/json/.../connect/json/JsonSerializer.java, JsonDeserializer.java · book 8.3.3
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NoReturn

from kafka_lite.common.java.java_numbers import double_text, float_text

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
_ESCAPE: Final = re.compile(r"\\(u[0-9a-f]{4}|.)")
_ABOVE_16_BITS: Final = re.compile("[\U00010000-\U0010ffff]")
_WHITESPACE: Final = " \t\r\n"


def quoted(text: str) -> str:
    """A JSON string as Jackson writes it: characters of more than 16 bits are escaped, with capital digits."""
    encoded = _ENCODER.encode(text)
    if "\\u" in encoded:
        encoded = _ESCAPE.sub(_in_capitals, encoded)
    return encoded if encoded.isascii() else _ABOVE_16_BITS.sub(_as_surrogates, encoded)


def _as_surrogates(character: re.Match[str]) -> str:
    high, low = divmod(ord(character[0]) - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04X}\\u{0xDC00 + low:04X}"


def _in_capitals(escape: re.Match[str]) -> str:
    kind = escape[1]
    return f"\\u{kind[1:].upper()}" if len(kind) > 1 else escape[0]


def double_json(number: float) -> str:
    """A double. JSON has no word for NaN and the infinities: they are strings."""
    return double_text(number) if math.isfinite(number) else f'"{double_text(number)}"'


def float_json(number: float) -> str:
    """A 32-bit float; one that is too large for 32 bits is infinite."""
    text = float_text(number)
    return f'"{text}"' if text[-1] in "Ny" else text  # NaN, Infinity


def parse_json(data: bytes) -> Any:
    """The first value of a text; fractions are ``Decimal``, since a float would lose digits of a decimal field.

    What follows the first value is ignored, as Jackson ignores it. Raises ValueError.
    """
    text = data.decode(json.detect_encoding(data)).lstrip(_WHITESPACE)
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except InvalidOperation:
        raise ValueError("it has a number that is too large") from None
    # A number or a word has to end where a token ends: 01 and truex are errors.
    if text[end - 1] not in '"]}' and text[end : end + 1] not in (*_WHITESPACE, ""):
        raise ValueError(f"unexpected {text[end]!r} after the value")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"unexpected {constant}")  # Python would read NaN and Infinity


_DECODER: Final = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse)
