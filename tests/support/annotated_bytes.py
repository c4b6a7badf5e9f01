"""Bytes drawn by hand: hexadecimal digits, 'text' in quotes, and a comment after ``#`` on each line.

0002 'me'   # client_id
00000005    # correlation id
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"'([^']*)'|([0-9a-f]+)|(\S)")


def annotated_bytes(text: str) -> bytes:
    """The bytes of a drawing. Raises ValueError for anything that is neither digits nor quoted text."""
    out = bytearray()
    for line in text.splitlines():
        for quoted, digits, other in _TOKEN.findall(line.partition("#")[0]):
            if other:
                raise ValueError(f"neither hexadecimal nor quoted: {line!r}")
            out += bytes.fromhex(digits) if digits else quoted.encode()
    return bytes(out)
