"""File names that the locale's encoding cannot represent: for example a folder named in Chinese under ``LC_ALL=POSIX``.

On disk a name is a sequence of bytes. Python decodes it with the locale's encoding and replaces each undecodable byte
with a lone surrogate (``\\udce6``). The resulting string still names the file, but cannot be encoded as UTF-8.

Java has no such names: it rejects them, or replaces what it cannot encode · book 1.4.1
"""

from __future__ import annotations

import os
from pathlib import Path


def file_name_of(text: str) -> str:
    """Convert ``text``, read from a UTF-8 file, to a name that ``os`` functions accept under any locale's encoding."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return os.fsdecode(text.encode("utf-8", "surrogateescape"))
    return text


def displayed(name: str | Path) -> str:
    """A name that can be encoded as UTF-8; invalid bytes become replacement characters."""
    return os.fsencode(name).decode("utf-8", "replace")
