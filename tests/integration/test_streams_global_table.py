"""An application with a global table against a broker: it is read first, as a whole, and kept up to date."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kafka_lite.common.serdes import StringSerde
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_21_delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafka_lite.streams.errors import InvalidStateStoreError, StreamsError
from kafka_lite.streams.kafka_streams import KafkaStreams, State
from kafka_lite.streams.kstream.global_ktable import GlobalKTable
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.processor.state_store import IN_MEMORY, ROCKS_DB
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint
from kafka_lite.streams.state.queryable_store_types import QueryableStoreTypes
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(
        {"group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1, "auto.create.topics.enable": False}
    ) as running:
        yield running


def application(cluster: Cluster, state_dir: Path, dsl_store: str = IN_MEMORY) -> KafkaStreams:
    builder = KStreamBuilder()
    cities: GlobalKTable[str, str] = builder.global_table("cities", "Cities")
    people: KStream[str, str] = builder.stream("people")
    people.left_join(cities, lambda value, city: f"{value}+{city}", key_mapper=lambda _, value: value).to("out")
    configs = {
        "application.id": "global",
        "bootstrap.servers": cluster.bootstrap_servers,
        "state.dir": str(state_dir),
        "key.serde": StringSerde,
        "value.serde": StringSerde,
        "commit.interval.ms": 100,
        "default.dsl.store": dsl_store,
        "internal.leave.group.on.close": True,
    }
    return KafkaStreams(builder, configs)


def values(cluster: Cluster) -> list[bytes | None]:
    return [record.value for record in cluster.records("out")]


def metrics_of_the_global_thread(streams: KafkaStreams) -> list[str]:
    """What they are called. The tag client-id has the name of the thread."""
    return [name.name for name in streams.metrics() if "GlobalStreamThread" in str(name.tags)]


def test_streams_are_joined_with_all_partitions_of_a_table_that_is_read_first(cluster: Cluster, tmp_path: Path) -> None:
    cluster.create_topic("cities", 3)
    cluster.create_topic("people", 1)
    cluster.create_topic("out", 1)
    for number in range(30):
        cluster.produce("cities", f"old {number}", key=str(number), partition=number % 3, timestamp_ms=1000)
    for number in range(30):
        cluster.produce("people", str(number), key="k", timestamp_ms=500)
    expected = [f"{number}+old {number}".encode() for number in range(30)]
    with application(cluster, tmp_path) as streams:
        streams.start()
        assert metrics_of_the_global_thread(streams)
        eventually(lambda: values(cluster) == expected, lambda: values(cluster), timeout_s=120)
        cluster.produce("cities", "new 7", key="7", partition=1, timestamp_ms=2000)

        def sees_the_change() -> bool:
            cluster.produce("people", "7", key="k", timestamp_ms=2000)
            return values(cluster)[-1] == b"7+new 7"

        eventually(sees_the_change, "the table has changed", timeout_s=120)
        assert streams.state is State.RUNNING
    assert streams.state is State.NOT_RUNNING
    assert not metrics_of_the_global_thread(streams), "they end with the thread"
    assert set(cluster.topics) >= {"cities", "people", "out"}
    assert not [topic for topic in cluster.topics if topic.startswith("global-")], "no internal topics"


def test_a_global_table_alone_can_be_queried(cluster: Cluster, tmp_path: Path) -> None:
    cluster.create_topic("cities", 2)
    cluster.produce("cities", "Ghent", key="9000", partition=1)
    builder = KStreamBuilder()
    builder.global_table("cities", "Cities", StringSerde(), StringSerde())
    configs = {"application.id": "alone", "bootstrap.servers": cluster.bootstrap_servers, "state.dir": str(tmp_path)}
    with KafkaStreams(builder, configs) as streams:
        streams.start()
        store = streams.store("Cities", QueryableStoreTypes.key_value_store())
        assert store.get("9000") == "Ghent"
        cluster.produce("cities", "Gent", key="9000", partition=1)
        eventually(lambda: store.get("9000") == "Gent", "the table has changed", timeout_s=60)
        assert streams.state is State.RUNNING


def test_a_table_on_disk_continues_at_its_checkpoint(cluster: Cluster, tmp_path: Path) -> None:
    for topic in ("cities", "people"):
        cluster.create_topic(topic, 1)
    partition, checkpoint = (
        TopicPartition("cities", 0),
        OffsetCheckpoint(tmp_path / "global" / "global" / ".checkpoint"),
    )

    def cities(streams: KafkaStreams) -> dict[str, str]:
        return dict(streams.store("Cities", QueryableStoreTypes.key_value_store()).all())

    cluster.produce("cities", "Berlin", key="b")
    with application(cluster, tmp_path, ROCKS_DB) as streams:
        streams.start()
        assert cities(streams) == {"b": "Berlin"}
        cluster.produce("cities", "Paris", key="p")
        eventually(lambda: checkpoint.read() == {partition: 2}, checkpoint.read, timeout_s=120)
    checkpoint.write({partition: 1})  # as if the last record had never been flushed: only it is read again
    cluster.produce("cities", "Rome", key="r")
    with application(cluster, tmp_path, ROCKS_DB) as streams:
        streams.start()
        assert cities(streams) == {"b": "Berlin", "p": "Paris", "r": "Rome"}
    assert checkpoint.read() == {partition: 3}


def keep_the_last_record_of(cluster: Cluster, topic: str) -> None:
    """As retention does, with all other segments."""
    end = cluster.records(topic)[-1].offset
    host, port = cluster.bootstrap_servers.split(":")
    with closing(BlockingChannel(host, int(port))) as channel:
        channel.connect()
        partition = DeleteRecordsPartition(partition_index=0, offset=end)
        asked = DeleteRecordsTopic(name=topic, partitions=[partition])
        channel.exchange(DeleteRecordsRequest(topics=[asked], timeout_ms=30_000), 1)


def test_a_table_on_disk_forgets_what_retention_removed_while_nobody_ran(cluster: Cluster, tmp_path: Path) -> None:
    for topic in ("cities", "people"):
        cluster.create_topic(topic, 1)
    for name in ("Berlin", "Paris"):
        cluster.produce("cities", name, key=name[0])
    with application(cluster, tmp_path, ROCKS_DB) as streams:
        streams.start()
    cluster.produce("cities", "Prague", key="P")
    cluster.produce("cities", None, key="B")
    cluster.produce("cities", "Rome", key="R")
    keep_the_last_record_of(cluster, "cities")
    with application(cluster, tmp_path, ROCKS_DB) as streams:
        streams.start()
        assert dict(streams.store("Cities", QueryableStoreTypes.key_value_store()).all()) == {"R": "Rome"}


def test_a_store_on_disk_is_rebuilt_from_a_changelog_that_was_created_again(cluster: Cluster, tmp_path: Path) -> None:
    cluster.create_topic("in", 1)
    builder = KStreamBuilder()
    text = StringSerde()
    builder.stream("in", key_serde=text, value_serde=text).group_by_key(text, text).count("Counts")
    configs = {
        "application.id": "counting",
        "bootstrap.servers": cluster.bootstrap_servers,
        "state.dir": str(tmp_path),
        "commit.interval.ms": 100,
        "default.dsl.store": ROCKS_DB,
        "internal.leave.group.on.close": True,
    }

    def run_until(expected: dict[str, int]) -> None:
        def counts() -> dict[str, int]:
            try:
                return dict(streams.store("Counts", QueryableStoreTypes.key_value_store()).all())
            except InvalidStateStoreError as error:
                return {str(error): 0}

        with KafkaStreams(builder, configs) as streams:
            streams.start()
            eventually(lambda: counts() == expected, counts, timeout_s=120)

    for key in ("a", "b"):
        cluster.produce("in", "1", key=key)
    run_until({"a": 1, "b": 1})
    changelog = "counting-Counts-changelog"
    cluster.delete_topic(changelog)
    cluster.create_topic(changelog)
    cluster.produce(changelog, (7).to_bytes(8), key="c")
    run_until({"c": 7})


@pytest.mark.soak
def test_a_missing_global_topic_is_reported_at_the_start(cluster: Cluster, tmp_path: Path) -> None:
    cluster.create_topic("people", 1)
    with application(cluster, tmp_path) as streams:
        with pytest.raises(StreamsError, match="during initialization of GlobalStreamThread") as raised:
            streams.start()
        assert "There are no partitions available for topic cities" in str(raised.value.__cause__)
        assert streams.state is State.ERROR


def test_an_instance_that_never_starts_can_be_closed(cluster: Cluster, tmp_path: Path) -> None:
    streams = application(cluster, tmp_path)
    assert streams.close()
    assert streams.state is State.NOT_RUNNING
