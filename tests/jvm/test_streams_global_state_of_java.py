"""A global table on disk: ours goes on with the store and the checkpoint that Java's Streams 0.10.2.2 has left."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.serdes import StringSerde
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.admin.delete_records import delete_records
from tests.support.eventually import eventually
from tests.support.jvm import classpath, compile_java, java_command, run_java
from tests.support.streams_topologies import global_table

pytestmark = [pytest.mark.jvm, pytest.mark.soak]

APPLICATION = "global"
TABLE, EVENTS, OUTPUT = TopicPartition("more", 0), "events", "global-out"
STREAMS = ["org.apache.kafka:kafka-streams:0.10.2.2", "org.slf4j:slf4j-nop:1.7.36"]
CHECKPOINTS = """
import java.io.File;
import java.util.TreeMap;
import org.apache.kafka.streams.state.internals.OffsetCheckpoint;

/** Reads a checkpoint, prints it, and writes it to a second file. */
public class Checkpoints {
    public static void main(String[] args) throws Exception {
        var offsets = new OffsetCheckpoint(new File(args[0])).read();
        var sorted = new TreeMap<String, Long>();
        offsets.forEach((partition, offset) -> sorted.put(partition.toString(), offset));
        System.out.print(sorted);
        new OffsetCheckpoint(new File(args[1])).write(offsets);
    }
}
"""


@pytest.fixture
def cluster(jvm: None) -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}) as running:
        for topic in (TABLE.topic, EVENTS, OUTPUT, f"{OUTPUT}-left", f"{OUTPUT}-stream"):
            running.create_topic(topic)
        yield running


def run_by_java(cluster: Cluster, state_dir: Path, values: list[bytes]) -> None:
    """An instance of Java's, until it has joined these values; then it is closed."""
    jars = classpath(*STREAMS)
    classes = compile_java(Path(__file__).parent / "StreamsTopologies.java", jars)
    arguments = [cluster.bootstrap_servers, APPLICATION, str(state_dir), "global-table"]
    command = java_command("StreamsTopologies", *arguments, classpath=[classes, *jars])
    with subprocess.Popen(command, stdin=subprocess.PIPE):
        await_values(cluster, values)


def run_by_ours(cluster: Cluster, state_dir: Path, values: list[bytes]) -> None:
    """The same, with an instance of ours."""
    configs = {
        "application.id": APPLICATION,
        "bootstrap.servers": cluster.bootstrap_servers,
        "state.dir": str(state_dir),
        "key.serde": StringSerde,
        "value.serde": StringSerde,
        "default.dsl.store": "rocksDB",
    }
    with KafkaStreams(global_table(OUTPUT), configs) as streams:
        streams.start()
        await_values(cluster, values)


def await_values(cluster: Cluster, values: list[bytes]) -> None:
    eventually(lambda: cluster.values(OUTPUT) == values, lambda: cluster.values(OUTPUT), timeout_s=120)


def test_ours_goes_on_with_a_global_store_that_java_has_left(cluster: Cluster, tmp_path: Path) -> None:
    """The first record of the table is only in Java's RocksDB: in the topic it has been deleted."""
    checkpoint = OffsetCheckpoint(tmp_path / APPLICATION / "global" / ".checkpoint")
    cluster.produce(TABLE.topic, "Berlin", key="b")
    cluster.produce(EVENTS, "b", key="by Java")
    run_by_java(cluster, tmp_path, [b"b+Berlin"])
    assert checkpoint.read() == {TABLE: 1}
    cluster.produce(TABLE.topic, "Paris", key="p")
    with AdminChannel(cluster.bootstrap_servers) as channel:
        assert [deletion.low_watermark for deletion in delete_records(channel, {TABLE: 1})] == [1]
    cluster.produce(EVENTS, "b", key="by ours")
    cluster.produce(EVENTS, "p", key="by ours")
    run_by_ours(cluster, tmp_path, [b"b+Berlin", b"b+Berlin", b"p+Paris"])
    assert checkpoint.read() == {TABLE: 2}


def test_java_reads_and_writes_our_checkpoints(jvm: None, tmp_path: Path) -> None:
    jars = classpath(*STREAMS)
    offsets = {TopicPartition("cities", 0): 3, TopicPartition("cities", 11): 1 << 40, TopicPartition("a.b_c-d", 2): 0}
    ours, javas = tmp_path / ".checkpoint", tmp_path / "java"
    OffsetCheckpoint(ours).write(offsets)
    done = run_java("Checkpoints", str(ours), str(javas), classpath=[compile_java(CHECKPOINTS, jars), *jars])
    assert done.stdout == f"{{a.b_c-d-2=0, cities-0=3, cities-11={1 << 40}}}"
    assert OffsetCheckpoint(javas).read() == offsets
