r"""Maps the distinguished name of a client's certificate to a user name, by ``ssl.principal.mapping.rules``.

::

    RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/      the CN of a service user
    RULE:^CN=(.*?),.*$/$1@example.com/L        in lower case; U: in upper case
    DEFAULT                                    the distinguished name itself

Rules are separated by commas, and the first one that matches the whole name wins. A slash inside a rule is escaped with
a backslash. Patterns and replacements are Java's.

Kafka 2.4: clients/.../common/security/ssl/SslPrincipalMapper.java · book 2.3.2
"""

from __future__ import annotations

import re

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.java.java_pattern import java_pattern
from kafka_lite.common.java.java_replacement import java_replacement

_RULE = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_RULE_PARSER = re.compile(_RULE)
_RULE_SPLITTER = re.compile(rf"\s*({_RULE})\s*(,\s*|$)")
_BACK_REFERENCE = re.compile(r"\$(\d+)")


class NoMatchingRuleError(KafkaError):
    """No rule matches the distinguished name: the connection is refused."""


class _Rule:
    """One rule; ``text`` is None for the default rule, which keeps the name."""

    def __init__(self, text: str | None, replacement: str = "", case: str = "") -> None:
        """``case``: L or U for lower or upper case. Raises JavaPatternError."""
        self._written = "DEFAULT" if text is None else f"RULE:{text}/{replacement}/{case}"
        self._case = case
        self._pattern = None if text is None else java_pattern(text)
        if self._pattern is not None:
            known = _without_unknown_groups(replacement, self._pattern.groups)
            self._replacement = java_replacement(known, self._pattern)

    def apply(self, distinguished_name: str) -> str | None:
        """The user name; None if the rule does not match."""
        if self._pattern is None:
            return distinguished_name
        if not self._pattern.fullmatch(distinguished_name):
            return None
        name = self._pattern.sub(self._replacement, distinguished_name)
        return {"L": name.lower(), "U": name.upper()}.get(self._case, name)

    def __str__(self) -> str:
        return self._written


class SslPrincipalMapper:
    """The rules, parsed and checked when the broker starts."""

    def __init__(self, rules: str) -> None:
        """Raises ValueError for text that is no rule, JavaPatternError for its pattern or replacement."""
        self._rules = [rule for text in _split(rules) if (rule := _parse(text)) is not None]

    def name(self, distinguished_name: str) -> str:
        """The user name. Raises NoMatchingRuleError: with DEFAULT as the last rule, there always is one."""
        for rule in self._rules:
            if (name := rule.apply(distinguished_name)) is not None:
                return name
        raise NoMatchingRuleError(f"No rules apply to {distinguished_name}, rules {self}")

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self._rules))}]"


def _split(rules: str) -> list[str]:
    return [match[1] for match in _RULE_SPLITTER.finditer(rules.strip())]


def _parse(text: str) -> _Rule | None:
    """One rule; None for an empty one."""
    match = _RULE_PARSER.match(text)
    if match is None or match.end() != len(text):
        rest = text if match is None else text[match.end() :]
        raise ValueError(
            f"Invalid rule: {text!r}, unmatched: {rest!r}; write RULE:pattern/replacement/, with L or U after it for "
            "lower or upper case, or DEFAULT"
        )
    default, pattern, replacement, case, _ = match.groups()
    if default:
        return _Rule(None)
    return None if pattern is None else _Rule(pattern, replacement, case)


def _without_unknown_groups(replacement: str, groups: int) -> str:
    """Make ``$4`` literal if the pattern has fewer than four groups. Of ``$12`` the longest known number counts."""

    def escaped(match: re.Match[str]) -> str:
        digits = match[1]
        known = digits.startswith("0") or int(digits[0]) <= groups
        return match[0] if known else "\\" + match[0]

    return _BACK_REFERENCE.sub(escaped, replacement) if groups else replacement
