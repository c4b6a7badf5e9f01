"""The declarations of the beans about requests, beside the classes that register them."""

from __future__ import annotations

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.network.metrics.request_metrics import RequestChannelMetrics
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.server.metrics.bean_catalogue import BEANS
from kafka_lite.server.metrics.broker_topic_stats import BrokerTopicStats
from kafka_lite.server.metrics.request_beans import REQUEST_BEANS


def patterns_of(type_name: str) -> set[str]:
    return {each.pattern for each in REQUEST_BEANS if each.type == type_name}


def test_every_phase_of_a_request_is_declared() -> None:
    registry = MetricsRegistry()
    RequestChannelMetrics(registry, MockTime(), [ApiKey.PRODUCE])
    names = {name.mbean_name for name in registry.beans()}
    assert {name.partition(",request=")[0] + ",request=*" for name in names} == patterns_of("RequestMetrics")


def test_every_rate_of_a_topic_is_declared_for_the_broker_and_for_the_topic() -> None:
    registry = MetricsRegistry()
    stats = BrokerTopicStats(registry, MockTime(), lambda _: True)
    stats.topic_stats(TopicPartition("t", 0))
    names = {name.mbean_name.replace(",topic=t", ",topic=*") for name in registry.beans()}
    assert names == patterns_of("BrokerTopicMetrics")


def test_no_bean_is_declared_twice_and_each_has_its_meaning_in_both_languages() -> None:
    names = [each.pattern for each in BEANS]
    assert len(set(names)) == len(names)
    assert not [each.pattern for each in BEANS if not each.en or each.zh == each.en]
