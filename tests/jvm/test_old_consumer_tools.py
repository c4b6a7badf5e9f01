"""The tools of old consumers print the same with our broker as Kafka 0.10.2's tools."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.jvm import classpath, run_java
from tests.support.kafka_tools import KafkaTools
from tests.support.old_consumers import JARS, QUICK, Group, PythonMember
from tests.support.patience import patient_s

pytestmark = pytest.mark.jvm

TOPIC, GROUP = "shown", "watched"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster({"log.retention.ms": "-1"}) as running:
        running.create_topic(TOPIC, 2, {"retention.ms": -1})  # the messages are from 2017
        for number in range(10):
            key = None if number % 3 else f"key-{number}"
            running.produce(TOPIC, f"value-{number}", key=key, timestamp_ms=1_500_000_000_000 + number)
        running.produce(TOPIC, None, key="gone", timestamp_ms=1)
        yield running


@pytest.fixture(scope="module")
def kafka_prints() -> Iterator[KafkaTools]:
    """The output of a tool of Kafka 0.10.2."""
    with KafkaTools("0.10.2.2") as tools:
        yield tools


def kafka_prints_alone(main_class: str, *arguments: str) -> str:
    """The same for a tool that counts its messages and prints the result when its JVM exits."""
    return run_java(main_class, *arguments, classpath=classpath(*JARS)).stdout


def we_print(*arguments: str) -> str:
    command = [sys.executable, "-m", "kafka_lite.tools.main", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patient_s(120), check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "options",
    [
        ("--property", "print.key=true", "--property", "print.timestamp=true", "--property", "key.separator=|"),
        ("--formatter", "kafka.tools.ChecksumMessageFormatter", "--property", "topic=x", "--enable-systest-events"),
    ],
    ids=["keys-and-times", "checksums"],
)
def test_console_consumer_prints_the_same(cluster: Cluster, options: tuple[str, ...]) -> None:
    arguments = (
        "--zookeeper", cluster.zookeeper_connect, "--topic", TOPIC, "--from-beginning", "--max-messages", "11", *options
    )  # fmt: skip
    ours = we_print("console-consumer", *arguments)
    assert ours.count("\n") >= 11
    assert ours == kafka_prints_alone("kafka.tools.ConsoleConsumer", *arguments)
    group = Group(cluster.zookeeper_connect, GROUP)
    assert [name for name in group.groups.get_groups() if name.startswith("console-consumer")] == []
    group.close()


def test_simple_consumer_shell_prints_the_same(cluster: Cluster, kafka_prints: KafkaTools) -> None:
    arguments = (
        "--broker-list", cluster.bootstrap_servers, "--topic", TOPIC, "--partition", "0", "--offset", "4",
        "--no-wait-at-logend", "--print-offsets", "--property", "print.key=true",
    )  # fmt: skip
    ours = we_print("simple-consumer-shell", *arguments)
    assert ours.endswith("Terminating. Reached the end of partition (shown, 0) at offset 11\n")
    assert ours == kafka_prints("kafka.tools.SimpleConsumerShell", *arguments)


@pytest.mark.parametrize("storage", ["zookeeper", "kafka"])
def test_consumer_offset_checker_prints_the_same(cluster: Cluster, kafka_prints: KafkaTools, storage: str) -> None:
    name = f"{GROUP}-{storage}"
    config = QUICK | {
        "zookeeper.connect": cluster.zookeeper_connect, "group.id": name, "consumer.id": "c",
        "offsets.storage": storage, "dual.commit.enabled": "false",
    }  # fmt: skip
    member = PythonMember(f"static:{TOPIC}=2", config)
    eventually(lambda: len(member.messages) == 11)
    assert member.connector.commit_offsets({TopicPartition(TOPIC, 0): 7, TopicPartition(TOPIC, 1): 0})
    arguments = ("--zookeeper", cluster.zookeeper_connect, "--group", name, "--broker-info")
    ours = we_print("consumer-offset-checker", *arguments)
    theirs = kafka_prints("kafka.tools.ConsumerOffsetChecker", *arguments)
    member.close()
    assert ours.splitlines()[1].split() == [name, TOPIC, "0", "7", "11", "4", f"{name}_c-0"]
    assert ours == theirs
