"""Kafka's smoke test of Streams, written on ours: with Kafka's driver on our brokers, with our driver on real Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from examples.smoke_test.driver import Verifier, Writer, numbers_of
from examples.smoke_test.topology import TOPICS
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.program import TIMEOUT_S
from tests.support.real_kafka import OLD, TODAYS, create_topics, real_kafka
from tests.support.smoke_test import (
    KEYS,
    RECORDS_PER_KEY,
    KafkasSmokeTest,
    await_a_day_that_is_long_enough,
    our_client,
)

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.timeout(300)]

PARTITIONS = 2
RUNS, RUNNING = "initializing processor: topic=data", "REBALANCING -> RUNNING"
"""An instance that is ``RUNNING`` has its tasks. Two of eight print nothing; the last of three may get just those."""
CLOSED = "SMOKE-TEST-CLIENT-CLOSED"
LEAVES = {"internal_leave_group_on_close": True, "session_timeout_ms": 60_000}
"""An instance that is closed leaves at once, and a slow one is not taken for dead: what it did would be done twice."""


@pytest.fixture
def cluster(jvm: None) -> Iterator[Cluster]:
    await_a_day_that_is_long_enough()
    with Cluster({"group.initial.rebalance.delay.ms": 0}, brokers=3) as running:
        for topic in (*TOPICS, "wcnt"):
            running.create_topic(topic, PARTITIONS)
        yield running


def test_instances_are_closed_and_added_while_kafkas_driver_writes(cluster: Cluster, tmp_path: Path) -> None:
    """The order of Kafka's system test: two instances, a third comes and the first is closed, a fourth comes."""
    servers = cluster.bootstrap_servers
    clients = [our_client(servers, tmp_path, name, **LEAVES) for name in ("first", "second", "third", "fourth")]
    first, second, third, fourth = clients
    with ExitStack() as running:
        running.enter_context(first)
        first.await_text(RUNS)  # alone: of two, either may get the tasks of that topic
        running.enter_context(second)
        driver = running.enter_context(KafkasSmokeTest("0.10.2.2", "", servers, tmp_path).driver())
        driver.await_text("300 records produced")
        running.enter_context(third)
        first.process.terminate()
        first.await_text(CLOSED)
        third.await_text("initializing processor")  # it has half of the tasks
        driver.await_text("600 records produced")
        running.enter_context(fourth)
        driver.await_text("SUCCESS")
        assert f"recordProcessed={KEYS * RECORDS_PER_KEY}\n" in driver.printed()
        fourth.await_text(RUNNING)  # before it has started, SIGTERM would just end it
        for client in (second, third, fourth):
            client.process.terminate()
        for client in (second, third, fourth):
            client.await_text(CLOSED)


@pytest.mark.parametrize("version", [OLD, TODAYS])
def test_our_driver_is_content_with_our_client_on_real_kafka(jvm: None, tmp_path: Path, version: str) -> None:
    """An instance is closed in the middle, and another goes on."""
    numbers = numbers_of(KEYS, RECORDS_PER_KEY)
    with real_kafka(version, tmp_path) as servers, ExitStack() as running:
        create_topics(servers, TOPICS, PARTITIONS, {})
        first, second = (
            our_client(servers, tmp_path, name, replication_factor=1, **LEAVES) for name in ("first", "second")
        )
        writer = Writer(servers, numbers)
        verifier = running.enter_context(Verifier(servers, numbers))
        running.enter_context(first)
        half = writer.write(len(numbers) * RECORDS_PER_KEY // 2)

        def copied(records: int) -> bool:
            verifier.poll(100)
            return sum(each.total() for each in verifier.answers.echoes.values()) >= records

        eventually(lambda: copied(half // 2), "the first is in the middle", TIMEOUT_S)
        running.enter_context(second)
        first.process.terminate()
        first.await_text(CLOSED)
        writer.write()
        eventually(lambda: copied(2 * half) and not verifier.answers.problems(), verifier.answers.problems, TIMEOUT_S)
        assert verifier.answers.repeated() == 0
        second.process.terminate()
        second.await_text(CLOSED)
