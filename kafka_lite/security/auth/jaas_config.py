"""Reads ``sasl.jaas.config``, and JAAS login files: a login module, a control flag, and its options.

::

    org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="secret" ;
    ─────────────── login module ────────────────────────── ─flag─── ─key──── ─value─ …

Words are letters, digits and ``. _ - $``. Everything else, and a value that begins with a digit, needs single or double
quotes. A backslash in quotes escapes as in Java. ``//``, ``/* … */`` and a bare ``/`` outside of quotes begin comments.

Errors name the key, never its value: it may be a password.

Kafka 0.10.2: clients/.../common/security/JaasConfig.java, and java.io.StreamTokenizer, with which it reads · book 2.3.2
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kafka_lite.common.errors import KafkaError

CONTROL_FLAGS = ("required", "requisite", "sufficient", "optional")


class JaasConfigError(KafkaError):
    """The reason why a JAAS configuration cannot be read, and how to write it."""


@dataclass(frozen=True)
class AppConfigurationEntry:
    """A login module with its options. The flag has no effect, because an entry stands alone."""

    login_module: str
    control_flag: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"AppConfigurationEntry({self.login_module}, {self.control_flag}, options {sorted(self.options)})"


def parse_jaas_config(text: str) -> list[AppConfigurationEntry]:
    """Every entry of the text. Raises JaasConfigError if there is none, or if one is not complete."""
    tokens = _Tokens(text)
    entries = []
    while (token := tokens.next()) is not None:
        entries.append(_entry(token, tokens))
    if not entries:
        raise JaasConfigError('Login module not specified in JAAS config: write Module required key="value" ;')
    return entries


def parse_login_config(text: str) -> dict[str, list[AppConfigurationEntry]]:
    """The sections of a login file, ``Name { entry; entry; };``, by name. Raises JaasConfigError."""
    tokens = _Tokens(text)
    sections: dict[str, list[AppConfigurationEntry]] = {}
    while (name := tokens.next()) is not None:
        if name.text is None or name.text in sections:
            raise JaasConfigError(
                f"A section of the JAAS login file has no name of its own: {name.text or name.mark!r}"
            )
        _expect(tokens, "{", name.text)
        entries = sections[name.text] = []
        while (token := tokens.next()) is not None and token.mark != "}":
            entries.append(_entry(token, tokens))
        if token is None:
            raise JaasConfigError(f"The section {name.text} of the JAAS login file is not closed: add '}};'")
        _expect(tokens, ";", name.text)
    return sections


def _expect(tokens: _Tokens, mark: str, section: str) -> None:
    token = tokens.next()
    if token is None or token.mark != mark:
        raise JaasConfigError(f"The section {section} of the JAAS login file lacks a {mark!r}")


def _entry(first: _Token, tokens: _Tokens) -> AppConfigurationEntry:
    if first.text is None:
        raise JaasConfigError(f"Login module not specified in JAAS config: {first.mark!r} stands in its place")
    flag = tokens.next()
    if flag is None or flag.text is None:
        raise JaasConfigError(
            f"Login module control flag not specified in JAAS config: write one of {', '.join(CONTROL_FLAGS)} after "
            f"{first.text}"
        )
    if flag.text.lower() not in CONTROL_FLAGS:
        raise JaasConfigError(
            f"Invalid login module control flag {flag.text!r} in JAAS config; valid: {', '.join(CONTROL_FLAGS)}"
        )
    return AppConfigurationEntry(first.text, flag.text.lower(), dict(_options(tokens)))


def _options(tokens: _Tokens) -> Iterator[tuple[str, str]]:
    """The pairs up to the semicolon."""
    while (key := tokens.next()) is not None:
        if key.mark == ";":
            return
        equals = tokens.next()
        value = tokens.next() if equals is not None and equals.mark == "=" else None
        if key.text is None or value is None or value.text is None:
            name = key.text if key.text is not None else key.mark
            raise JaasConfigError(
                f'Value not specified for key {name!r} in JAAS config: write {name}="…"; a value that is a number or '
                "has other characters than letters, digits and . _ - $ needs the quotes"
            )
        yield key.text, value.text
    raise JaasConfigError("JAAS config entry not terminated by semi-colon: add ' ;' to the end")


class _Token(NamedTuple):
    """A word or quoted text, or else a mark: another character, or ``number``."""

    text: str | None
    mark: str = ""


_SPACE_AND_COMMENTS = re.compile(r"(?:[\x00-\x20]|//[^\r\n]*|/\*.*?(?:\*/|\Z)|/[^\r\n]*)+", re.DOTALL)
_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)|\.")
_WORD = re.compile(r"[A-Za-z_$\xa0-\U0010ffff][A-Za-z_$\xa0-\U0010ffff0-9.-]*")
_QUOTED = re.compile(r"""(["'])((?:\\.|(?!\1)[^\\\r\n])*)(?:\1|(?=[\r\n])|\\?\Z)""", re.DOTALL)
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class _Tokens:
    """The tokens as Java's StreamTokenizer splits them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def next(self) -> _Token | None:
        """The next token; None at the end."""
        self._take(_SPACE_AND_COMMENTS)
        if self._at == len(self._text):
            return None
        if (quoted := self._take(_QUOTED)) is not None:
            return _Token(_ESCAPE.sub(_unescaped, quoted[2]))
        if (word := self._take(_WORD)) is not None:
            return _Token(word[0])
        if self._take(_NUMBER) is not None:
            return _Token(None, "number")
        self._at += 1
        return _Token(None, self._text[self._at - 1])

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
        return match


def _unescaped(match: re.Match[str]) -> str:
    escape = match[1]
    return chr(int(escape, 8)) if escape[0] in "01234567" else _ESCAPED.get(escape, escape)
