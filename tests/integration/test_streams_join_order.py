"""A stream is joined with a table in the order of time, whichever topic the consumer reads first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.serdes import StringSerde
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.word_count import configs_of

RECORDS = 3000


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}) as running:
        for topic in ("orders", "customers", "out"):
            running.create_topic(topic, 1)
        yield running


def fill(cluster: Cluster) -> None:
    """Each order comes just after its customer. Those of orders are small: one fetch brings many more of them."""
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "batch.size": 1000}) as producer:
        for number in range(RECORDS):
            key = b"%d" % number
            producer.send(ProducerRecord("customers", b"c" * 1000, key, 0, 2 * number))
            producer.send(ProducerRecord("orders", b"o", key, 0, 2 * number + 1))


def joined(cluster: Cluster, state_dir: Path, max_task_idle_ms: int) -> KafkaStreams:
    builder = KStreamBuilder()
    customers = builder.table("customers", "Customers", StringSerde(), StringSerde())
    orders = builder.stream("orders", key_serde=StringSerde(), value_serde=StringSerde())
    orders.join(customers, lambda order, _: order).to("out", StringSerde(), StringSerde())
    configs = configs_of(cluster.bootstrap_servers, state_dir)
    return KafkaStreams(
        builder,
        {**configs, "max.task.idle.ms": max_task_idle_ms, "max.partition.fetch.bytes": 20_000, "poll.ms": 10},
    )


def test_no_order_is_dropped_though_both_topics_are_full_at_the_start(cluster: Cluster, tmp_path: Path) -> None:
    fill(cluster)
    with joined(cluster, tmp_path, max_task_idle_ms=0) as streams:
        streams.start()
        eventually(lambda: len(cluster.records("out")) == RECORDS, lambda: len(cluster.records("out")), timeout_s=120)


def test_a_task_that_has_caught_up_does_not_wait(cluster: Cluster, tmp_path: Path) -> None:
    """The table gets no record any more; orders are processed all the same."""
    cluster.produce("customers", "c", key="a", timestamp_ms=1)
    with joined(cluster, tmp_path, max_task_idle_ms=0) as streams:
        streams.start()
        for number in range(3):
            cluster.produce("orders", "o", key="a", timestamp_ms=2 + number)
            count = number + 1
            eventually(lambda: len(cluster.records("out")) == count, timeout_s=120)  # noqa: B023
