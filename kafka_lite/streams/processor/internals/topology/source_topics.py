"""The topics that each source node reads, including those that it subscribes to by a pattern.

Kafka 0.10.2: streams/.../processor/TopologyBuilder.java (SourceNodeFactory, sourceTopicPattern, updateSubscriptions,
earliestResetTopicsPattern, latestResetTopicsPattern) · book 9.1.2
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.processor.internals.topology.node_factories import SourceNodeFactory


class AutoOffsetReset(Enum):
    """Where a source begins if its group has no committed offset; without one, ``auto.offset.reset`` decides."""

    EARLIEST = "earliest"
    LATEST = "latest"


class SourceTopics:
    """The sources of a topology. A topic has exactly one.

    Topics of patterns are known only after ``update_subscriptions``.
    """

    def __init__(self) -> None:
        self._sources: dict[str, SourceNodeFactory] = {}
        self._matched: dict[str, list[str]] = {}
        """The topics of sources with a pattern, by the names of the sources."""
        self._resets: dict[str, AutoOffsetReset] = {}

    def add(self, source: SourceNodeFactory, offset_reset: AutoOffsetReset | None) -> None:
        """Add a source. Raises TopologyBuilderError if a topic of it has a source, or may get one by a pattern."""
        self._ensure_unambiguous(source)
        self._sources[source.name] = source
        if offset_reset is not None:
            self._resets[source.name] = offset_reset

    def names(self) -> Iterable[str]:
        """The names of all sources, in the order in which they were added."""
        return self._sources

    def topics_of(self, source_name: str) -> list[str]:
        """The topics of a source, as declared. Of a source with a pattern, those that match it so far."""
        source = self._sources[source_name]
        return list(source.topics) if source.pattern is None else self._matched.get(source_name, [])

    def update_subscriptions(self, subscribed_topics: Iterable[str]) -> None:
        """Give the topics that the group has subscribed to, to the sources whose patterns they match.

        Raises TopologyBuilderError if a topic matches two of them.
        """
        owners: dict[str, SourceNodeFactory] = {}
        for source in self._sources.values():
            if source.pattern is None:
                continue
            self._matched[source.name] = matched = []
            for topic in sorted(subscribed_topics):
                if source.pattern.fullmatch(topic) is None:
                    continue
                owner = owners.setdefault(topic, source)
                if owner is not source:
                    raise TopologyBuilderError(
                        f"Topic {topic} is already matched for another regex pattern {_text(owner)} and hence cannot "
                        f"be matched to this regex pattern {_text(source)} any more."
                    )
                matched.append(topic)

    def patterns(self) -> list[str]:
        """The patterns of all sources that have one."""
        return [_text(source) for source in self._sources.values() if source.pattern is not None]

    @property
    def has_offset_resets(self) -> bool:
        """Whether a source says where to begin."""
        return bool(self._resets)

    def reset_of(self, topic: str) -> AutoOffsetReset | None:
        """Where to begin in a topic without a committed offset; None if its source does not say it."""
        for source in self._sources.values():
            if topic in source.topics or (source.pattern is not None and source.pattern.fullmatch(topic)):
                return self._resets.get(source.name)
        return None

    def _ensure_unambiguous(self, added: SourceNodeFactory) -> None:
        for number, topic in enumerate(added.topics):
            if topic in added.topics[:number]:
                raise TopologyBuilderError(f"Topic {topic} has already been registered by another source.")
            for source in self._sources.values():
                if topic in source.topics:
                    raise TopologyBuilderError(f"Topic {topic} has already been registered by another source.")
                if source.pattern is not None and source.pattern.fullmatch(topic):
                    raise TopologyBuilderError(f"Topic {topic} matches a Pattern already registered by another source.")
        if added.pattern is not None:
            for source in self._sources.values():
                if any(added.pattern.fullmatch(topic) for topic in source.topics):
                    raise TopologyBuilderError(
                        f"Pattern {_text(added)} will match a topic that has already been registered by another source."
                    )


def _text(source: SourceNodeFactory) -> str:
    return source.pattern.pattern if source.pattern is not None else ""
