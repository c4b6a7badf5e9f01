"""Metric names in JMX notation: ``kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=t``.

Kafka 0.10.2: core/.../metrics/KafkaMetricsGroup.scala (metricName), clients/.../common/MetricName.java · book 2.3
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_MUST_BE_QUOTED = re.compile(r'[,=:"*?\n]')
_ESCAPED = re.compile(r'(["\\*?])')
_ESCAPE = re.compile(r'\\(["\\*?n])')
_TOKEN = re.compile(_ESCAPE.pattern + "|.", re.DOTALL)


class MalformedObjectNameError(ValueError):
    """A text that is neither a bean name nor a pattern of names."""


@dataclass(frozen=True, slots=True)
class MetricName:
    """The name of one metric: a group (in JMX: domain), a type, a name, and ordered tags.

    Beans of Kafka's own metrics library have no ``name``: the metrics with the same group and tags are the attributes
    of one bean.
    """

    group: str
    type: str
    name: str = ""
    tags: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, group: str, type_name: str, name: str = "", tags: Mapping[str, str] | None = None) -> MetricName:
        """Create a name with these tags; a tag without a value is left out, as in Kafka."""
        return cls(group, type_name, name, tuple((key, value) for key, value in (tags or {}).items() if value))

    @property
    def properties(self) -> dict[str, str]:
        """The properties after the colon, unquoted."""
        first = {"type": self.type, "name": self.name} if self.name else {"type": self.type}
        return first | dict(self.tags)

    @property
    def mbean_name(self) -> str:
        """The JMX name. A value with special characters, such as the colons of an IPv6 address, is quoted."""
        properties = ",".join(f"{key}={quote_if_required(value)}" for key, value in self.properties.items())
        return f"{self.group}:{properties}"

    def __str__(self) -> str:
        return self.mbean_name


def quote_if_required(value: str) -> str:
    """Quote ``value`` if JMX requires it (``ObjectName.quote``)."""
    if not _MUST_BE_QUOTED.search(value):
        return value
    return '"' + _ESCAPED.sub(r"\\\1", value).replace("\n", "\\n") + '"'


@dataclass(frozen=True)
class ObjectNamePattern:
    """A bean name in which ``*`` and ``?`` match any text and any character, as in JMX queries::

    kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec         this bean
    kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,*       this one and those of topics
    kafka.*:*                                                       all beans of Kafka
    """

    domain: str
    written_properties: tuple[tuple[str, str], ...]
    """As written in the pattern: within quotation marks, ``\\*`` is a literal ``*``."""
    more_properties: bool

    @classmethod
    def parse(cls, text: str) -> ObjectNamePattern:
        """Parse ``domain:key=value,…``. Raises MalformedObjectNameError."""
        domain, colon, rest = text.partition(":")
        entries = _split_outside_quotes(rest)
        pairs = [entry.partition("=") for entry in entries if entry != "*"]
        if not colon or not rest or any(not equals or not key or not value for key, equals, value in pairs):
            raise MalformedObjectNameError(
                f"{text!r} is not of the form domain:key=value,key=value (patterns may contain *)"
            )
        properties = tuple((key, value) for key, _, value in pairs)
        return cls(domain or "*", properties, "*" in entries)

    @property
    def properties(self) -> tuple[tuple[str, str], ...]:
        """Keys and values, unquoted."""
        return tuple((key, _unquoted(value)) for key, value in self.written_properties)

    def matches(self, name: MetricName) -> bool:
        """Whether the pattern matches the bean name."""
        properties, wanted = name.properties, self.written_properties
        return (
            _wildcard(self.domain).fullmatch(name.group) is not None
            and (self.more_properties or len(properties) == len(wanted))
            and all(key in properties and _wildcard(value).fullmatch(properties[key]) for key, value in wanted)
        )


def _split_outside_quotes(text: str) -> list[str]:
    return re.findall(r'(?:"(?:\\.|[^"\\])*"|[^,])+', text)


def _is_quoted(value: str) -> bool:
    return len(value) >= 2 and value[0] == value[-1] == '"'


def _unquoted(value: str) -> str:
    return _ESCAPE.sub(_unescaped, value[1:-1]) if _is_quoted(value) else value


def _unescaped(escape: re.Match[str]) -> str:
    return "\n" if escape[1] == "n" else escape[1]


@lru_cache(maxsize=256)
def _wildcard(text: str) -> re.Pattern[str]:
    """Compile a domain or a value as written; within quotation marks, a backslash makes a wildcard literal."""
    if _is_quoted(text):
        expression = _TOKEN.sub(_expression_of_token, text[1:-1])
    else:
        expression = "".join(map(_expression_of_char, text))
    return re.compile(expression, re.DOTALL)


def _expression_of_token(token: re.Match[str]) -> str:
    return _expression_of_char(token[0]) if token[1] is None else re.escape(_unescaped(token))


def _expression_of_char(char: str) -> str:
    return {"*": ".*", "?": "."}.get(char) or re.escape(char)
