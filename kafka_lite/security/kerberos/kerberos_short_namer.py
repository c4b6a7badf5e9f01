"""Names users of Kerberos for ACLs and quotas, by ``sasl.kerberos.principal.to.local.rules``.

The first rule that applies counts; none applies to the users of foreign realms unless a rule is written for them.

Kafka 0.10.2: clients/.../common/security/kerberos/KerberosShortNamer.java · book 2.3.2
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kafka_lite.security.kerberos.kerberos_name import KerberosName
from kafka_lite.security.kerberos.kerberos_rule import DefaultKerberosRule, KerberosRule, NoMatchingKerberosRuleError

_RULE_PARSER = re.compile(
    r"(?P<default>DEFAULT)"
    r"|RULE:\[(?P<components>[0-9]*):(?P<format>[^\]]*)\](?:\((?P<match>[^)]*)\))?"
    r"(?:s/(?P<from>[^/]*)/(?P<to>[^/]*)/(?P<repeat>g)?)?/?(?P<case>[LU])?"
)


class KerberosShortNamer:
    """The rules of a listener."""

    def __init__(self, rules: Sequence[str], default_realm: str = "") -> None:
        """Raises ValueError for text that is no rule, JavaPatternError for its patterns."""
        self._rules = [_parse(rule, default_realm) for rule in rules]

    def short_name(self, name: KerberosName) -> str:
        """The user name. Raises NoMatchingKerberosRuleError, BadFormatStringError."""
        if name.realm is None:
            return name.service_name
        params = [name.realm, name.service_name] + ([] if name.host_name is None else [name.host_name])
        for rule in self._rules:
            if (found := rule.apply(params)) is not None:
                return found
        raise NoMatchingKerberosRuleError(f"No rules apply to {name}, rules {self}")

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self._rules))}]"


def _parse(text: str, default_realm: str) -> KerberosRule | DefaultKerberosRule:
    match = _RULE_PARSER.match(text)
    if match is None:
        raise ValueError(f"Invalid rule: {text}; write RULE:[1:$1@$0](pattern)s/pattern/replacement/g/L, or DEFAULT")
    if match.end() != len(text):
        raise ValueError(f"Invalid rule: `{text}`, unmatched substring: `{text[match.end() :]}`")
    if match["default"]:
        return DefaultKerberosRule(default_realm)
    if not match["components"]:
        raise ValueError(f"Invalid rule: {text}; it does not say how many parts a name has, as in RULE:[1:$1]")
    substitution = None if match["from"] is None else (match["from"], match["to"])
    repeat = match["repeat"] is not None
    return KerberosRule(
        int(match["components"]), match["format"], match["match"], substitution, repeat=repeat, case=match["case"]
    )
