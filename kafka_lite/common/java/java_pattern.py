"""Patterns in the syntax of Java, as Kafka's options and flags have them, compiled by Python's ``re``.

Most patterns mean the same in both languages. Python silently reads some of Java's as something else:
``[a-z&&[^b]]`` is a set with an ampersand. Such a pattern is rejected with an error that names the unsupported part.

Kafka 0.10.2: none; java.util.regex.Pattern · book 3.1.3
"""

from __future__ import annotations

import re

from kafka_lite.common.errors import KafkaError

_END_OF_QUOTE = r"\E"
_ESCAPES = frozenset("AZbBdDsSwWafnrtu123456789")
"""Letters and digits after a backslash that mean the same in both, once ``\\d``, ``\\s`` and ``\\w`` are ASCII."""
_GROUPS = re.compile(r"\((?:(?!\?)|\?(?::|=|!|>|<=|<!|-?[ims]+(?:-[ims]+)?:))")
"""How groups begin that are the same in both."""
_FLAGS = re.compile(r"\(\?[ims]+\)")
_NAMED_GROUP = re.compile(r"\(\?<([a-zA-Z][a-zA-Z0-9]*)>")
_NAMED_REFERENCE = re.compile(r"\\k<([a-zA-Z][a-zA-Z0-9]*)>")
_REPETITION = re.compile(r"\{\d+(?:,\d*)?\}")
_HEXADECIMAL = re.compile(r"\\x[0-9a-fA-F]{2}")
_CONSTRUCT = re.compile(r"\\[pP]\{\w*\}?|\\.|\(\?[^\s:)]?|.|$", re.DOTALL)
"""The part of a pattern, from the first unknown construct on, that a message shows."""


class JavaPatternError(KafkaError):
    """Why a pattern cannot be compiled: it is not valid, or has a construct that is not known here."""


def java_pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern of Java's syntax. Raises JavaPatternError."""
    try:
        return re.compile(_Translation(text).run(), re.ASCII)  # in Java, \w and (?i) are about ASCII
    except re.error as error:
        raise JavaPatternError(str(error)) from error


class _Translation:
    """One pass over the text, construct by construct."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._translated: list[str] = []

    def run(self) -> str:
        """The pattern in Python's syntax."""
        while self._at < len(self._text):
            match self._text[self._at]:
                case "\\":
                    self._escape()
                case "[":
                    self._set()
                case "(":
                    self._group()
                case "{":
                    self._take(_REPETITION)
                case char:
                    self._append(char, 1)
        return "".join(self._translated)

    def _append(self, translated: str, length: int) -> None:
        self._translated.append(translated)
        self._at += length

    def _take(self, construct: re.Pattern[str]) -> None:
        """Take over a construct that is the same in both. Raises JavaPatternError if it is not there."""
        found = construct.match(self._text, self._at)
        if found is None:
            raise self._unknown()
        self._append(found[0], len(found[0]))

    def _escape(self) -> None:
        escaped = self._text[self._at + 1 : self._at + 2]
        if escaped == "Q":
            end = self._text.find(_END_OF_QUOTE, self._at)
            quoted = self._text[self._at + 2 : end if end >= 0 else None]
            self._append(re.escape(quoted), len(quoted) + (4 if end >= 0 else 2))
        elif escaped == "z":
            self._append(r"\Z", 2)
        elif named := _NAMED_REFERENCE.match(self._text, self._at):
            self._append(f"(?P={named[1]})", len(named[0]))
        elif escaped == "x":
            self._take(_HEXADECIMAL)
        elif not escaped.isalnum() or escaped in _ESCAPES:
            self._append(self._text[self._at : self._at + 2], 2)
        else:
            raise self._unknown()

    def _set(self) -> None:
        """A set of characters. Java's has intersections and other sets in it, which Python takes for characters."""
        self._append("[", 1)
        if self._text.startswith("^", self._at):
            self._append("^", 1)
        begin = self._at
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == "]" and self._at > begin:
                self._append("]", 1)
                return
            if char == "\\":
                self._escape()
            elif char == "[" or self._text.startswith("&&", self._at):
                raise self._unknown()
            else:
                self._append(f"\\{char}" if char in "&|~" else char, 1)  # doubled, Python would warn of them

    def _group(self) -> None:
        if named := _NAMED_GROUP.match(self._text, self._at):
            self._append(f"(?P<{named[1]}>", len(named[0]))
        else:
            self._take(_FLAGS if self._at == 0 and _FLAGS.match(self._text) else _GROUPS)

    def _unknown(self) -> JavaPatternError:
        found = _CONSTRUCT.match(self._text, self._at)
        what = "&&" if self._text.startswith("&&", self._at) else found[0] if found else ""
        return JavaPatternError(
            f"{what} at position {self._at} is not known here: of Java's regular expressions, sets within sets, "
            "\\p{…} and rarer constructs are missing. Write the characters out"
        )
