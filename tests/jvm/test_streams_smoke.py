"""Kafka's own smoke test of Streams passes against our brokers, although its client ends while its driver writes.

The driver writes numbers, and compares what the client makes of them (least, greatest, sums, counts and averages of
windows, joins, a table grouped anew, suppressed updates) with what it knows they must be.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.program import TIMEOUT_S
from tests.support.smoke_test import KafkasSmokeTest, await_a_day_that_is_long_enough

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.timeout(300)]

BROKERS = 3  # 0.10.2.2's client insists on three replicas
PARTITIONS = 2
PROCESSED, RUNNING = "processed 100 records from topic=data", "REBALANCING -> RUNNING"
TOPICS = ["data", "echo", "max", "min", "dif", "sum", "cnt", "avg", "tagg"]
TOPICS_0_10_2 = [*TOPICS, "wcnt"]
TOPICS_3_9 = [*TOPICS, "min-suppressed", "min-raw", "sws-raw", "sws-suppressed", "fk"]
READ_BY_0_10_2 = ["data", "min", "max", "sum", "cnt", "SmokeTest-cntByCnt-repartition"]


@pytest.fixture
def cluster(jvm: None) -> Iterator[Cluster]:
    await_a_day_that_is_long_enough()
    # What a killed instance left open is aborted half a second after its timeout.
    with Cluster({"transaction.abort.timed.out.transaction.cleanup.interval.ms": 500}, brokers=BROKERS) as running:
        yield running


def has_committed_all(cluster: Cluster) -> bool:
    """Whether the client has processed all that is there, and all that it wrote for itself on the way."""
    group = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "SmokeTest", "enable.auto.commit": False}
    with KafkaConsumer(group) as consumer:
        for topic in READ_BY_0_10_2:
            partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
            committed = {
                each: found.offset for each, found in consumer.committed(partitions).items() if found is not None
            }
            if any(committed.get(each, 0) != end for each, end in consumer.end_offsets(partitions).items()):
                return False
    return True


def test_an_instance_of_0_10_2_is_closed_and_another_goes_on(cluster: Cluster, tmp_path: Path) -> None:
    """It has committed what is there before the tasks move: what is processed twice would be counted twice."""
    for topic in TOPICS_0_10_2:
        cluster.create_topic(topic, PARTITIONS)
    smoke = KafkasSmokeTest("0.10.2.2", "", cluster.bootstrap_servers, tmp_path)
    with smoke.client_0_10_2("first") as first:
        first.await_text("initializing processor: topic=data")
        with smoke.driver() as driver:
            driver.await_text("300 records produced")
            driver.process.send_signal(signal.SIGSTOP)
            first.await_text(PROCESSED)
            eventually(lambda: has_committed_all(cluster), "all is committed", TIMEOUT_S)
            first.process.terminate()
            with smoke.client_0_10_2("second") as second:
                first.await_text("SMOKE-TEST-CLIENT-CLOSED")
                for partition in range(PARTITIONS):
                    second.await_text(f"initializing processor: topic=data taskId=0_{partition}")
                driver.process.send_signal(signal.SIGCONT)
                driver.await_text("SUCCESS")
                second.await_text(PROCESSED)


def test_an_instance_of_3_9_is_killed_and_another_goes_on_exactly_once(cluster: Cluster, tmp_path: Path) -> None:
    for topic in TOPICS_3_9:
        cluster.create_topic(topic, PARTITIONS)
    smoke = KafkasSmokeTest("3.9.1", ", Duration.ZERO", cluster.bootstrap_servers, tmp_path)
    with smoke.client_3_9("first") as first:
        first.await_text(RUNNING)
        with smoke.driver() as driver:
            driver.await_text("300 records produced")
            first.await_text(PROCESSED)
            first.process.kill()
            driver.process.send_signal(signal.SIGSTOP)
            with smoke.client_3_9("second") as second:
                second.await_text(RUNNING)
                driver.process.send_signal(signal.SIGCONT)
                driver.await_text("SUCCESS")
