"""Topic filters of consumers: a regular expression that topics must, or must not, match.

Kafka 0.10.2: core/.../consumer/TopicFilter.scala (Whitelist, Blacklist) · book 3.1.3
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.java.java_pattern import JavaPatternError, java_pattern
from kafka_lite.common.topic_names import is_internal


class InvalidRegexError(KafkaError):
    """A filter that is not a valid regular expression."""


class TopicFilter(ABC):
    """A regular expression for whole names. ``t1,t2`` means ``t1|t2``; blanks and quotation marks are dropped.

    The same text reaches every member of the group, in Java and Python: it is in Java's syntax. Raises
    InvalidRegexError.
    """

    pattern: str
    """The name of this kind of filter in a member's registration."""

    def __init__(self, raw_regex: str) -> None:
        # Property files may contain quotes.
        self.regex = raw_regex.strip().replace(",", "|").replace(" ", "").strip("\"'")
        try:
            self._compiled = java_pattern(self.regex)
        except JavaPatternError as error:
            raise InvalidRegexError(f"{self.regex} is an invalid regex: {error}") from error

    def matches(self, topic: str) -> bool:
        """Whether the whole name matches."""
        return self._compiled.fullmatch(topic) is not None

    @abstractmethod
    def is_topic_allowed(self, topic: str, exclude_internal_topics: bool) -> bool:
        """Whether the consumer subscribes to this topic."""

    def __str__(self) -> str:
        return self.regex


class Whitelist(TopicFilter):
    """Allows the topics that match."""

    pattern = "white_list"

    def is_topic_allowed(self, topic: str, exclude_internal_topics: bool) -> bool:
        """Whether the topic matches, internal topics possibly excluded."""
        return self.matches(topic) and not (exclude_internal_topics and is_internal(topic))


class Blacklist(TopicFilter):
    """Allows the topics that do not match."""

    pattern = "black_list"

    def is_topic_allowed(self, topic: str, exclude_internal_topics: bool) -> bool:
        """Whether the topic does not match, internal topics possibly excluded."""
        return not self.matches(topic) and not (exclude_internal_topics and is_internal(topic))
