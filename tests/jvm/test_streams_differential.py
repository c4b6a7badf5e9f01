"""Streams 0.10.2.2 and ours run the same topologies over the same input: every topic is equal, record by record."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_lite.common.serdes import StringSerde
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.jvm import classpath, compile_java, java_command
from tests.support.streams_topologies import TOPOLOGIES

pytestmark = [pytest.mark.jvm, pytest.mark.soak]

EVENTS_BY_KEY = "KSTREAM-KEY-SELECT-0000000025-repartition"
LEFT_BY_KEY = "KSTREAM-KEY-SELECT-0000000014-repartition"
TOPICS = {
    "word-count": ["out", "Counts-repartition", "Counts-changelog"],
    "grouped-table": [
        "out", "Groups-repartition", "Groups-changelog", "out-lengths", "Lengths-repartition", "Lengths-changelog",
    ],
    "joins": [
        "out", "out-left", "out-lengths", "out-stream", "Outer-repartition", "Outer-changelog",
        EVENTS_BY_KEY,
    ],
    "windows": [
        "out", "Hopping-changelog", "out-left", "Tumbling-changelog", "All-repartition", "All-changelog",
        "Sum-repartition", "Sum-changelog", "out-lengths",
    ],
    "sessions": [
        "out", "Counts-changelog", "out-left", "Reduced-changelog", "Lengths-repartition", "Lengths-changelog",
        "Sum-repartition", "Sum-changelog", "out-lengths",
    ],
    "cached": [
        "out", "Counts-changelog", "out-left", "Hopping-changelog", "out-lengths", "Reduced-changelog", "out-stream",
    ],
    "global-table": ["out", "out-left", "out-stream"],
    "stream-joins": [
        "out", "KSTREAM-JOINTHIS-0000000004-store-changelog", "KSTREAM-JOINOTHER-0000000005-store-changelog",
        "out-left", "KSTREAM-JOINTHIS-0000000010-store-changelog", "KSTREAM-OUTEROTHER-0000000011-store-changelog",
        LEFT_BY_KEY, "KSTREAM-OUTERTHIS-0000000020-store-changelog",
        "KSTREAM-OUTEROTHER-0000000021-store-changelog", "out-stream",
    ],
}  # fmt: skip
"""What each topology writes. Names begin with the id of the application and a hyphen."""
SEED = 11
EVENTS = 120
WORDS = ["to", "be", "or", "not", "to", "be", "that", "is", "the", "question"]

Records = dict[str, list[tuple[object, ...]]]


@pytest.fixture
def cluster(jvm: None) -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}) as running:
        for name in ("in", "more", "events"):
            running.create_topic(name)
        for application in ("java", "ours"):
            for output in ("out", "out-left", "out-lengths", "out-stream"):
                running.create_topic(f"{application}-{output}", 3)
        yield running


def write_input(cluster: Cluster) -> None:
    """Lines of words, and words with keys. Some timestamps go back; some keys are deleted and set again."""
    chosen = random.Random(SEED)
    for number in range(60):
        line = " ".join(chosen.choices(WORDS, k=4))
        stamp = 1_000 + number - chosen.choice([0, 0, 7])
        cluster.produce("in", chosen.choice([line, line, None]), key=chosen.choice("abcd"), timestamp_ms=stamp)
        cluster.produce("more", chosen.choice([*WORDS, ""]), key=chosen.choice(WORDS), timestamp_ms=stamp)


def begin_of_day() -> int:
    """In ms. The changelogs of windows are deleted two days later."""
    day_ms = 24 * 60 * 60 * 1000
    return int(time.time() * 1000) // day_ms * day_ms


def write_late_events(cluster: Cluster) -> None:
    """Events of an hour and a half of this day; some are late, some of these too late for their windows."""
    chosen, begin = random.Random(SEED), begin_of_day()
    for number in range(EVENTS):
        late = chosen.choice([0, 0, 0, 50_000, 100_000, 400_000])
        stamp = begin + max(0, number * 45_000 - late)
        cluster.produce("events", chosen.choice(WORDS), key=chosen.choice("abc"), timestamp_ms=stamp)


def written(cluster: Cluster, application: str, topology: str) -> Records:
    """Partition, key, value and timestamp of all records that an application has written, by topic."""
    found: Records = {}
    topics = cluster.topics
    for topic in TOPICS[topology]:
        name = f"{application}-{topic}"
        records = cluster.records(name) if name in topics else []
        found[topic] = [(each.partition, each.key, each.value, each.timestamp_ms) for each in records]
    return found


@contextmanager
def java_application(
    cluster: Cluster, topology: str, state_dir: Path, cache_bytes: int = 0, commit_ms: int = 100
) -> Iterator[None]:
    """The Java application, while the block runs."""
    jars = classpath("org.apache.kafka:kafka-streams:0.10.2.2", "org.slf4j:slf4j-nop:1.7.36")
    classes = compile_java(Path(__file__).parent / "StreamsTopologies.java", jars)
    arguments = [cluster.bootstrap_servers, "java", str(state_dir), topology, str(cache_bytes), str(commit_ms)]
    command = java_command("StreamsTopologies", *arguments, classpath=[classes, *jars])
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        try:
            yield
        finally:
            process.stdin.close()


def our_application(
    cluster: Cluster, topology: str, state_dir: Path, cache_bytes: int = 0, commit_ms: int = 100
) -> KafkaStreams:
    configs = {
        "application.id": "ours",
        "bootstrap.servers": cluster.bootstrap_servers,
        "state.dir": str(state_dir),
        "key.serde": StringSerde,
        "value.serde": StringSerde,
        "commit.interval.ms": commit_ms,
        "cache.max.bytes.buffering": cache_bytes,
    }
    return KafkaStreams(TOPOLOGIES[topology]("ours-out"), configs)


def await_committed(cluster: Cluster, application: str, topic: str, end: int) -> None:
    """Wait until an application has committed all ``end`` records of a topic."""
    group = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": application, "enable.auto.commit": False}

    def is_committed() -> bool:
        [committed] = consumer.committed([TopicPartition(topic, 0)]).values()
        return committed is not None and committed.offset == end

    with KafkaConsumer(group) as consumer:
        eventually(is_committed, f"{application} has read {topic}", timeout_s=120)


def write_step_by_step(cluster: Cluster) -> None:
    """A few records to one topic at a time, each processed by both applications before the next: joins depend on it."""
    chosen = random.Random(SEED)
    ends = dict.fromkeys(("in", "more", "events"), 0)
    for number in range(15):
        topic = list(ends)[number % 3] if number < 3 else chosen.choice(list(ends))
        for _ in range(6):
            value = chosen.choice(["a", "b", "c", "d"] if topic == "events" else ["a", "b", "c", None])
            cluster.produce(topic, value, key=chosen.choice("xyz"), timestamp_ms=1_000 + number)
        ends[topic] += 6
        for application in ("java", "ours"):
            await_committed(cluster, application, topic, ends[topic])
            if topic == "events":
                await_committed(cluster, application, f"{application}-{EVENTS_BY_KEY}", ends[topic])


def write_streams_to_join(cluster: Cluster) -> None:
    """A few records to one of two topics at a time, in steps of fifteen seconds, some of them late."""
    chosen, begin = random.Random(SEED), begin_of_day()
    for number in range(16):
        topic, end = ["in", "more"][number % 2], 6 * (number // 2 + 1)
        for _ in range(6):
            stamp = begin + max(0, number * 15_000 - chosen.choice([0, 0, 30_000, 200_000]))
            cluster.produce(topic, chosen.choice(["a", "b", "c", None]), key=chosen.choice("xyz"), timestamp_ms=stamp)
        for application in ("java", "ours"):
            await_committed(cluster, application, topic, end)
            if topic == "in":
                await_committed(cluster, application, f"{application}-{LEFT_BY_KEY}", end)


@pytest.mark.parametrize("cache_bytes", [1_000, 10_000_000])
def test_java_and_ours_evict_and_flush_the_same_entries(cluster: Cluster, tmp_path: Path, cache_bytes: int) -> None:
    """Nothing is committed before the end. The small cache evicts again and again, the other one is flushed once."""
    write_late_events(cluster)
    settings = {"cache_bytes": cache_bytes, "commit_ms": 3_600_000}
    with (
        java_application(cluster, "cached", tmp_path / "java", **settings),
        our_application(cluster, "cached", tmp_path, **settings) as ours,
    ):
        ours.start()
        for application in ("java", "ours"):
            eventually(
                lambda application=application: len(cluster.records(f"{application}-out-stream")) == EVENTS,
                f"{application} has processed all events",
                timeout_s=120,
            )

    def are_equal() -> bool:
        java, ours = (written(cluster, application, "cached") for application in ("java", "ours"))
        return java == ours and all(ours.values())

    eventually(are_equal, lambda: written(cluster, "java", "cached"), timeout_s=120)
    results = [key for _, key, _, _ in written(cluster, "ours", "cached")["out-left"]]
    assert (len(results) > len(set(results))) == (cache_bytes == 1_000), "only the small cache sends windows twice"


@pytest.mark.parametrize("topology", [each for each in TOPICS if each != "cached"])
def test_java_and_ours_write_the_same_records(cluster: Cluster, tmp_path: Path, topology: str) -> None:
    if topology == "word-count":  # of a stream's record without a value, Java's lambda would fail as ours does
        chosen = random.Random(SEED)
        for number in range(60):
            cluster.produce("in", " ".join(chosen.choices(WORDS, k=4)), key="k", timestamp_ms=1_000 + number)
    elif topology == "grouped-table":
        write_input(cluster)
    elif topology == "global-table":
        for number, word in enumerate(WORDS):
            cluster.produce("more", f"{word}{number}", key=word, timestamp_ms=1_000)
        write_late_events(cluster)
    elif topology in ("windows", "sessions"):
        write_late_events(cluster)

    def are_equal() -> bool:
        java, ours = (written(cluster, application, topology) for application in ("java", "ours"))
        return java == ours and all(ours.values())

    def difference() -> object:
        java, ours = (written(cluster, application, topology) for application in ("java", "ours"))
        return {topic: (len(java[topic]), len(ours[topic])) for topic in java if java[topic] != ours[topic]}

    with java_application(cluster, topology, tmp_path / "java"), our_application(cluster, topology, tmp_path) as ours:
        ours.start()
        if topology == "joins":
            write_step_by_step(cluster)
        elif topology == "stream-joins":
            write_streams_to_join(cluster)
        elif topology in ("windows", "sessions", "global-table"):
            for application in ("java", "ours"):
                await_committed(cluster, application, "events", EVENTS)
        eventually(are_equal, difference, timeout_s=120)
    assert are_equal(), "the end of both added nothing"
    assert {
        name.removeprefix("java-"): count for name, count in cluster.topics.items() if name.startswith("java-")
    } == {name.removeprefix("ours-"): count for name, count in cluster.topics.items() if name.startswith("ours-")}
