"""The old consumer's beans: Kafka's names, and what each one counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_stats import ConsumerStats, ConsumerTopicStats, FetchRequestAndResponseStats

FETCHES = "kafka.consumer:type=FetchRequestAndResponseMetrics,name="
CONNECTOR = "kafka.consumer:type=ZookeeperConsumerConnector,name="


def config(**options: object) -> ConsumerConfig:
    given = {key.replace("_", "."): value for key, value in options.items()}
    return ConsumerConfig({"group.id": "g", "client.id": "c", "zookeeper.connect": "nowhere", **given})


def test_a_topic_has_its_metrics_once() -> None:
    stats = ConsumerTopicStats("c")
    first = stats.get_consumer_topic_stats("t")
    first.message_rate.mark(2)
    assert stats.get_consumer_topic_stats("t") is first
    assert stats.get_consumer_topic_stats("u").message_rate.count == 0
    assert stats.get_consumer_all_topic_stats().message_rate.count == 0, "the iterator marks it, too"


def test_a_fetch_is_timed_for_its_broker_and_for_all() -> None:
    registry = MetricsRegistry()
    stats = FetchRequestAndResponseStats("c", registry, MockTime())
    stats.update("h", 9092, duration_ms=20, response_bytes=300, throttle_time_ms=5)
    stats.update("h", 9093, duration_ms=40, response_bytes=100, throttle_time_ms=0)
    beans = {name.mbean_name: bean for name, bean in registry.beans().items()}
    of_9092 = ",clientId=c,brokerHost=h,brokerPort=9092"
    assert beans[f"{FETCHES}FetchRequestRateAndTimeMs{of_9092}"]["Mean"] == 20
    assert beans[f"{FETCHES}FetchResponseSize{of_9092}"]["Max"] == 300
    assert beans[f"{FETCHES}FetchRequestThrottleRateAndTimeMs{of_9092}"]["Max"] == 5
    assert beans[f"{FETCHES}FetchRequestRateAndTimeMs,clientId=c"]["Mean"] == 30
    assert beans[f"{FETCHES}FetchResponseSize,clientId=c"]["Count"] == 2
    assert len(beans) == 9, "three beans of two brokers and of all"


def test_the_connectors_beans_have_kafkas_names() -> None:
    stats = ConsumerStats(config())
    stats.kafka_commit_meter.mark(3)
    stats.zk_commit_meter.mark()
    with stats.rebalance_timer.time():
        pass
    beans = {name.mbean_name: bean for name, bean in stats.beans().items()}
    assert beans[f"{CONNECTOR}KafkaCommitsPerSec,clientId=c"]["Count"] == 3
    assert beans[f"{CONNECTOR}ZooKeeperCommitsPerSec,clientId=c"]["Count"] == 1
    assert beans[f"{CONNECTOR}RebalanceRateAndTime,clientId=c"]["Count"] == 1
    assert beans[f"{CONNECTOR}yammer-metrics-count"]["Value"] == len(beans)


def test_rates_move_with_the_scheduler() -> None:
    time = MockTime()
    stats = ConsumerStats(config(), time)
    scheduler = MockScheduler(time)
    stats.start(scheduler)
    stats.kafka_commit_meter.mark(50)
    time.sleep(5_000)
    assert stats.kafka_commit_meter.one_minute_rate == pytest.approx(10), "50 in the first five seconds"


def test_a_reporter_that_does_not_exist_is_named() -> None:
    with pytest.raises(KafkaError, match=r"nowhere\.Reporter"):
        ConsumerStats(config(kafka_metrics_reporters="nowhere.Reporter"))


def test_a_reporter_is_started_and_closed(tmp_path: Path) -> None:
    time = MockTime()
    reporter = "kafka_lite.metrics.kafka_csv_metrics_reporter.KafkaCSVMetricsReporter"
    stats = ConsumerStats(
        config(
            kafka_metrics_reporters=reporter, kafka_csv_metrics_dir=str(tmp_path / "metrics"),
            kafka_csv_metrics_reporter_enabled="true",
        ),
        time,
    )  # fmt: skip
    stats.start(MockScheduler(time))
    stats.close()
    assert (tmp_path / "metrics").is_dir()
