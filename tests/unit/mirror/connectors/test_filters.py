"""Names by regular expressions, which must match the whole name."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.mirror.connectors.filters import DefaultConfigPropertyFilter, DefaultGroupFilter, DefaultTopicFilter


@pytest.mark.parametrize(
    ("props", "chosen"),
    [
        ({}, ["orders", "orders-2", "east.orders"]),
        ({"topics": "orders"}, ["orders"]),
        ({"topics": "order.*, x"}, ["orders", "orders-2"]),
        ({"topics": ""}, []),
        ({"topics.exclude": r".*-\d"}, ["orders", "east.orders", "a.internal", "a-internal", "a.replica", "__a"]),
        ({"topics.blacklist": "orders.*|.*internal|.*replica|__.*"}, ["east.orders"]),
        (
            {"topics.blacklist": "orders", "topics.exclude": ".*a.*"},
            ["orders", "orders-2"],
        ),
    ],
)
def test_topics(props: dict[str, str], chosen: list[str]) -> None:
    topics = ["orders", "orders-2", "east.orders", "a.internal", "a-internal", "a.replica", "__a"]
    found = DefaultTopicFilter(props)
    assert [topic for topic in topics if found.should_replicate_topic(topic)] == chosen


def test_groups_of_connect_and_of_the_console_are_left_out() -> None:
    found = DefaultGroupFilter({})
    groups = ["billing", "connect-sink", "console-consumer-7", "__g"]
    assert [group for group in groups if found.should_replicate_group(group)] == ["billing"]
    assert DefaultGroupFilter({"groups.exclude": "b.*"}).should_replicate_group("connect-sink")
    assert not DefaultGroupFilter({"groups": "b"}).should_replicate_group("billing")


def test_settings_of_a_cluster_are_not_copied() -> None:
    found = DefaultConfigPropertyFilter({})
    assert found.should_replicate_config_property("retention.ms")
    assert not found.should_replicate_config_property("min.insync.replicas")
    assert not found.should_replicate_config_property("leader.replication.throttled.replicas")
    assert not found.should_replicate_source_default()
    other = DefaultConfigPropertyFilter({"use.defaults.from": "source", "config.properties.blacklist": "r.*"})
    assert other.should_replicate_source_default()
    assert not other.should_replicate_config_property("retention.ms")
    assert other.should_replicate_config_property("min.insync.replicas")


@pytest.mark.parametrize("props", [{"topics": "("}, {"topics.exclude": "a,*"}])
def test_what_is_no_regular_expression_is_refused(props: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=next(iter(props))):
        DefaultTopicFilter(props)
