"""Instances of Kafka Streams 0.10.2.2 and of ours are one application: tasks move between them, with their state."""

from __future__ import annotations

import logging
import random
import re
import struct
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from kafka_lite.common.serdes import StringSerde
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.protocol.messages.api_13_leave_group import LeaveGroupRequest, LeaveGroupResponse
from kafka_lite.protocol.messages.api_15_describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint
from kafka_lite.streams.state.queryable_store_types import QueryableStoreTypes
from kafka_lite.streams.tasks.state_directory import CHECKPOINT_FILE_NAME
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.admin.admin_channel import AdminChannel
from tests.support.eventually import eventually
from tests.support.jvm import classpath, compile_java, java_command
from tests.support.streams_topologies import word_count
from tests.support.word_count import configs_of, start_process

pytestmark = [pytest.mark.jvm, pytest.mark.soak]

APPLICATION = "shared"
OUTPUT, CHANGELOG, REPARTITION = "shared-out", "shared-Counts-changelog", "shared-Counts-repartition"
PARTITIONS = 4
LEAVE_WITH_ONE_MEMBER = 2
WORDS = ["to", "be", "or", "not", "that", "is", "the", "question"]

Instance = Callable[[Cluster, Path], AbstractContextManager[object]]
Killable = Callable[[Cluster, Path], AbstractContextManager["subprocess.Popen[bytes]"]]


@pytest.fixture
def cluster(jvm: None) -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}) as running:
        running.create_topic("in", PARTITIONS)
        running.create_topic(OUTPUT)
        yield running


@contextmanager
def java(cluster: Cluster, state_dir: Path, standbys: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    """An instance of Java's word count, while the block runs, unless it is killed."""
    jars = classpath("org.apache.kafka:kafka-streams:0.10.2.2", "org.slf4j:slf4j-nop:1.7.36")
    classes = compile_java(Path(__file__).parent / "StreamsTopologies.java", jars)
    arguments = [cluster.bootstrap_servers, APPLICATION, str(state_dir), "word-count", "0", "100", str(standbys)]
    command = java_command("StreamsTopologies", *arguments, classpath=[classes, *jars])
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        yield process


@contextmanager
def ours(cluster: Cluster, state_dir: Path, **more: object) -> Iterator[KafkaStreams]:
    """An instance of our word count, while the block runs. ``more`` has keys with underscores for dots."""
    configs = {
        "application.id": APPLICATION,
        "bootstrap.servers": cluster.bootstrap_servers,
        "state.dir": str(state_dir),
        "key.serde": StringSerde,
        "value.serde": StringSerde,
        "commit.interval.ms": 100,
        "internal.leave.group.on.close": True,
        **{key.replace("_", "."): value for key, value in more.items()},
    }
    with KafkaStreams(word_count(OUTPUT), configs) as streams:
        streams.start()
        yield streams


@contextmanager
def process_of_ours(cluster: Cluster, state_dir: Path, **more: object) -> Iterator[subprocess.Popen[bytes]]:
    """The same in a process of its own, which may be killed."""
    configs = configs_of(cluster.bootstrap_servers, state_dir, application_id=APPLICATION, **more)
    with start_process(configs, "word_count_of_two_languages") as process:
        yield process


class Input:
    """Random lines in all partitions, and the counts of their words."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._random = random.Random(5)
        self._lines = 0
        self.counts: Counter[str] = Counter()

    def write(self) -> None:
        for number in range(40):
            words = self._random.choices(WORDS, k=4)
            self._cluster.produce("in", " ".join(words), key="k", partition=number % PARTITIONS)
            self._lines += 1
            self.counts.update(words)

    def is_committed(self) -> bool:
        """Whether the application has committed every line and every word."""
        group = {"bootstrap.servers": self._cluster.bootstrap_servers, "group.id": APPLICATION}
        with KafkaConsumer({**group, "enable.auto.commit": False}) as consumer:
            return self._total(consumer, "in") == self._lines and (
                self._total(consumer, REPARTITION) == self.counts.total()
            )

    @staticmethod
    def _total(consumer: KafkaConsumer, topic: str) -> int:
        committed = consumer.committed([TopicPartition(topic, number) for number in range(PARTITIONS)])
        return sum(each.offset for each in committed.values() if each is not None)


def newest(cluster: Cluster, topic: str) -> Counter[str]:
    """The last count of each word."""
    counts = {}
    for record in cluster.records(topic):
        assert record.key is not None
        assert record.value is not None
        counts[record.key.decode()] = struct.unpack(">q", record.value)[0]
    return Counter(counts)


@pytest.mark.parametrize(("first", "second"), [(java, ours), (ours, java)], ids=["java-then-ours", "ours-then-java"])
def test_tasks_move_from_one_language_to_the_other(
    cluster: Cluster, tmp_path: Path, first: Instance, second: Instance
) -> None:
    """The first is alone, then both are there, then the second is alone. It restores what the first has counted."""
    text = Input(cluster)
    with ExitStack() as of_second:
        with first(cluster, tmp_path / "1"):
            text.write()
            eventually(text.is_committed, "alone", timeout_s=120)
            of_second.enter_context(second(cluster, tmp_path / "2"))
            eventually(lambda: is_shared(cluster), "the second has half of the tasks", timeout_s=120)
            text.write()
            eventually(text.is_committed, "together", timeout_s=120)
            assert newest(cluster, OUTPUT) == text.counts
        text.write()
        eventually(text.is_committed, "the second alone", timeout_s=120)
    assert newest(cluster, OUTPUT) == text.counts
    assert newest(cluster, CHANGELOG) == text.counts


def java_with_standbys(cluster: Cluster, state_dir: Path) -> AbstractContextManager[subprocess.Popen[bytes]]:
    return java(cluster, state_dir, standbys=1)


def ours_with_standbys(cluster: Cluster, state_dir: Path) -> AbstractContextManager[subprocess.Popen[bytes]]:
    return process_of_ours(cluster, state_dir, num_standby_replicas=1, default_dsl_store="rocksDB")


@pytest.mark.parametrize(
    ("killed", "stays"),
    [(java_with_standbys, ours_with_standbys), (ours_with_standbys, java_with_standbys)],
    ids=["java-is-killed", "ours-is-killed"],
)
def test_a_standby_of_the_other_language_takes_over_after_kill_nine(
    cluster: Cluster, tmp_path: Path, killed: Killable, stays: Killable
) -> None:
    """The counts are exact, although this is at least once: what is killed has committed all that was there."""
    text = Input(cluster)
    with killed(cluster, tmp_path / "killed") as process:
        text.write()
        eventually(text.is_committed, "alone", timeout_s=120)
        (dead,) = group(cluster).members
        with stays(cluster, tmp_path / "stays"):
            eventually(lambda: has_every_store(cluster, tmp_path / "stays"), "tasks and standbys", timeout_s=120)
            text.write()
            eventually(text.is_committed, "together", timeout_s=120)
            eventually(lambda: has_every_store(cluster, tmp_path / "stays"), "the standbys follow", timeout_s=120)
            process.kill()
            process.wait()
            remove_member(cluster, dead)
            eventually(lambda: group(cluster).group_state == "Stable", "the other has its tasks", timeout_s=120)
            text.write()
            eventually(text.is_committed, "after the kill", timeout_s=120)
    assert newest(cluster, OUTPUT) == text.counts
    assert newest(cluster, CHANGELOG) == text.counts


def has_every_store(cluster: Cluster, state_dir: Path) -> bool:
    """Whether an instance keeps every partition of the changelog on disk up to its end, for a task or a standby."""
    kept: dict[TopicPartition, int] = {}
    for task in (state_dir / APPLICATION).glob("1_*"):
        kept |= OffsetCheckpoint(task / CHECKPOINT_FILE_NAME).read()
    partitions = [TopicPartition(CHANGELOG, number) for number in range(PARTITIONS)]
    with KafkaConsumer({"bootstrap.servers": cluster.bootstrap_servers}) as consumer:
        return {each: kept.get(each, 0) for each in partitions} == consumer.end_offsets(partitions)


def group(cluster: Cluster) -> DescribedGroup:
    """The application's group, as its coordinator describes it."""
    with AdminChannel(cluster.bootstrap_servers) as channel:
        (described,) = channel.send(DescribeGroupsRequest(groups=[APPLICATION]), DescribeGroupsResponse).groups
        return described


def is_shared(cluster: Cluster) -> bool:
    """Whether two instances have divided the tasks. One division of seventy leaves the second no task that counts."""
    now = group(cluster)
    return now.group_state == "Stable" and len(now.members) == 2


def remove_member(cluster: Cluster, member: DescribedGroupMember) -> None:
    """Tell the coordinator that a member has gone, so that nobody waits for its session."""
    with AdminChannel(cluster.bootstrap_servers) as channel:
        request = LeaveGroupRequest(group_id=APPLICATION, member_id=member.member_id)
        assert channel.send(request, LeaveGroupResponse, max_version=LEAVE_WITH_ONE_MEMBER).error_code == 0


def test_stores_on_disk_that_java_has_left_are_opened_by_ours(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is restored: what our stores have comes from the files of Java's RocksDB."""
    text = Input(cluster)
    with java(cluster, tmp_path):
        text.write()
        eventually(text.is_committed, "by Java", timeout_s=120)
    assert len(list(tmp_path.glob(f"{APPLICATION}/1_*/rocksdb/Counts/*.sst"))) >= PARTITIONS
    caplog.set_level(logging.INFO, "kafka_lite.streams")
    with ours(cluster, tmp_path, default_dsl_store="rocksDB") as streams:
        eventually(lambda: streams.state.name == "RUNNING", "ours runs", timeout_s=120)
        eventually(lambda: len(restorations(caplog)) == PARTITIONS, "all tasks are here", timeout_s=120)
        assert all(start == end for start, end in restorations(caplog)), restorations(caplog)
        eventually(lambda: streams.state.name == "RUNNING", "the rebalance that brought them is over", timeout_s=120)
        counts = streams.store("Counts", QueryableStoreTypes.key_value_store())
        eventually(lambda: Counter(dict(counts.all())) == text.counts, "Java's counts", timeout_s=120)
        text.write()
        eventually(text.is_committed, "by ours", timeout_s=120)
    assert newest(cluster, OUTPUT) == text.counts


def restorations(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """From which offset to which each partition of the changelog was restored."""
    found = (re.search(rf"Restoring {CHANGELOG}-\d from (.*) to (\d+)", line) for line in caplog.messages)
    return [(match[1], match[2]) for match in found if match is not None]
