"""Applications with ``exactly_once`` and ``exactly_once_v2``: clean ends, kill -9, a producer that is fenced.

Each change of a count is one record of the topic ``counts``. So the committed records of a word are 1, 2, 3, …, each
once, if and only if nothing was lost or counted twice.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.producer import KafkaProducer
from kafka_lite.streams.kafka_streams import KafkaStreams, State
from kafka_lite.streams.tasks.thread_producer import ThreadProducer
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.word_count import COUNTS, TEXT, WORDS, configs_of, start_process, word_count

LINES = ["to be or not to be", "that is the question", "to do is to be"]
EXACTLY_ONCE = {
    "processing_guarantee": "exactly_once",
    "internal_leave_group_on_close": True,
    "auto_offset_reset": "earliest",
}
V2 = {**EXACTLY_ONCE, "processing_guarantee": "exactly_once_v2"}
both = pytest.mark.parametrize("guarantee", [EXACTLY_ONCE, V2], ids=["exactly_once", "v2"])


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    settings = {
        "group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 100, "log.retention.ms": -1,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
    }  # fmt: skip
    with Cluster(settings) as running:
        running.create_topic(TEXT, 2)
        running.create_topic(COUNTS, 2)
        yield running


class Text:
    """What was written, and how often each word was."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.counts: dict[str, int] = defaultdict(int)

    def write(self, rounds: int) -> None:
        for number in range(rounds * len(LINES)):
            line = LINES[number % len(LINES)]
            self._cluster.produce(TEXT, line, key="k", partition=number % 2)
            for word in line.split():
                self.counts[word] += 1

    @property
    def each_count_once(self) -> dict[str, list[int]]:
        """What a single run that never fails sends."""
        return {word: list(range(1, count + 1)) for word, count in self.counts.items()}


def committed(cluster: Cluster, topic: str) -> list[tuple[str, bytes]]:
    """The committed records of a topic: keys and values, in the order of each partition."""
    found = []
    client = {"bootstrap.servers": cluster.bootstrap_servers, "isolation.level": "read_committed"}
    with KafkaConsumer({**client, "auto.offset.reset": "earliest"}) as consumer:
        partitions = [TopicPartition(topic, info.partition) for info in consumer.partitions_for(topic)]
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions)  # the last stable offsets
        while any(consumer.position(partition) < end for partition, end in ends.items()):
            found += [(record.key.decode(), record.value) for record in consumer.poll(100)]
    return found


def committed_counts(cluster: Cluster) -> dict[str, list[int]]:
    counts = defaultdict(list)
    for word, count in committed(cluster, COUNTS):
        counts[word].append(struct.unpack(">q", count)[0])
    return counts


@both
def test_each_record_is_counted_once_across_clean_restarts(
    cluster: Cluster, tmp_path: Path, guarantee: dict[str, object]
) -> None:
    text = Text(cluster)
    for _ in range(2):
        text.write(5)
        with KafkaStreams(word_count(), configs_of(cluster.bootstrap_servers, tmp_path, **guarantee)) as streams:
            streams.start()
            eventually(lambda: committed_counts(cluster) == text.each_count_once)
            assert not list(tmp_path.glob("word-count/*/.checkpoint")), "a crash would make it wrong"
        assert list(tmp_path.glob("word-count/*/.checkpoint"))
    assert len(cluster.records(COUNTS)) >= sum(text.counts.values())


def test_a_thread_whose_producer_was_fenced_rejoins_and_goes_on(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = Text(cluster)
    text.write(2)
    with KafkaStreams(word_count(), configs_of(cluster.bootstrap_servers, tmp_path, **EXACTLY_ONCE)) as streams:
        streams.start()
        eventually(lambda: committed_counts(cluster) == text.each_count_once)
        for task in ("0_0", "1_0"):
            with KafkaProducer(
                {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": f"word-count-{task}"}
            ) as usurper:
                usurper.init_transactions()
        text.write(2)
        eventually(lambda: committed_counts(cluster) == text.each_count_once)
        eventually(lambda: streams.state is State.RUNNING)
    assert "has migrated: a newer producer has its transactional.id" in caplog.text


def test_with_v2_a_thread_whose_producer_was_fenced_rejoins_with_all_its_tasks(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = Text(cluster)
    text.write(2)
    with KafkaStreams(word_count(), configs_of(cluster.bootstrap_servers, tmp_path, **V2)) as streams:
        streams.start()
        eventually(lambda: committed_counts(cluster) == text.each_count_once)
        (thread,) = streams._threads
        tasks, producer = set(thread._tasks.active), thread._producer
        assert isinstance(producer, ThreadProducer)
        with producer._create() as usurper:
            usurper.init_transactions()
        text.write(2)
        eventually(lambda: committed_counts(cluster) == text.each_count_once)
        eventually(lambda: streams.state is State.RUNNING)
        assert set(thread._tasks.active) == tasks
    assert "Rejoining the group: task" in caplog.text, "whether a record or a request was refused first"


@pytest.mark.soak  # waits for the session of each killed process, with v2 for its transaction
@pytest.mark.parametrize(
    ("kind", "guarantee"),
    [
        pytest.param(kind, guarantee, id=f"{kind}-{name}", marks=marks)
        for kind, guarantee, name, marks in (
            ("in_memory", EXACTLY_ONCE, "exactly_once", []),
            ("rocksDB", V2, "v2", []),
            # Each kind of store and each guarantee is above.
            ("in_memory", V2, "v2", pytest.mark.nightly),
            ("rocksDB", EXACTLY_ONCE, "exactly_once", pytest.mark.nightly),
        )
    ],
)
def test_an_application_that_is_killed_counts_each_record_once(
    cluster: Cluster, tmp_path: Path, kind: str, guarantee: dict[str, object]
) -> None:
    text = Text(cluster)
    sessions = {
        **guarantee, "default_dsl_store": kind, "session_timeout_ms": 4000, "heartbeat_interval_ms": 500,
        "transaction_timeout_ms": 5000,
    }  # fmt: skip
    text.write(5)
    with start_process(configs_of(cluster.bootstrap_servers, tmp_path, **sessions)) as process:
        try:
            eventually(lambda: committed_counts(cluster) == text.each_count_once)
            text.write(50)
            done = len(cluster.records(COUNTS))
            eventually(lambda: len(cluster.records(COUNTS)) > done, "it is in the middle")
        finally:
            process.kill()
    words = len(cluster.records(WORDS))
    text.write(5)
    never = {**sessions, "commit_interval_ms": -1}
    with start_process(configs_of(cluster.bootstrap_servers, tmp_path, **never)) as process:
        try:
            eventually(lambda: len(cluster.records(WORDS)) > words, "words are sent, but not committed")
        finally:
            process.kill()
    assert committed_counts(cluster) != text.each_count_once
    with start_process(configs_of(cluster.bootstrap_servers, tmp_path, **sessions)) as process:
        try:
            eventually(lambda: committed_counts(cluster) == text.each_count_once)
        finally:
            process.kill()
    sent, counted = len(cluster.records(WORDS)), len(committed(cluster, WORDS))
    assert sent > counted == sum(text.counts.values()), "the aborted words are still in the log"
