"""Metrics of producers compared with their effects on a broker: equal numbers, and reporters get all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from kafka_lite import old_producer
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.serialization import SerializationError
from kafka_lite.metrics.metrics_reporter import MetricsReporter
from kafka_lite.metrics.sensor import KafkaMetric
from kafka_lite.old_producer import KeyedMessage
from kafka_lite.old_producer.default_event_handler import FailedToSendMessageError
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.testing.cluster import Cluster
from tests.support.patience import patient_s


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        for topic in ("t", "u", "retried", "refused", "full"):
            cluster.create_topic(topic)
        yield cluster


def new_producer(cluster: Cluster, **configs: object) -> KafkaProducer:
    given = {key.replace("_", "."): value for key, value in configs.items()}
    return KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "me", **given})


def values(producer: KafkaProducer, group: str = "producer-metrics", **tags: str) -> dict[str, float]:
    wanted = {"client-id": "me", **tags}
    return {
        name.name: metric.value
        for name, metric in producer.metrics().items()
        if name.group == group and dict(name.tags) == wanted
    }


def test_counts_equal_those_of_the_broker(cluster: Cluster) -> None:
    with new_producer(cluster, linger_ms=20) as producer:
        for number in range(300):
            producer.send(ProducerRecord("t" if number % 3 else "u", bytes(100)))
        producer.flush()
        total = values(producer)
        topics = {topic: values(producer, "producer-topic-metrics", topic=topic) for topic in ("t", "u")}
        node = values(producer, "producer-node-metrics", **{"node-id": "node-0"})
    assert total["record-send-total"] == 300
    assert total["record-send-rate"] > 0
    assert (topics["t"]["record-send-total"], topics["u"]["record-send-total"]) == (200, 100)
    assert total["record-size-max"] > 100
    assert total["buffer-available-bytes"] == total["buffer-total-bytes"] == 32 * 1024 * 1024
    assert (total["requests-in-flight"], total["waiting-threads"], total["record-error-total"]) == (0, 0, 0)
    assert total["connection-creation-total"] == total["connection-count"] == 2, "the bootstrap address, and the broker"
    assert node["request-total"] == node["response-total"]
    assert 0 < node["request-latency-avg"] <= node["request-latency-max"]
    assert total["request-latency-max"] == node["request-latency-max"]
    stored = sum(topic["byte-total"] for topic in topics.values())
    assert stored < node["outgoing-byte-total"] <= total["outgoing-byte-total"]
    assert total["flush-time-ns-total"] > 0
    assert total["metadata-wait-time-ns-total"] > 0


def test_retries_and_errors_are_counted(cluster: Cluster) -> None:
    with new_producer(cluster, retry_backoff_ms=1) as producer:
        with cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).for_topic("retried").times(2):
            producer.send(ProducerRecord("retried", b"v")).get(1000 * patient_s(30))
        with cluster.inject("Produce", Errors.TOPIC_AUTHORIZATION_FAILED).for_topic("refused").once():
            assert producer.send(ProducerRecord("refused", b"v")).exception(1000 * patient_s(30)) is not None
        producer.send(ProducerRecord("t", bytes(2 << 20)))  # too large, and never sent
        with pytest.raises(SerializationError):
            producer.send(ProducerRecord("t", "text"))
        callback: Any = "none"
        with pytest.raises(TypeError):  # In Java the compiler would reject it; it does not count as a failed record.
            producer.send(ProducerRecord("t", b"v"), callback)
        total = values(producer)
        retried = values(producer, "producer-topic-metrics", topic="retried")
    assert total["record-retry-total"] == retried["record-retry-total"] == 2
    assert total["record-error-total"] == 3


def test_exhausted_memory_is_measured(cluster: Cluster) -> None:
    configs = {"buffer_memory": 20_000, "batch_size": 10_000, "max_block_ms": 100, "linger_ms": 0}
    with cluster.inject("Produce").delay(60_000).always(), new_producer(cluster, **configs) as producer:
        for _ in range(300):
            with contextlib.suppress(ApiError):
                producer.partitions_for("full")
                break
        futures = [producer.send(ProducerRecord("full", bytes(9_000))) for _ in range(4)]
        total = values(producer)
        failed = sum(future.done() for future in futures)
        producer.close(0)
    assert total["buffer-exhausted-total"] == failed > 0
    assert total["buffer-exhausted-rate"] > 0
    assert total["bufferpool-wait-time-ns-total"] >= failed * 90e6
    assert total["bufferpool-wait-ratio"] > 0
    assert total["buffer-available-bytes"] < 10_000


class Reporter(MetricsReporter):
    """Records its calls."""

    made: ClassVar[list[Reporter]] = []

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.client_id: object = None
        self.closed = False
        self.made.append(self)

    def configure(self, configs: Mapping[str, object]) -> None:
        self.client_id = configs["client.id"]

    def init(self, metrics: Sequence[KafkaMetric]) -> None: ...

    def metric_change(self, metric: KafkaMetric) -> None:
        self.names.add(f"{metric.metric_name.group}:{metric.metric_name.name}")

    def metric_removal(self, metric: KafkaMetric) -> None:
        raise ValueError("a mistake in a reporter")

    def close(self) -> None:
        self.closed = True


def test_reporters_and_beans(cluster: Cluster) -> None:
    with new_producer(cluster, metric_reporters=f"{__name__}.Reporter") as producer:
        producer.send(ProducerRecord("t", b"v")).get(1000 * patient_s(30))
        beans = {name.mbean_name: attributes for name, attributes in producer.beans().items()}
    (reporter,) = Reporter.made
    assert reporter.client_id == "me"
    assert reporter.closed
    assert {"producer-metrics:batch-size-avg", "producer-topic-metrics:record-send-total"} <= reporter.names
    assert beans["kafka.producer:type=producer-metrics,client-id=me"]["record-send-total"] == 1
    assert beans["kafka.producer:type=producer-topic-metrics,client-id=me,topic=t"]["record-send-total"] == 1
    assert "request-latency-avg" in beans["kafka.producer:type=producer-node-metrics,client-id=me,node-id=node-0"]


def test_metrics_of_the_old_producer(cluster: Cluster) -> None:
    configs = {
        "metadata.broker.list": cluster.bootstrap_servers, "client.id": "old", "request.required.acks": 1,
        "message.send.max.retries": 1, "retry.backoff.ms": 1,
    }  # fmt: skip
    with old_producer.Producer(configs) as producer:
        producer.send(*[KeyedMessage("t", b"12345")] * 3)
        with cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).once():
            producer.send(KeyedMessage("u", b"again"))
        with (
            cluster.inject("Produce", Errors.TOPIC_AUTHORIZATION_FAILED).always(),
            pytest.raises(FailedToSendMessageError),
        ):
            producer.send(KeyedMessage("u", b"never"))
        with pytest.raises(TypeError):
            producer.send(KeyedMessage("u", "text"))
        beans = producer.stats.beans()
    counts = {name.mbean_name.removeprefix("kafka.producer:type="): value.get("Count") for name, value in beans.items()}
    assert counts["ProducerTopicMetrics,name=MessagesPerSec,clientId=old"] == 6
    assert counts["ProducerTopicMetrics,name=MessagesPerSec,clientId=old,topic=t"] == 3
    assert counts["ProducerTopicMetrics,name=BytesPerSec,clientId=old,topic=t"] == 15
    assert counts["ProducerStats,name=ResendsPerSec,clientId=old"] == 3, "one successful retry, two failed ones"
    assert counts["ProducerStats,name=FailedSendsPerSec,clientId=old"] == 1
    assert counts["ProducerStats,name=SerializationErrorsPerSec,clientId=old"] == 1
    host, port = cluster.bootstrap_servers.split(":")
    of_broker = f"clientId=old,brokerHost={host},brokerPort={port}"
    assert counts[f"ProducerRequestMetrics,name=ProducerRequestRateAndTimeMs,{of_broker}"] == 5
    assert counts["ProducerRequestMetrics,name=ProducerRequestSize,clientId=old"] == 5
