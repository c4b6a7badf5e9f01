"""Java's MirrorMaker and ours in one group: either is killed, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kafka_lite.common.properties import dump_properties
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.groups.consumer_group_service import ConsumerGroupService
from tests.support.eventually import eventually
from tests.support.jvm import classpath, java_command
from tests.support.mirrored_records import check_complete, new_consumer, old_consumer, publish
from tests.support.old_consumers import JARS, Group
from tests.support.patience import patient_s

pytestmark = [pytest.mark.jvm, pytest.mark.soak]

PARTITIONS = 4
FIRST, SECOND = 400, 1600
INTERVAL_MS = "500"


@pytest.fixture(scope="module")
def source() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 100}) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def target() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


class Members:
    """A group of mirrors: how its members are configured, and how many of them have partitions."""

    def __init__(self, source: Cluster, group: str) -> None:
        self.source, self.group = source, group

    def config(self) -> dict[str, str]:
        raise NotImplementedError

    def with_partitions(self) -> int:
        raise NotImplementedError


class NewMembers(Members):
    def config(self) -> dict[str, str]:
        config = new_consumer(self.source, self.group) | {"session.timeout.ms": "6000"}
        del config["default.api.timeout.ms"]  # Java 0.10.2 does not know it
        return config

    def with_partitions(self) -> int:
        with AdminChannel(self.source.bootstrap_servers) as channel:
            return sum(bool(each.assignment) for each in ConsumerGroupService(channel).describe(self.group).members)


class OldMembers(Members):
    def config(self) -> dict[str, str]:
        return old_consumer(self.source, self.group) | {"zookeeper.session.timeout.ms": "6000"}

    def with_partitions(self) -> int:
        group = Group(self.source.zookeeper_connect, self.group)
        try:
            owners = group.owners({self.group: PARTITIONS}).values()
        finally:
            group.close()
        return len({owner.rpartition("-")[0] for owner in owners if owner})


def command_of(kind: str, members: Members, target: Cluster, folder: Path) -> list[str]:
    """Java's or our command, with the same flags and files."""
    consumer, producer = folder / "consumer.properties", folder / "producer.properties"
    consumer.write_text(dump_properties(members.config()))
    producer.write_text(dump_properties({"bootstrap.servers": target.bootstrap_servers}))
    flags = [
        *("--consumer.config", str(consumer), "--producer.config", str(producer), "--whitelist", members.group),
        *("--offset.commit.interval.ms", INTERVAL_MS),
    ]
    if kind == "java":
        return java_command("kafka.tools.MirrorMaker", *flags, classpath=classpath(*JARS))
    return [sys.executable, "-m", "kafka_lite.tools.main", "mirror-maker", *flags]


def count(target: Cluster, topic: str) -> int:
    return len({record.value for record in target.records(topic)})


@pytest.mark.parametrize(
    ("members_of", "victim"),
    [
        (NewMembers, "java"),
        (OldMembers, "ours"),
        # Each kind of members and each victim is above.
        pytest.param(NewMembers, "ours", marks=pytest.mark.nightly),
        pytest.param(OldMembers, "java", marks=pytest.mark.nightly),
    ],
)
def test_one_of_two_is_killed_and_nothing_is_lost(
    source: Cluster, target: Cluster, tmp_path: Path, members_of: type[Members], victim: str
) -> None:
    topic = f"{members_of.__name__.lower()}-{victim}"
    source.create_topic(topic, partitions=PARTITIONS)
    target.create_topic(topic, partitions=PARTITIONS - 1)
    members = members_of(source, topic)
    with ExitStack() as stack:
        mirrors = {}
        for kind in ("java", "ours"):
            command = command_of(kind, members, target, tmp_path)
            with (tmp_path / f"{kind}.log").open("wb") as log:
                mirrors[kind] = stack.enter_context(subprocess.Popen(command, stdout=log, stderr=log))
            stack.callback(mirrors[kind].kill)

        def logs() -> str:
            return "\n".join((tmp_path / f"{kind}.log").read_text()[-3000:] for kind in mirrors)

        eventually(lambda: members.with_partitions() == 2, logs, 120)
        publish(source, topic, range(FIRST))
        eventually(lambda: count(target, topic) == FIRST, logs)
        publish(source, topic, range(FIRST, SECOND))
        mirrors[victim].kill()
        eventually(lambda: count(target, topic) == SECOND, logs)
        survivor = mirrors["ours" if victim == "java" else "java"]
        survivor.terminate()
        assert survivor.wait(patient_s(60)) == 143, logs()
    check_complete(target.records(topic), SECOND)
    if members_of is NewMembers:
        with KafkaConsumer({"bootstrap.servers": source.bootstrap_servers, "group.id": topic}) as consumer:
            found = consumer.committed([TopicPartition(topic, number) for number in range(PARTITIONS)])
        assert sum(each.offset for each in found.values() if each is not None) == SECOND
