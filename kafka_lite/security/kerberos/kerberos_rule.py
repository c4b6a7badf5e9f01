"""One rule of ``sasl.kerberos.principal.to.local.rules``: the user name of those principals that it applies to.

::

    RULE:[2:$1.$2](kafka\\..*)s/kafka\\.(.*)/broker-$1/g/L
          │ │      │          │                      │ └ L or U: lower or upper case, at the end
          │ │      │          │                      └ g: substitute every match, not only the first
          │ │      │          └ substitute in that text
          │ │      └ only if the whole text matches
          │ └ a text: $0 is the realm, $1 and $2 are the parts of the name
          └ only names of so many parts: alice@R has one, kafka/host@R has two
    DEFAULT        the first part of a name in the default realm

Kafka 0.10.2: clients/.../common/security/kerberos/KerberosRule.java, BadFormatString.java, NoMatchingRule.java
· book 2.3.2
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.java.java_pattern import java_pattern
from kafka_lite.common.java.java_replacement import java_replacement

_PARAMETER = re.compile(r"\$([0-9]*)")


class NoMatchingKerberosRuleError(KafkaError):
    """No rule gives the principal a user name, or a rule gives it one with ``/`` or ``@``."""


class BadFormatStringError(KafkaError):
    """The text of a rule names a part that the principal has not."""


@dataclass(frozen=True)
class DefaultKerberosRule:
    """Users of the default realm keep their name."""

    default_realm: str

    def apply(self, params: Sequence[str]) -> str | None:
        """The user name; None if the rule does not apply. Raises NoMatchingKerberosRuleError."""
        return _simple(params[1], self) if params[0] == self.default_realm else None

    def __str__(self) -> str:
        return "DEFAULT"


class KerberosRule:
    """A rule with a format."""

    def __init__(
        self,
        components: int,
        template: str,
        match: str | None = None,
        substitution: tuple[str, str] | None = None,
        *,
        repeat: bool = False,
        case: str | None = None,
    ) -> None:
        """``substitution``: pattern and replacement, in Java's syntax; ``case``: L or U. Raises JavaPatternError."""
        self._components = components
        self._format = template
        self._match = match
        self._matching = None if match is None else java_pattern(match)
        self._substitution = substitution
        self._repeat = repeat
        self._case = case
        if substitution is not None:
            self._from = java_pattern(substitution[0])
            self._to = java_replacement(substitution[1], self._from)

    def apply(self, params: Sequence[str]) -> str | None:
        """The user name of the principal with the ``params`` realm, name and maybe host; None if it does not apply.

        Raises NoMatchingKerberosRuleError for a name that is not simple, BadFormatStringError.
        """
        if len(params) - 1 != self._components:
            return None
        name = replace_parameters(self._format, params)
        if self._matching is not None and not self._matching.fullmatch(name):
            return None
        if self._substitution is not None:
            name = self._from.sub(self._to, name, count=0 if self._repeat else 1)
        name = _simple(name, self)
        return {"L": name.lower(), "U": name.upper()}.get(self._case or "", name)

    def __str__(self) -> str:
        match = "" if self._match is None else f"({self._match})"
        substitution = ""
        if self._substitution is not None:
            substitution = f"s/{self._substitution[0]}/{self._substitution[1]}/{'g' if self._repeat else ''}"
        case = f"/{self._case}" if self._case else ""
        return f"RULE:[{self._components}:{self._format}]{match}{substitution}{case}"


def replace_parameters(template: str, params: Sequence[str]) -> str:
    """Put the parts in the places of ``$0``, ``$1`` and ``$2``. Raises BadFormatStringError."""

    def part(reference: re.Match[str]) -> str:
        if not reference[1]:
            raise BadFormatStringError(f"bad format in username mapping: a $ without a number in {template}")
        number = int(reference[1])
        if number >= len(params):
            raise BadFormatStringError(
                f"index {number} from {template} is outside of the valid range 0 to {len(params) - 1}"
            )
        return params[number]

    return _PARAMETER.sub(part, template)


def _simple(name: str, rule: object) -> str:
    if "/" in name or "@" in name:
        raise NoMatchingKerberosRuleError(f"Non-simple name {name} after auth_to_local rule {rule}")
    return name
