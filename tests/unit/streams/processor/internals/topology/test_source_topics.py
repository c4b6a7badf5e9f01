"""Each topic has one source, by its name or by the pattern of one."""

from __future__ import annotations

import re

import pytest

from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.processor.internals.topology.node_factories import SourceNodeFactory
from kafka_lite.streams.processor.internals.topology.source_topics import AutoOffsetReset, SourceTopics


def by_name(name: str, *topics: str) -> SourceNodeFactory:
    return SourceNodeFactory(name, topics, None, None, None)


def by_pattern(name: str, pattern: str) -> SourceNodeFactory:
    return SourceNodeFactory(name, (), re.compile(pattern), None, None)


def sources(*added: SourceNodeFactory, reset: AutoOffsetReset | None = None) -> SourceTopics:
    made = SourceTopics()
    for source in added:
        made.add(source, reset)
    return made


def test_a_pattern_has_the_topics_that_exist() -> None:
    known = sources(by_name("a", "t", "u"), by_pattern("b", "v.*"))
    assert [known.topics_of(name) for name in known.names()] == [["t", "u"], []]
    known.update_subscriptions(["t", "v2", "v1", "wv"])
    assert known.topics_of("b") == ["v1", "v2"]
    known.update_subscriptions(["v2"])
    assert (known.topics_of("a"), known.topics_of("b"), known.patterns()) == (["t", "u"], ["v2"], ["v.*"])


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (by_name("a", "t"), by_name("b", "u", "t"), "Topic t has already been registered"),
        (by_pattern("a", "t+"), by_name("b", "tt"), "Topic tt matches a Pattern already registered"),
        (by_name("a", "tt"), by_pattern("b", "t+"), r"Pattern t\+ will match a topic"),
        (by_name("a", "t"), by_name("b", "u", "u"), "Topic u has already been registered"),
    ],
)
def test_a_topic_cannot_have_two_sources(first: SourceNodeFactory, second: SourceNodeFactory, message: str) -> None:
    known = sources(first)
    with pytest.raises(TopologyBuilderError, match=message):
        known.add(second, None)
    assert list(known.names()) == ["a"]


def test_a_topic_that_two_patterns_match_is_noticed_once_it_exists() -> None:
    known = sources(by_pattern("a", "t.*"), by_pattern("b", ".*t"))
    known.update_subscriptions(["t1", "2t"])
    with pytest.raises(TopologyBuilderError, match=r"Topic tt is already matched for another regex pattern t\.\*"):
        known.update_subscriptions(["tt"])


def test_a_topic_begins_where_its_source_says() -> None:
    known = sources(by_name("a", "t"), reset=AutoOffsetReset.LATEST)
    known.add(by_pattern("b", "v.*"), AutoOffsetReset.EARLIEST)
    known.add(by_name("c", "w"), None)
    assert [known.reset_of(topic) for topic in ("t", "v7", "w", "x")] == [
        AutoOffsetReset.LATEST, AutoOffsetReset.EARLIEST, None, None,
    ]  # fmt: skip
    assert known.has_offset_resets
    assert not sources(by_name("a", "t")).has_offset_resets
