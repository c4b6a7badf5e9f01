"""Names of files that are not in the encoding of the locale: ``LC_ALL=POSIX`` and a folder named in Chinese.

A name on disk is bytes. Python decodes them with the locale's encoding and puts half a surrogate pair (``\\udce6``) in
the place of each byte that does not fit; such a text names the file, but cannot be written as UTF-8.

Java has no such names: it refuses them, or replaces what it cannot encode · book 1.4.1
"""

from __future__ import annotations

import os
from pathlib import Path


def file_name_of(text: str) -> str:
    """``text``, read from a UTF-8 file, as a name that the functions of ``os`` take whatever the locale's encoding."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return os.fsdecode(text.encode("utf-8", "surrogateescape"))
    return text


def displayed(name: str | Path) -> str:
    """A name as UTF-8 can carry it: replacement characters where its bytes are no UTF-8."""
    return os.fsencode(name).decode("utf-8", "replace")
