r"""Replacements in the syntax of Java: ``$1`` and ``${name}`` are groups, ``\`` takes the next character as it is.

Kafka 0.10.2: none; java.util.regex.Matcher.appendReplacement · book 8.3.3
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kafka_lite.common.java.java_pattern import JavaPatternError

_TOKEN = re.compile(r"\\(.)|\$\{([a-zA-Z][a-zA-Z0-9]*)\}|\$([0-9]+)|([^\\$]+)|(.)", re.DOTALL)


def java_replacement(text: str, pattern: re.Pattern[str]) -> Callable[[re.Match[str]], str]:
    """A function for ``re.sub``. Raises JavaPatternError, also for a group that the pattern has not."""
    parts: list[str | int] = []
    for escaped, name, digits, literal, wrong in _TOKEN.findall(text):
        if wrong:
            raise JavaPatternError(
                f"Illegal group reference in {text}" if wrong == "$" else f"{text} ends in a backslash"
            )
        if name:
            if name not in pattern.groupindex:
                raise JavaPatternError(f"No group with name {{{name}}}")
            parts.append(pattern.groupindex[name])
        elif digits:
            parts.extend(_group_and_rest(digits, pattern.groups))
        else:
            parts.append(escaped or literal)
    return lambda match: "".join(part if isinstance(part, str) else match[part] or "" for part in parts)


def _group_and_rest(digits: str, groups: int) -> tuple[int, str]:
    """``$12`` is the group 12 if there is one, else the group 1 and a 2."""
    if int(digits[0]) > groups:
        raise JavaPatternError(f"No group {digits[0]}")
    length = 1
    while length < len(digits) and int(digits[: length + 1]) <= groups:
        length += 1
    return int(digits[:length]), digits[length:]
