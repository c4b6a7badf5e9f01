"""Offsets and owners in ZooKeeper: our tools read, write and print the same as those of Kafka 0.10.2."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.kafka_tools import KafkaTools
from tests.support.old_consumers import QUICK, Group, PythonMember
from tests.support.patience import patient_s

pytestmark = pytest.mark.jvm

TOPIC = "shown"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        running.create_topic(TOPIC, 2)
        for number in range(10):
            running.produce(TOPIC, f"value-{number}", partition=number % 2)
        yield running


@pytest.fixture(scope="module")
def kafka_prints() -> Iterator[KafkaTools]:
    """The output of a tool of Kafka 0.10.2."""
    with KafkaTools("0.10.2.2") as tools:
        yield tools


def we_print(*arguments: str) -> str:
    command = [sys.executable, "-m", "kafka_lite.tools.main", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patient_s(120), check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_offsets_are_exported_imported_and_updated(cluster: Cluster, kafka_prints: KafkaTools, tmp_path: Path) -> None:
    """Each tool reads what the other has written."""
    first, second = Group(cluster.zookeeper_connect, "exported"), Group(cluster.zookeeper_connect, "exported-too")
    partitions = [TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)]
    for number, partition in enumerate(partitions):
        first.groups.set_offset("exported", partition, 5 + number)
        second.groups.set_offset("exported-too", partition, 0)
    where = ("--zkconnect", cluster.zookeeper_connect)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    named = ("--group", "exported", "--group", "exported-too")
    assert we_print("export-zk-offsets", *where, *named, "--output-file", str(ours)) == ""
    assert kafka_prints("kafka.tools.ExportZkOffsets", *where, *named, "--output-file", str(theirs)) == ""
    assert sorted(ours.read_text().splitlines()) == sorted(theirs.read_text().splitlines())
    assert ours.read_text().count("\n") == 4

    changed = ours.read_text().replace(":5", ":7")
    for importer in ("import-zk-offsets", "kafka.tools.ImportZkOffsets"):
        (tmp_path / "changed").write_text(changed)
        print_it = kafka_prints if importer.startswith("kafka.") else we_print
        assert print_it(importer, *where, "--input-file", str(tmp_path / "changed")) == ""
        assert first.groups.get_all_offsets("exported") == {partitions[0]: 7, partitions[1]: 6}
        first.groups.set_offset("exported", partitions[0], 1)

    properties = tmp_path / "consumer.properties"
    properties.write_text(f"group.id=exported\nzookeeper.connect={cluster.zookeeper_connect}\n")
    for end in ("latest", "earliest"):
        arguments = (end, str(properties), TOPIC)
        told = we_print("update-offsets-in-zk", *arguments)
        found = first.groups.get_all_offsets("exported")
        first.groups.set_offset("exported", partitions[0], 1)
        assert told == kafka_prints("kafka.tools.UpdateOffsetsInZK", *arguments)
        assert first.groups.get_all_offsets("exported") == found
    assert told.splitlines()[-1] == "updated the offset for 2 partitions"
    for each in (first, second):
        each.close()


def test_owners_are_verified(cluster: Cluster, kafka_prints: KafkaTools) -> None:
    name = "owners"
    config = QUICK | {"zookeeper.connect": cluster.zookeeper_connect, "group.id": name, "consumer.id": "c"}
    member = PythonMember(f"static:{TOPIC}=2", config)
    eventually(lambda: len(member.messages) == 10)
    arguments = ("--zookeeper.connect", cluster.zookeeper_connect, "--group", name)
    ours = we_print("verify-consumer-rebalance", *arguments)
    assert ours == kafka_prints("kafka.tools.VerifyConsumerRebalance", *arguments)
    group = Group(cluster.zookeeper_connect, name)
    partition = TopicPartition(TOPIC, 0)
    assert group.groups.release_owner(name, partition, group.groups.get_owner(name, partition) or "")
    command = [sys.executable, "-m", "kafka_lite.tools.main", "verify-consumer-rebalance", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patient_s(120), check=False)
    assert (done.returncode, done.stdout) == (1, kafka_prints("kafka.tools.VerifyConsumerRebalance", *arguments))
    assert f"No owner for partition [{TOPIC},0]" in done.stderr
    group.close()
    member.close()
