"""Kafka's own DumpLogSegments reads what our broker wrote: records, offset index, time index, without complaint."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_lite.testing.cluster import Cluster
from tests.support.jvm import classpath, run_java

SLF4J = "org.slf4j:slf4j-nop:1.7.36"
TOOLS = {
    # message format → the Kafka whose tool reads it. 0.10.2 needs a class that Java has no longer.
    "0.10.2": ("org.apache.kafka:kafka_2.11:0.10.2.2", "javax.xml.bind:jaxb-api:2.3.1"),
    "3.0": ("org.apache.kafka:kafka_2.13:3.9.1", SLF4J),
}
COMPLAINT = r"(?i).*(?:mismatch|non-consecutive|corrupt|not found|error|exception|invalid).*"
CODECS = ["none", "gzip", "snappy", "lz4"]
MESSAGES = 600


def write_logs(data_dir: Path, message_format: str) -> None:
    """Several segments per codec, with indexes that have entries."""
    overrides = {
        "log.message.format.version": message_format,
        "log.segment.bytes": "20000",
        "log.index.interval.bytes": "500",
    }
    with Cluster(overrides, data_dir) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        for future in admin.create_topics([NewTopic(codec, 1, 1) for codec in CODECS]).values():
            future.result(10)
        for codec in CODECS:
            producer = Producer({
                "bootstrap.servers": cluster.bootstrap_servers,
                "compression.type": codec,
                "batch.num.messages": 5,
            })  # fmt: skip
            for i in range(MESSAGES):
                producer.produce(codec, b"%d" % i * 20, key=b"key-%d" % i, timestamp=1_600_000_000_000 + i)
            producer.flush(30)


@pytest.mark.jvm
def test_kafkas_tool_reads_our_producer_snapshots(tmp_path: Path) -> None:
    with Cluster({"log.segment.bytes": "20000"}, tmp_path) as cluster:
        for round_ in range(2):
            config = {"bootstrap.servers": cluster.bootstrap_servers, "enable.idempotence": True}
            producer = Producer(config | {"batch.num.messages": 5})
            for i in range(MESSAGES):
                producer.produce("idempotent", b"%d" % i * 20, partition=0)
            assert producer.flush(30) == 0, round_
    files = sorted((tmp_path / "logs/idempotent-0").glob("*.snapshot"))
    assert len(files) > 1
    assert files[-1].name == f"{2 * MESSAGES:020d}.snapshot"
    jars = classpath(*TOOLS["3.0"])
    done = run_java("kafka.tools.DumpLogSegments", "--files", ",".join(map(str, files)), classpath=jars)
    assert re.findall(COMPLAINT, done.stdout + done.stderr) == []
    found = re.findall(r"producerId: (\d+) producerEpoch: 0 .*lastSequence: (\d+) lastOffset: (\d+)", done.stdout)
    last = str(MESSAGES - 1)
    first_producer, second_producer = found[-2:]
    assert int(second_producer[0]) == int(first_producer[0]) + 1
    assert first_producer[1:] == (last, last)
    assert second_producer[1:] == (last, str(2 * MESSAGES - 1))


@pytest.mark.jvm
@pytest.mark.parametrize("message_format", list(TOOLS))
def test_kafkas_tool_reads_our_files(tmp_path: Path, message_format: str) -> None:
    write_logs(tmp_path, message_format)
    jars = classpath(*TOOLS[message_format])
    for codec in CODECS:
        directory = tmp_path / "logs" / f"{codec}-0"
        logs = sorted(directory.glob("*.log"))
        assert len(logs) > (1 if codec == "none" else 0)
        files = [str(file) for log in logs for file in (log, log.with_suffix(".index"), log.with_suffix(".timeindex"))]
        done = run_java(
            "kafka.tools.DumpLogSegments", "--files", ",".join(files), "--deep-iteration", "--print-data-log",
            classpath=jars,
        )  # fmt: skip
        # Kafka's tool of 0.10.2 also says, harmlessly, that log4j is not configured.
        complaints = re.findall(COMPLAINT, done.stdout) + re.findall(COMPLAINT, done.stderr)
        assert complaints == []
        assert re.findall(r"key: (key-\d+)", done.stdout) == [f"key-{i}" for i in range(MESSAGES)]
        assert not re.search(r"is[vV]alid: false", done.stdout)
