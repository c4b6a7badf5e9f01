"""Reads and writes Java's ``.properties`` files: server.properties, meta.properties, tools' config files.

Kafka 0.10.2: clients/.../common/utils/Utils.java (loadProps), java.util.Properties · book 1.4.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from kafka_lite.common.errors import KafkaError

_WHITESPACE = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class PropertiesError(KafkaError):
    """A file that violates the ``.properties`` syntax."""


def load_properties(source: Path | str) -> dict[str, str]:
    """Parse a file (a ``Path``) or a text (a ``str``); the last entry wins if a key occurs twice.

    Files are read as UTF-8, with or without a byte order mark. Raises OSError if the file cannot be read and
    PropertiesError if it is malformed.
    """
    if isinstance(source, Path):
        try:
            source = source.read_text(encoding="utf-8-sig")  # an editor on Windows may begin it with a BOM
        except UnicodeDecodeError as error:
            raise PropertiesError(f"{source} is not UTF-8 text: {error}") from error
    entries = (_split(line) for line in _logical_lines(source))
    return {_unescape(key): _unescape(value) for key, value in entries}


def dump_properties(entries: Mapping[str, str], comments: tuple[str, ...] = ()) -> str:
    """Format the entries in order; ``comments`` become ``#`` lines at the top."""
    lines = [f"#{comment}" for comment in comments]
    lines += [f"{_escape(key, is_key=True)}={_escape(value, is_key=False)}" for key, value in entries.items()]
    return "".join(line + "\n" for line in lines)


def _logical_lines(text: str) -> Iterator[str]:
    r"""Yield lines without comments and blank lines; a line ending in an odd number of backslashes is continued."""
    pending = ""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        line = line.lstrip(_WHITESPACE)
        if not pending and (not line or line[0] in "#!"):
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
            continue
        yield pending + line
        pending = ""
    if pending:
        yield pending


def _split(line: str) -> tuple[str, str]:
    """Split into key and value, still escaped: the key ends at the first unescaped ``=``, ``:`` or whitespace."""
    end = 0
    while end < len(line) and line[end] not in "=:" + _WHITESPACE:
        end += 2 if line[end] == "\\" else 1
    rest = line[end:].lstrip(_WHITESPACE)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_WHITESPACE)
    return line[:end], rest


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    out: list[str] = []
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        if char != "\\" or position == len(text):
            out.append(char)
        elif text[position] == "u":
            out.append(_unicode(text, position + 1))
            position += 5
        else:
            out.append(_ESCAPES.get(text[position], text[position]))
            position += 1
    return "".join(out)


def _unicode(text: str, position: int) -> str:
    digits = text[position : position + 4]
    try:
        if len(digits) == 4:
            return chr(int(digits, 16))
    except ValueError:
        pass
    raise PropertiesError(f"Malformed \\uXXXX escape in {text!r}: \\u must be followed by four hexadecimal digits")


def _escape(text: str, *, is_key: bool) -> str:
    r"""Escape what would end a key or be stripped; ``: = # !`` are escaped in values too, as in Java."""
    out = []
    for position, char in enumerate(text):
        if char == " ":
            out.append("\\ " if is_key or position == 0 else " ")
        elif char in "\t\n\r\f":
            out.append("\\" + {value: key for key, value in _ESCAPES.items()}[char])
        elif char in "\\=:#!":
            out.append("\\" + char)
        elif "\ud800" <= char <= "\udfff":  # an undecodable byte of a file name: see common/file_names.py
            out.append(f"\\u{ord(char):04x}")
        else:
            out.append(char)
    return "".join(out)
