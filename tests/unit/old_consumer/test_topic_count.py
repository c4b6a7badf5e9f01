"""Subscriptions: topics by name or by filter, and their threads."""

from __future__ import annotations

import json

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.old_consumer.topic_count import (
    ConsumerThreadId,
    StaticTopicCount,
    WildcardTopicCount,
    construct_topic_count,
)
from kafka_lite.old_consumer.topic_filter import Blacklist, InvalidRegexError, TopicFilter, Whitelist
from kafka_lite.zookeeper.data import ConsumerRegistration

TOPICS = ["__consumer_offsets", "flights", "flights.late", "weather"]


def threads(consumer: str, count: int) -> list[ConsumerThreadId]:
    return [ConsumerThreadId(consumer, number) for number in range(count)]


def test_threads_are_ordered_by_their_text() -> None:
    ordered = sorted([*threads("b", 2), *threads("a", 11)])
    assert [str(thread) for thread in ordered[:4]] == ["a-0", "a-1", "a-10", "a-2"]
    assert str(ordered[-1]) == "b-1"


def test_static_subscription() -> None:
    topic_count = StaticTopicCount("c", {"flights": 2, "missing": 1})
    assert topic_count.get_consumer_thread_ids_per_topic() == {"flights": threads("c", 2), "missing": threads("c", 1)}
    assert topic_count.registration(5) == ConsumerRegistration({"flights": 2, "missing": 1}, "static", 5)
    with pytest.raises(KafkaError, match="0 streams of topic flights"):
        StaticTopicCount("c", {"flights": 0})


@pytest.mark.parametrize(
    ("topic_filter", "exclude_internal", "expected"),
    [
        (Whitelist("flights"), True, ["flights"]),
        (Whitelist("flights.*"), True, ["flights", "flights.late"]),
        (Whitelist('"flights, weather"'), True, ["flights", "weather"]),
        (Whitelist(".*"), True, ["flights", "flights.late", "weather"]),
        (Whitelist(".*"), False, TOPICS),
        (Blacklist("flights.*"), True, ["weather"]),
        (Blacklist("flights"), False, ["__consumer_offsets", "flights.late", "weather"]),
    ],
)
def test_wildcard_subscription(topic_filter: TopicFilter, exclude_internal: bool, expected: list[str]) -> None:
    topic_count = WildcardTopicCount("c", topic_filter, 2, lambda: TOPICS, exclude_internal)
    assert topic_count.get_consumer_thread_ids_per_topic() == {topic: threads("c", 2) for topic in expected}
    assert topic_count.topics(["flights", "new"]) == [
        t for t in ["flights", "new"] if topic_filter.is_topic_allowed(t, True)
    ]


def test_a_filter_without_threads_is_rejected() -> None:
    with pytest.raises(KafkaError, match="0 streams"):
        WildcardTopicCount("c", Whitelist("t"), 0, lambda: TOPICS, True)


@pytest.mark.parametrize("regex", ["*", "(", "a[", "[a-z&&[^b]]", r"\p{Alpha}+", "(?P<n>a)"])
def test_an_invalid_filter_is_rejected(regex: str) -> None:
    with pytest.raises(InvalidRegexError, match="is an invalid regex"):
        Whitelist(regex)


@pytest.mark.parametrize("topic_filter", [Whitelist(r"flights\.\w+,weather"), Blacklist("f.*")])
def test_registrations_survive_serialization(topic_filter: TopicFilter) -> None:
    mine = WildcardTopicCount("c", topic_filter, 3, lambda: TOPICS, True)
    data = mine.registration(7).encode()
    assert json.loads(data)["pattern"] == ("white_list" if isinstance(topic_filter, Whitelist) else "black_list")
    theirs = construct_topic_count("c", ConsumerRegistration.decode(data), lambda: TOPICS, True)
    assert isinstance(theirs, WildcardTopicCount)
    assert theirs.get_consumer_thread_ids_per_topic() == mine.get_consumer_thread_ids_per_topic()


def test_registrations_of_kafka_are_understood() -> None:
    data = b'{"version":1,"subscription":{"t3|disk-none":1},"pattern":"white_list","timestamp":"1795249605838"}'
    topic_count = construct_topic_count("c1", ConsumerRegistration.decode(data), lambda: ["disk-none", "t2"], True)
    assert topic_count.get_consumer_thread_ids_per_topic() == {"disk-none": threads("c1", 1)}
    data = b'{"version":1,"subscription":{"t":4},"pattern":"static","timestamp":"1"}'
    topic_count = construct_topic_count("c1", ConsumerRegistration.decode(data), list, True)
    assert topic_count.get_consumer_thread_ids_per_topic() == {"t": threads("c1", 4)}
