"""A global table on disk: one goes on with the store and the checkpoint that the other has left.

Ours after Java's Streams 0.10.2.2, and Java's Streams 3.9.1 after ours. (The RocksDB of 0.10.2.2, 5.0.1, does not know
the identity that newer ones write into the manifest, so it cannot open a store of ours.)
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
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
SLF4J = "org.slf4j:slf4j-nop:1.7.36"
STREAMS = ["org.apache.kafka:kafka-streams:0.10.2.2", SLF4J]
STREAMS_3_9 = ["org.apache.kafka:kafka-streams:3.9.1", SLF4J]
GLOBAL_TABLE = """
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.state.KeyValueStore;

/** Joins with a global table until standard input ends: BOOTSTRAP APPLICATION STATE-DIR. */
public class GlobalTable {
    public static void main(String[] args) throws Exception {
        Properties configs = new Properties();
        configs.put("bootstrap.servers", args[0]);
        configs.put("application.id", args[1]);
        configs.put("state.dir", args[2]);
        configs.put("commit.interval.ms", "100");
        configs.put("session.timeout.ms", "45000");
        configs.put("internal.leave.group.on.close", true);
        configs.put("default.key.serde", Serdes.StringSerde.class);
        configs.put("default.value.serde", Serdes.StringSerde.class);
        StreamsBuilder builder = new StreamsBuilder();
        GlobalKTable<String, String> words = builder.globalTable(
            "more", Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("Words"));
        KStream<String, String> events = builder.stream("events");
        events.join(words, (key, value) -> value, (a, b) -> a + "+" + b).to("global-out");
        try (KafkaStreams streams = new KafkaStreams(builder.build(), configs)) {
            streams.start();
            while (System.in.read() >= 0) { }
        }
    }
}
"""
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
    """An instance of Java's 0.10.2.2, until it has joined these values; then it is closed."""
    jars = classpath(*STREAMS)
    classes = compile_java(Path(__file__).parent / "StreamsTopologies.java", jars)
    arguments = [cluster.bootstrap_servers, APPLICATION, str(state_dir), "global-table"]
    command = java_command("StreamsTopologies", *arguments, classpath=[classes, *jars])
    with subprocess.Popen(command, stdin=subprocess.PIPE):
        await_values(cluster, values)


def run_by_java_3_9(cluster: Cluster, state_dir: Path, values: list[bytes]) -> None:
    """The same, with an instance of Java's 3.9.1."""
    jars = classpath(*STREAMS_3_9)
    arguments = [cluster.bootstrap_servers, APPLICATION, str(state_dir)]
    command = java_command("GlobalTable", *arguments, classpath=[compile_java(GLOBAL_TABLE, jars), *jars])
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
        "internal.leave.group.on.close": True,  # so that the next instance need not wait for the session of this one
    }
    with KafkaStreams(global_table(OUTPUT), configs) as streams:
        streams.start()
        await_values(cluster, values)


def await_values(cluster: Cluster, values: list[bytes]) -> None:
    eventually(lambda: cluster.values(OUTPUT) == values, lambda: cluster.values(OUTPUT), timeout_s=120)


Run = Callable[[Cluster, Path, list[bytes]], None]


@pytest.mark.parametrize(
    ("run_first", "run_then"),
    [(run_by_java, run_by_ours), (run_by_ours, run_by_java_3_9)],
    ids=["from 0.10.2.2 to ours", "from ours to 3.9.1"],
)
def test_one_goes_on_with_the_global_store_that_the_other_has_left(
    cluster: Cluster, tmp_path: Path, run_first: Run, run_then: Run
) -> None:
    """The first record of the table is only in the first one's RocksDB: in the topic it has been deleted."""
    checkpoint = OffsetCheckpoint(tmp_path / APPLICATION / "global" / ".checkpoint")
    cluster.produce(TABLE.topic, "Berlin", key="b")
    cluster.produce(EVENTS, "b", key="by the first")
    run_first(cluster, tmp_path, [b"b+Berlin"])
    assert checkpoint.read() == {TABLE: 1}
    cluster.produce(TABLE.topic, "Paris", key="p")
    with AdminChannel(cluster.bootstrap_servers) as channel:
        assert [deletion.low_watermark for deletion in delete_records(channel, {TABLE: 1})] == [1]
    cluster.produce(EVENTS, "b", key="by the second")
    cluster.produce(EVENTS, "p", key="by the second")
    run_then(cluster, tmp_path, [b"b+Berlin", b"b+Berlin", b"p+Paris"])
    if run_then is run_by_ours:  # 3.9.1 writes one less often, and not at the end
        assert checkpoint.read() == {TABLE: 2}


def test_java_reads_and_writes_our_checkpoints(jvm: None, tmp_path: Path) -> None:
    jars = classpath(*STREAMS)
    offsets = {TopicPartition("cities", 0): 3, TopicPartition("cities", 11): 1 << 40, TopicPartition("a.b_c-d", 2): 0}
    ours, javas = tmp_path / ".checkpoint", tmp_path / "java"
    OffsetCheckpoint(ours).write(offsets)
    done = run_java("Checkpoints", str(ours), str(javas), classpath=[compile_java(CHECKPOINTS, jars), *jars])
    assert done.stdout == f"{{a.b_c-d-2=0, cities-0=3, cities-11={1 << 40}}}"
    assert OffsetCheckpoint(javas).read() == offsets
