"""Applications on Kafka Streams against a broker: tasks, internal topics, restoring, rebalances, errors."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.kafka_streams import KafkaStreams, State
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.topology_builder import AutoOffsetReset, TopologyBuilder
from kafka_lite.testing.cluster import Cluster
from tests.support.counted_text import PARTITIONS, Text, counts_in
from tests.support.eventually import eventually
from tests.support.patience import patient_s
from tests.support.word_count import CHANGELOG, COUNTS, TEXT, WORDS, configs_of, start_process, word_count

LEAVES = {"internal_leave_group_on_close": True}
"""So that the next instance need not wait for the session of the last one."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}) as running:
        running.create_topic(TEXT, PARTITIONS)
        running.create_topic(COUNTS, 2)
        yield running


def test_words_are_counted_by_two_threads(cluster: Cluster, tmp_path: Path) -> None:
    text = Text(cluster)
    text.write(60)
    seen: list[State] = []
    with KafkaStreams(word_count(), configs_of(cluster.bootstrap_servers, tmp_path, num_stream_threads=2)) as streams:
        streams.set_state_listener(lambda new, _: seen.append(new))
        assert streams.state is State.CREATED
        streams.start()
        eventually(text.is_committed, "all lines and words are committed")
        eventually(lambda: streams.state is State.RUNNING)
        with pytest.raises(RuntimeError, match="Cannot start again"):
            streams.start()
        with pytest.raises(RuntimeError, match="Cannot clean up while running"):
            streams.clean_up()
    assert streams.state is State.NOT_RUNNING
    assert seen[0] is State.RUNNING
    assert State.REBALANCING in seen
    assert seen[-2:] == [State.PENDING_SHUTDOWN, State.NOT_RUNNING]
    assert counts_in(cluster, COUNTS) == text.counts
    assert counts_in(cluster, CHANGELOG) == text.counts
    assert len(cluster.records(CHANGELOG)) == text.counts.total(), "a record for each change"
    assert {record.timestamp_ms for record in cluster.records(CHANGELOG)} <= set(range(1000, 1060))
    assert {topic: cluster.topics[topic] for topic in (WORDS, CHANGELOG)} == {WORDS: 3, CHANGELOG: 3}
    config = cluster.server.log_manager.get_log(TopicPartition(CHANGELOG, 0)).config  # type: ignore[union-attr]
    assert config.compact
    streams.clean_up()
    assert not (tmp_path / "word-count").exists()


@pytest.mark.parametrize("kind", ["in_memory", "rocksDB"])
def test_a_restarted_application_restores_its_counts(cluster: Cluster, tmp_path: Path, kind: str) -> None:
    text = Text(cluster)
    for _ in range(2):
        text.write(20)
        configs = configs_of(cluster.bootstrap_servers, tmp_path, default_dsl_store=kind, **LEAVES)
        with KafkaStreams(word_count(), configs) as streams:
            streams.start()
            eventually(text.is_committed)
    assert counts_in(cluster, COUNTS) == text.counts


@pytest.mark.soak
def test_tasks_move_to_a_new_instance_and_back(cluster: Cluster, tmp_path: Path) -> None:
    text = Text(cluster)
    text.write(20)
    first = KafkaStreams(word_count(), configs_of(cluster.bootstrap_servers, tmp_path / "1", **LEAVES))
    second = KafkaStreams(word_count(), configs_of(cluster.bootstrap_servers, tmp_path / "2", **LEAVES))
    with first:
        first.start()
        eventually(text.is_committed)
        with second:
            second.start()
            eventually(lambda: any((tmp_path / "2" / "word-count").glob("*_*/.checkpoint")), "it has a task")
            text.write(20)
            eventually(text.is_committed)
        text.write(20)
        eventually(text.is_committed)
    assert counts_in(cluster, COUNTS) == text.counts


@pytest.mark.soak  # waits for the session of the killed process
@pytest.mark.parametrize(
    "kind",
    # A store in memory is restored after a kill in test_streams_exactly_once.py, too.
    [pytest.param("in_memory", marks=pytest.mark.nightly), "rocksDB"],
)
def test_a_killed_application_restores_its_counts(cluster: Cluster, tmp_path: Path, kind: str) -> None:
    text = Text(cluster)
    more = {"session_timeout_ms": 10_000, "default_dsl_store": kind}
    for _ in range(2):
        text.write(30)
        with start_process(configs_of(cluster.bootstrap_servers, tmp_path, **more)) as process:
            try:
                eventually(text.is_committed)
            finally:
                process.kill()
    assert counts_in(cluster, COUNTS) == text.counts
    assert counts_in(cluster, CHANGELOG) == text.counts


# ── errors ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Copy(Processor[Any, Any]):
    def process(self, key: Any, value: Any) -> None:
        self.context.forward(key, value)


class Failing(Processor[Any, Any]):
    def process(self, key: Any, value: Any) -> None:
        raise ZeroDivisionError(f"{key}: {value}")


def error_of(cluster: Cluster, tmp_path: Path, builder: TopologyBuilder, **configs: object) -> Exception:
    """Run an application until its only thread dies of an error."""
    errors: list[Exception] = []
    died = threading.Event()

    def on_error(_: threading.Thread, error: Exception) -> None:
        errors.append(error)
        died.set()

    streams = KafkaStreams(builder, configs_of(cluster.bootstrap_servers, tmp_path, **configs))
    streams.set_uncaught_exception_handler(on_error)
    with streams:
        streams.start()
        assert died.wait(patient_s(60))
        assert streams.state is State.ERROR
    assert streams.state is State.NOT_RUNNING
    return errors[0]


def causes_of(error: BaseException | None) -> Iterator[str]:
    """The texts of an error and its causes."""
    while error is not None:
        yield str(error)
        error = error.__cause__


def test_an_error_of_a_processor_ends_the_thread_and_nothing_is_committed(cluster: Cluster, tmp_path: Path) -> None:
    builder = TopologyBuilder().add_source("lines", TEXT).add_processor("failing", Failing, "lines")
    cluster.produce(TEXT, "a line", key="k")
    error = error_of(cluster, tmp_path, builder)
    assert str(error) == "k: a line"
    group = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "word-count", "enable.auto.commit": False}
    with KafkaConsumer(group) as consumer:
        assert consumer.committed([TopicPartition(TEXT, 0)]) == {TopicPartition(TEXT, 0): None}


def differently_partitioned() -> TopologyBuilder:
    builder = TopologyBuilder().add_source("lines", TEXT).add_source("counts", COUNTS)
    builder.add_processor("join", Copy, "lines", "counts")
    return builder.copartition_sources(["lines", "counts"])


def unwritten() -> TopologyBuilder:
    builder = TopologyBuilder().add_internal_topic("words").add_source("words", "words").add_source("lines", TEXT)
    return builder.add_processor("join", Copy, "lines", "words")


def without_reset() -> TopologyBuilder:
    builder = TopologyBuilder().add_source("lines", TEXT)
    return builder.add_source("counts", COUNTS, offset_reset=AutoOffsetReset.EARLIEST)


@pytest.mark.parametrize(
    ("topology", "configs", "message"),
    [
        (differently_partitioned, {}, r"Topics not co-partitioned: \[counts \(2\),text \(3\)\]"),
        (unwritten, {}, r"Topics \['word-count-words'\] are internal, but no sink writes them"),
        (without_reset, {"auto_offset_reset": "none"}, "No valid committed offset found for input topic text"),
        (word_count, {"replication_factor": 2}, "Found only 1 brokers,  but replication factor is 2"),
    ],
)
def test_what_cannot_run_says_why(
    cluster: Cluster,
    tmp_path: Path,
    topology: Callable[[], TopologyBuilder],
    configs: dict[str, object],
    message: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = error_of(cluster, tmp_path, topology(), **configs)
    assert isinstance(error, StreamsError)
    assert not any(record.exc_info for record in caplog.records if "co-partitioned" in record.getMessage())
    assert re.search(message, "; ".join(causes_of(error)))


def test_sources_begin_where_they_say(cluster: Cluster, tmp_path: Path) -> None:
    cluster.produce(TEXT, "old", key="k")
    builder = TopologyBuilder().add_source("lines", TEXT, offset_reset=AutoOffsetReset.EARLIEST)
    builder.add_sink("copied", COUNTS, "lines")
    with KafkaStreams(builder, configs_of(cluster.bootstrap_servers, tmp_path, auto_offset_reset="latest")) as streams:
        streams.start()
        eventually(lambda: cluster.values(COUNTS) == [b"old"])
