"""Which topics a consumer wants that does not name them: a regular expression, to match or not to match.

Kafka 0.10.2: core/.../consumer/TopicFilter.scala (Whitelist, Blacklist) · book 3.1.3
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_names import is_internal


class InvalidRegexError(KafkaError):
    """A filter that is no regular expression."""


class TopicFilter(ABC):
    """A regular expression over whole names; ``t1,t2`` means ``t1|t2``, and blanks and quotation marks are dropped.

    The same text reaches every member of the group, in Java and here; so what both understand should be in it.
    Raises InvalidRegexError.
    """

    pattern: str
    """What this kind of filter is called in a member's registration."""

    def __init__(self, raw_regex: str) -> None:
        # Property files may bring quotes.
        self.regex = raw_regex.strip().replace(",", "|").replace(" ", "").strip("\"'")
        try:
            self._compiled = re.compile(self.regex)
        except re.error as error:
            raise InvalidRegexError(f"{self.regex} is an invalid regex: {error}") from error

    def matches(self, topic: str) -> bool:
        """Whether the whole name matches."""
        return self._compiled.fullmatch(topic) is not None

    @abstractmethod
    def is_topic_allowed(self, topic: str, exclude_internal_topics: bool) -> bool:
        """Whether the consumer wants this topic."""

    def __str__(self) -> str:
        return self.regex


class Whitelist(TopicFilter):
    """The topics that match."""

    pattern = "white_list"

    def is_topic_allowed(self, topic: str, exclude_internal_topics: bool) -> bool:
        """Those that match, perhaps without Kafka's own."""
        return self.matches(topic) and not (exclude_internal_topics and is_internal(topic))


class Blacklist(TopicFilter):
    """All other topics."""

    pattern = "black_list"

    def is_topic_allowed(self, topic: str, exclude_internal_topics: bool) -> bool:
        """Those that do not match, perhaps without Kafka's own."""
        return not self.matches(topic) and not (exclude_internal_topics and is_internal(topic))
