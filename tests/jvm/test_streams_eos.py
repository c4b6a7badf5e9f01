"""Kafka's own test of exactly once passes against our brokers, although its instances are killed in their transactions.

The driver writes numbers until it is stopped. The instances copy them, and count, sum up and compare those of each key,
behind a second topic too. The verifier reads what is committed, and demands one result for each number, in order.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.transactions.transaction_service import list_transactions
from tests.support.eventually import eventually
from tests.support.jvm import classpath, java_command
from tests.support.program import TIMEOUT_S, Program

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.timeout(300)]

VERSION = "3.9.1"
MAIN, APPLICATION = "org.apache.kafka.streams.tests.StreamsEosTest", "EosTest"
BROKERS, REPLICAS, PARTITIONS = 3, 2, 5
TOPICS = ["data", "echo", "min", "sum", "repartition", "max", "cnt"]
RUNNING, CLOSED = "StateChange: REBALANCING -> RUNNING", "EOS-TEST-CLIENT-CLOSED"
PROCESSED = "processed 100 records from topic="
CONFIGS = {
    "processing.guarantee": "exactly_once_v2",
    "acceptable.recovery.lag": 2**63 - 1,  # tasks move at once, as in Kafka's system test
    "session.timeout.ms": 6_000,
    "transaction.timeout.ms": 6_000,
}
"""Timeouts are short: after a kill, the other instances wait until they expire."""


@pytest.fixture
def cluster(jvm: None) -> Iterator[Cluster]:
    # What a killed instance left open is aborted half a second after its timeout.
    with Cluster({"transaction.abort.timed.out.transaction.cleanup.interval.ms": 500}, brokers=BROKERS) as running:
        for topic in TOPICS:
            running.create_topic(topic, PARTITIONS, replication_factor=REPLICAS)
        yield running


class EosTest:
    """Kafka's classes, and the files of one run."""

    def __init__(self, cluster: Cluster, directory: Path) -> None:
        streams = "org.apache.kafka:kafka-streams"
        others = [f"org.apache.kafka:kafka-clients:jar:test:{VERSION}", "org.slf4j:slf4j-nop:1.7.36"]
        self._jars = classpath(f"{streams}:{VERSION}", f"{streams}:jar:test:{VERSION}", *others)
        self._servers = cluster.bootstrap_servers
        self._directory = directory

    def run(self, name: str, command: str, state_dir: str = "none") -> Program:
        configs = {**CONFIGS, "bootstrap.servers": self._servers, "state.dir": self._directory / state_dir}
        properties = self._directory / f"{name}.properties"
        properties.write_text("".join(f"{key}={value}\n" for key, value in configs.items()), encoding="utf-8")
        arguments = java_command(MAIN, str(properties), command, classpath=self._jars)
        return Program(arguments, self._directory / f"{name}.log")

    def instance(self, name: str, state_dir: str) -> Program:
        return self.run(name, "process-complex", state_dir)

    def kill_in_transaction(self, instance: Program, state_dir: str) -> None:
        """Kill an instance that has a transaction open. It stands still when that is looked up."""

        def is_caught() -> bool:
            instance.process.send_signal(signal.SIGSTOP)
            if self._has_open_transaction(state_dir):
                return True
            instance.process.send_signal(signal.SIGCONT)
            return False

        eventually(is_caught, "a transaction", TIMEOUT_S)
        instance.process.kill()

    def _has_open_transaction(self, state_dir: str) -> bool:
        """Whether the instance with this directory has one: transactional ids begin with what it keeps there."""
        kept = self._directory / state_dir / APPLICATION / "kafka-streams-process-metadata"
        prefix = f"{APPLICATION}-{json.loads(kept.read_text())['processId']}-"
        with AdminChannel(self._servers) as channel:
            listed = [each for each in list_transactions(channel) if each.transactional_id.startswith(prefix)]
        assert listed, prefix
        return any(each.state == "Ongoing" for each in listed)

    def has_processed_all(self) -> bool:
        """Whether the application has committed all that the driver wrote."""
        data = [TopicPartition("data", number) for number in range(PARTITIONS)]
        group = {"bootstrap.servers": self._servers, "group.id": APPLICATION, "enable.auto.commit": False}
        with KafkaConsumer(group) as consumer:
            found = consumer.committed(data).items()
            committed = {each: metadata.offset for each, metadata in found if metadata is not None}
            return committed == consumer.end_offsets(data)


def test_killed_instances_leave_every_number_processed_exactly_once(cluster: Cluster, tmp_path: Path) -> None:
    """One comes back to its directory, and then has all tasks alone: the other is killed, too, and stays away."""
    eos = EosTest(cluster, tmp_path)
    with eos.run("driver", "run") as driver, eos.instance("second", "b") as second:
        with eos.instance("first", "a") as first:
            for each in (first, second):
                each.await_text(RUNNING)
                each.await_text(PROCESSED)
            eos.kill_in_transaction(first, "a")
        with eos.instance("first-again", "a") as again:
            again.await_text(RUNNING)
            again.await_text(PROCESSED)
            eos.kill_in_transaction(second, "b")
            driver.process.terminate()
            driver.await_text("Producer closed")
            eventually(eos.has_processed_all, "all numbers are processed", TIMEOUT_S)
            again.process.terminate()
            again.await_text(CLOSED)
    with eos.run("verifier", "verify-complex") as verifier:
        verifier.await_text("ALL-RECORDS-DELIVERED")
