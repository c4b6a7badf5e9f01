"""Kafka's own smoke test of Streams passes against our brokers, although its client ends while its driver writes.

The driver writes numbers, and compares what the client makes of them (least, greatest, sums, counts and averages of
windows, joins, a table grouped anew, suppressed updates) with what it knows they must be.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.jvm import classpath, compile_java, java_command

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.timeout(300)]

BROKERS = 3  # 0.10.2.2's client insists on three replicas
PARTITIONS = 2
KEYS, RECORDS_PER_KEY = 10, 100
DAY_S, LONGEST_TEST_S = 86_400, 120
TIMEOUT_S = 120
PROCESSED, RUNNING = "processed 100 records from topic=data", "REBALANCING -> RUNNING"
CLIENT = "org.apache.kafka.streams.tests.StreamsSmokeTest"
TOPICS = ["data", "echo", "max", "min", "dif", "sum", "cnt", "avg", "tagg"]
TOPICS_0_10_2 = [*TOPICS, "wcnt"]
TOPICS_3_9 = [*TOPICS, "min-suppressed", "min-raw", "sws-raw", "sws-suppressed", "fk"]
READ_BY_0_10_2 = ["data", "min", "max", "sum", "cnt", "SmokeTest-cntByCnt-repartition"]
CONFIGS_3_9 = {
    "processing.guarantee": "exactly_once_v2",
    "session.timeout.ms": 6_000,
    "transaction.timeout.ms": 6_000,
}
"""Timeouts are short: the second instance waits for those of the first, which was killed."""
DRIVER = """
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.streams.tests.SmokeTestDriver;

/** Kafka's driver with fewer numbers than its own main function writes. */
public class FewNumbers {
    public static void main(String[] args) throws Exception {
        int keys = Integer.parseInt(args[1]);
        int recordsPerKey = Integer.parseInt(args[2]);
        Map<String, Set<Integer>> all = SmokeTestDriver.generate(args[0], keys, recordsPerKey%s);
        SmokeTestDriver.verify(args[0], all, recordsPerKey);
    }
}
"""


@pytest.fixture
def cluster(jvm: None) -> Iterator[Cluster]:
    left_of_day_s = DAY_S - time.time() % DAY_S
    if left_of_day_s < LONGEST_TEST_S:
        time.sleep(left_of_day_s)  # the driver expects that all its records are in one window, which is a day of UTC
    # What a killed instance left open is aborted half a second after its timeout.
    with Cluster({"transaction.abort.timed.out.transaction.cleanup.interval.ms": 500}, brokers=BROKERS) as running:
        yield running


class Program:
    """A Java program that runs while the block does, and what it has printed."""

    def __init__(self, command: list[str], log: Path) -> None:
        self._command, self._log = command, log
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(self._command, stdout=output, stderr=subprocess.STDOUT)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

    def printed(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def await_text(self, part: str) -> None:
        """Wait until it has printed this. Raises AssertionError, with what it has printed, also if it ends before."""
        eventually(lambda: part in self.printed() or self.process.poll() is not None, self.printed, TIMEOUT_S)
        assert part in self.printed(), self.printed()


class SmokeTest:
    """Kafka's classes of one version, and the files of one run."""

    def __init__(self, version: str, pause: str, cluster: Cluster, directory: Path) -> None:
        streams = "org.apache.kafka:kafka-streams"
        others = [f"org.apache.kafka:kafka-clients:jar:test:{version}", "org.slf4j:slf4j-nop:1.7.36"]
        self._jars = classpath(f"{streams}:{version}", f"{streams}:jar:test:{version}", *others)
        self._driver = compile_java(DRIVER % pause, self._jars)
        self._servers = cluster.bootstrap_servers
        self._directory = directory

    def driver(self) -> Program:
        return self._program("driver", "FewNumbers", self._servers, str(KEYS), str(RECORDS_PER_KEY))

    def client_0_10_2(self, name: str) -> Program:
        return self._program(name, CLIENT, self._servers, str(self._directory / name), "process")

    def client_3_9(self, name: str) -> Program:
        configs = {**CONFIGS_3_9, "bootstrap.servers": self._servers, "state.dir": self._directory / name}
        properties = self._directory / f"{name}.properties"
        properties.write_text("".join(f"{key}={value}\n" for key, value in configs.items()), encoding="utf-8")
        return self._program(name, CLIENT, str(properties), "process")

    def _program(self, name: str, main: str, *arguments: str) -> Program:
        command = java_command(main, *arguments, classpath=[self._driver, *self._jars])
        return Program(command, self._directory / f"{name}.log")


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
    smoke = SmokeTest("0.10.2.2", "", cluster, tmp_path)
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
    smoke = SmokeTest("3.9.1", ", Duration.ZERO", cluster, tmp_path)
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
