"""The payloads that the producer performance tool sends.

Kafka 0.10.2: tools/.../tools/ProducerPerformance.java · book 1.4.1
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Sequence
from pathlib import Path

from kafka_lite.tools.common.tool_errors import ToolError

Payload = Callable[[int], bytes]
"""The value of the n-th record."""

SEED = 0
"""Fixed, so that every run sends the same payloads."""
_LETTERS = bytes(ord(string.ascii_uppercase[byte % 26]) for byte in range(256))


def random_letters(size_bytes: int) -> Payload:
    """Random capital letters, which compress like text without repetitions."""
    source = random.Random(SEED)
    return lambda _number: source.randbytes(size_bytes).translate(_LETTERS)


def monotonic() -> Payload:
    """The record's number, in decimal digits."""
    return lambda number: str(number).encode()


def any_of(payloads: Sequence[bytes]) -> Payload:
    """A random one of these payloads."""
    source = random.Random(SEED)
    return lambda _number: source.choice(payloads)


def read_payloads(file: Path, delimiter: str) -> list[bytes]:
    r"""Read the payloads of a UTF-8 text file. The delimiter ``\n``, given as these two characters, is a newline.

    Raises OSError, and ToolError if the file is empty or not UTF-8 text.
    """
    try:
        text = file.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ToolError(f"{file}: payloads must be UTF-8 text: {error}") from error
    parts = text.split("\n" if delimiter == "\\n" else delimiter)
    while parts and not parts[-1]:
        parts.pop()
    if not parts:
        raise ToolError(f"{file}: no payloads found")
    return [part.encode() for part in parts]
