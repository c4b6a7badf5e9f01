"""Kafka's own DumpLogSegments reads our broker's files without errors: records, offset index, time index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_lite.testing.cluster import Cluster
from tests.support.dump_log_segments import TOOLS, dump_log_segments, segment_files
from tests.support.patient_clients import answer, flush

CODECS = ["none", "gzip", "snappy", "lz4"]
MESSAGES = 600


def write_logs(data_dir: Path, message_format: str) -> None:
    """Several segments per codec, whose indexes have entries."""
    overrides = {
        "log.message.format.version": message_format,
        "log.segment.bytes": "20000",
        "log.index.interval.bytes": "500",
        "log.retention.ms": "-1",
    }
    with Cluster(overrides, data_dir) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        for future in admin.create_topics([NewTopic(codec, 1, 1) for codec in CODECS]).values():
            answer(future)
        for codec in CODECS:
            producer = Producer({
                "bootstrap.servers": cluster.bootstrap_servers,
                "compression.type": codec,
                "batch.num.messages": 5,
            })  # fmt: skip
            for i in range(MESSAGES):
                producer.produce(codec, b"%d" % i * 20, key=b"key-%d" % i, timestamp=1_600_000_000_000 + i)
            flush(producer)


@pytest.mark.jvm
def test_kafkas_tool_reads_our_producer_snapshots(tmp_path: Path) -> None:
    with Cluster({"log.segment.bytes": "20000"}, tmp_path) as cluster:
        for _ in range(2):
            config = {"bootstrap.servers": cluster.bootstrap_servers, "enable.idempotence": True}
            producer = Producer(config | {"batch.num.messages": 5})
            for i in range(MESSAGES):
                producer.produce("idempotent", b"%d" % i * 20, partition=0)
            flush(producer)
    files = sorted((tmp_path / "logs/idempotent-0").glob("*.snapshot"))
    assert len(files) > 1
    assert files[-1].name == f"{2 * MESSAGES:020d}.snapshot"
    printed = dump_log_segments(files, "3.0")
    found = re.findall(r"producerId: (\d+) producerEpoch: 0 .*lastSequence: (\d+) lastOffset: (\d+)", printed)
    last = str(MESSAGES - 1)
    first_producer, second_producer = list({found_id: entry for entry in found if (found_id := entry[0])}.values())
    assert int(second_producer[0]) == int(first_producer[0]) + 1
    assert first_producer[1:] == (last, last)
    assert second_producer[1:] == (last, str(2 * MESSAGES - 1))


@pytest.mark.jvm
@pytest.mark.parametrize("message_format", list(TOOLS))
def test_kafkas_tool_reads_our_files(tmp_path: Path, message_format: str) -> None:
    write_logs(tmp_path, message_format)
    for codec in CODECS:
        files = segment_files(tmp_path / "logs" / f"{codec}-0")
        assert len(files) > (3 if codec == "none" else 0)
        printed = dump_log_segments(files, message_format, "--deep-iteration", "--print-data-log")
        assert re.findall(r"key: (key-\d+)", printed) == [f"key-{i}" for i in range(MESSAGES)]
