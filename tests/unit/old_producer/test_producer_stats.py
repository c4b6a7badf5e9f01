"""The old producer's beans have Kafka's names and values."""

from __future__ import annotations

from kafka_lite.common.time import MockTime
from kafka_lite.old_producer.producer_stats import ProducerStatsRegistry

BEANS = {
    "kafka.producer:type=ProducerStats,name=SerializationErrorsPerSec,clientId=me",
    "kafka.producer:type=ProducerStats,name=ResendsPerSec,clientId=me",
    "kafka.producer:type=ProducerStats,name=FailedSendsPerSec,clientId=me",
    "kafka.producer:type=ProducerTopicMetrics,name=MessagesPerSec,clientId=me",
    "kafka.producer:type=ProducerTopicMetrics,name=BytesPerSec,clientId=me",
    "kafka.producer:type=ProducerTopicMetrics,name=DroppedMessagesPerSec,clientId=me",
    "kafka.producer:type=ProducerRequestMetrics,name=ProducerRequestRateAndTimeMs,clientId=me",
    "kafka.producer:type=ProducerRequestMetrics,name=ProducerRequestSize,clientId=me",
    "kafka.producer:type=ProducerRequestMetrics,name=ProducerRequestThrottleRateAndTimeMs,clientId=me",
}


def values(stats: ProducerStatsRegistry, attribute: str) -> dict[str, object]:
    return {
        str(name).removeprefix("kafka.producer:type="): attributes[attribute]
        for name, attributes in stats.beans().items()
        if attribute in attributes
    }


def test_the_names_match_kafka() -> None:
    stats = ProducerStatsRegistry("me", MockTime())
    assert {str(name) for name in stats.beans()} == BEANS
    stats.topics.sent("t")
    stats.requests.update("broker", 9092, 100, 5, None)
    added = {str(name) for name in stats.beans()} - BEANS
    assert "kafka.producer:type=ProducerTopicMetrics,name=MessagesPerSec,clientId=me,topic=t" in added
    of_broker = "ProducerRequestSize,clientId=me,brokerHost=broker,brokerPort=9092"
    assert f"kafka.producer:type=ProducerRequestMetrics,name={of_broker}" in added


def test_topics_and_all_together() -> None:
    stats = ProducerStatsRegistry("me", MockTime())
    for topic in ("t", "t", "u"):
        stats.topics.sent(topic)
        stats.topics.encoded(topic, 10)
    stats.topics.dropped("u")
    counts = values(stats, "Count")
    assert counts["ProducerTopicMetrics,name=MessagesPerSec,clientId=me"] == 3
    assert counts["ProducerTopicMetrics,name=MessagesPerSec,clientId=me,topic=t"] == 2
    assert counts["ProducerTopicMetrics,name=BytesPerSec,clientId=me"] == 30
    assert counts["ProducerTopicMetrics,name=DroppedMessagesPerSec,clientId=me,topic=u"] == 1


def test_requests_with_and_without_a_response() -> None:
    stats = ProducerStatsRegistry("me", MockTime())
    stats.requests.update("broker", 9092, 100, 5, 7)
    stats.requests.update("broker", 9092, 300, 15, None)
    counts, largest = values(stats, "Count"), values(stats, "Max")
    assert counts["ProducerRequestMetrics,name=ProducerRequestSize,clientId=me"] == 2
    assert largest["ProducerRequestMetrics,name=ProducerRequestSize,clientId=me"] == 300
    assert largest["ProducerRequestMetrics,name=ProducerRequestRateAndTimeMs,clientId=me"] == 15
    assert counts["ProducerRequestMetrics,name=ProducerRequestThrottleRateAndTimeMs,clientId=me"] == 1


def test_rates_are_updated_without_a_ticking_thread() -> None:
    time = MockTime()
    stats = ProducerStatsRegistry("me", time)
    for _ in range(50):
        stats.topics.sent("t")
    assert values(stats, "OneMinuteRate")["ProducerTopicMetrics,name=MessagesPerSec,clientId=me"] == 0
    time.sleep(5000)
    assert values(stats, "OneMinuteRate")["ProducerTopicMetrics,name=MessagesPerSec,clientId=me"] == 10
    time.sleep(24 * 3600 * 1000)
    rate = values(stats, "FifteenMinuteRate")["ProducerTopicMetrics,name=MessagesPerSec,clientId=me"]
    assert isinstance(rate, float)
    assert rate < 0.1
