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
    properties: tuple[tuple[str, str], ...]
    more_properties: bool

    @classmethod
    def parse(cls, text: str) -> ObjectNamePattern:
        """Parse ``domain:key=value,…``. Raises MalformedObjectNameError."""
        domain, colon, rest = text.partition(":")
        entries = _split_outside_quotes(rest)
        pairs = [entry.partition("=") for entry in entries if entry != "*"]
        if not colon or not rest or any(not equals or not key or not value for key, equals, value in pairs):
            raise MalformedObjectNameError(f"{text!r} is not of the form domain:key=value,key=value (with * at will)")
        properties = tuple((key, _unquoted(value)) for key, _, value in pairs)
        return cls(domain or "*", properties, "*" in entries)

    def matches(self, name: MetricName) -> bool:
        """Whether the pattern matches the bean name."""
        properties = name.properties
        return (
            _wildcard(self.domain).fullmatch(name.group) is not None
            and (self.more_properties or len(properties) == len(self.properties))
            and all(key in properties and _wildcard(value).fullmatch(properties[key]) for key, value in self.properties)
        )


def _split_outside_quotes(text: str) -> list[str]:
    return re.findall(r'(?:"(?:\\.|[^"\\])*"|[^,])+', text)


def _unquoted(value: str) -> str:
    if len(value) < 2 or value[0] != '"' or value[-1] != '"':
        return value
    return re.sub(r'\\(["\\*?])', r"\1", value[1:-1].replace("\\n", "\n"))


@lru_cache(maxsize=256)
def _wildcard(text: str) -> re.Pattern[str]:
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(char) or re.escape(char) for char in text), re.DOTALL)
