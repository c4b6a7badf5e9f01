"""The counters of produce and fetch requests, per topic and over all topics."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.delayed_produce import PartitionResponse, ProducePartitionStatus
from kafka_lite.server.metrics.broker_topic_stats import METERS, BrokerTopicStats

TP, OTHER, UNKNOWN = TopicPartition("t", 0), TopicPartition("u", 1), TopicPartition("nobody", 0)


class Bed:
    def __init__(self) -> None:
        self.registry = MetricsRegistry()
        self.stats = BrokerTopicStats(self.registry, MockTime(), lambda tp: tp in (TP, OTHER))

    def produce(self, topic_partition: TopicPartition, error: Errors = Errors.NONE, count: int = 10) -> None:
        response = PartitionResponse(error, 100 if error is Errors.NONE else -1)
        status = ProducePartitionStatus(100 + count if error is Errors.NONE else -1, response)
        self.stats.produced({topic_partition: b"x" * 500}, {topic_partition: status})

    def counts(self, topic: str = "") -> dict[str, object]:
        """The meters that are not 0."""
        tags = (("topic", topic),) if topic else ()
        beans = {name.name: bean["Count"] for name, bean in self.registry.beans().items() if name.tags == tags}
        return {name: count for name, count in beans.items() if count}


@pytest.fixture
def bed() -> Bed:
    return Bed()


def test_appends_are_counted(bed: Bed) -> None:
    bed.produce(TP, count=10)
    bed.produce(TP, count=5)
    bed.produce(OTHER, count=1)
    assert bed.counts("t") == {"MessagesInPerSec": 15, "BytesInPerSec": 1000, "TotalProduceRequestsPerSec": 2}
    assert bed.counts("u") == {"MessagesInPerSec": 1, "BytesInPerSec": 500, "TotalProduceRequestsPerSec": 1}
    assert bed.counts() == {"MessagesInPerSec": 16, "BytesInPerSec": 1500, "TotalProduceRequestsPerSec": 3}


def test_too_large_messages_are_counted_as_rejected(bed: Bed) -> None:
    bed.produce(TP, Errors.MESSAGE_TOO_LARGE)
    assert bed.counts("t") == bed.counts() == {"BytesRejectedPerSec": 500, "TotalProduceRequestsPerSec": 1}


@pytest.mark.parametrize(
    ("error", "failed"),
    [
        (Errors.NOT_LEADER_OR_FOLLOWER, False),
        (Errors.CORRUPT_MESSAGE, False),
        (Errors.INVALID_TIMESTAMP, False),
        (Errors.NOT_ENOUGH_REPLICAS, True),
        (Errors.UNKNOWN_SERVER_ERROR, True),
    ],
)
def test_only_unexpected_errors_count_as_failures(bed: Bed, error: Errors, failed: bool) -> None:
    bed.produce(TP, error)
    assert bed.counts("t") == {"TotalProduceRequestsPerSec": 1} | ({"FailedProduceRequestsPerSec": 1} if failed else {})


@pytest.mark.parametrize(
    ("error", "failed"),
    [(Errors.NONE, False), (Errors.OFFSET_OUT_OF_RANGE, False), (Errors.UNKNOWN_SERVER_ERROR, True)],
)
def test_fetched_bytes_are_counted(bed: Bed, error: Errors, failed: bool) -> None:
    bed.stats.read(TP, error)
    bed.stats.sent(TP, 700)
    expected = {"TotalFetchRequestsPerSec": 1, "BytesOutPerSec": 700}
    assert bed.counts("t") == bed.counts() == expected | ({"FailedFetchRequestsPerSec": 1} if failed else {})


def test_a_topic_has_all_of_its_meters_from_its_first_use_until_its_deletion(bed: Bed) -> None:
    assert {name.name for name in bed.registry.beans()} == set(METERS)
    bed.produce(TP)
    assert {name.name for name in bed.registry.beans() if name.tags == (("topic", "t"),)} == set(METERS)
    bed.stats.remove_metrics("t")
    bed.stats.remove_metrics("t")
    assert not [name for name in bed.registry.beans() if name.tags]
    assert bed.counts()["MessagesInPerSec"] == 10, "the totals over all topics stay"


def test_topic_names_made_up_by_clients_use_no_memory(bed: Bed) -> None:
    before = len(bed.registry)
    for number in range(100):
        bed.produce(TopicPartition(f"nobody-{number}", 0), Errors.UNKNOWN_TOPIC_OR_PARTITION)
    assert len(bed.registry) == before
    assert bed.counts() == {"TotalProduceRequestsPerSec": 100}
