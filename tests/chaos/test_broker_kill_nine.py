"""kill -9 of a broker under load, and disks that refuse writes: acknowledged messages survive."""

from __future__ import annotations

import os
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import Record
from kafka_lite.record.records import batches
from tests.support.cluster_process import ClusterProcess, free_port
from tests.support.dump_log_segments import dump_log_segments, segment_files
from tests.support.eventually import eventually
from tests.support.patient_clients import answer
from tests.support.produce_load import Load

KILLS = int(os.environ.get("KAFKA_LITE_KILLS", "6"))
"""How often the broker is killed under each kind of load; CI kills a hundred times in all."""
PARTITIONS = 3
TOPIC = "load"
BROKER = {
    "log.flush.interval.messages": "1",
    "log.segment.bytes": "60000",
    "log.index.interval.bytes": "500",
    "log.index.size.max.bytes": "10000",
    "num.partitions": str(PARTITIONS),
    "zookeeper.session.timeout.ms": "40000",
}


def produce(channel: BlockingChannel, topic: str, size: int) -> int:
    """Produce one message of this size; returns the error code."""
    records = memory_records(2, CompressionType.NONE, [(b"k", bytes(size))], timestamp=1)
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=records)])
    request = ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[data])
    return cast(ProduceResponse, channel.exchange(request, 9)).responses[0].partition_responses[0].error_code


def fetch(channel: BlockingChannel, topic: str, partition: int, offset: int) -> tuple[list[Record], int]:
    """The records of one response, from ``offset`` on, and the high watermark."""
    asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1 << 20)
    request = FetchRequest(min_bytes=0, max_bytes=1 << 20, topics=[FetchTopic(topic=topic, partitions=[asked])])
    data = cast(FetchResponse, channel.exchange(request, 12)).responses[0].partitions[0]
    assert data.error_code == 0, data.error_code
    found = []
    for batch in batches(cast(memoryview, data.records)):
        batch.ensure_valid()
        found += [record for record in batch.records() if record.offset >= offset]
    return found, data.high_watermark


def read_all(channel: BlockingChannel, topic: str, partition: int) -> list[Record]:
    records: list[Record] = []
    while True:
        found, high_watermark = fetch(channel, topic, partition, len(records))
        records += found
        if len(records) >= high_watermark:
            return records


def offset_for_time(channel: BlockingChannel, partition: int, timestamp: int) -> int:
    asked = ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=TOPIC, partitions=[asked])])
    return cast(ListOffsetsResponse, channel.exchange(request, 7)).topics[0].partitions[0].offset


@dataclass(frozen=True)
class Aftermath:
    """The state after many kills under load and a clean shutdown."""

    load: Load
    records: list[list[Record]]
    """Of each partition, all that is to be read."""
    directories: list[Path]
    """Of each partition, where its files lie."""


@pytest.fixture(
    scope="module", params=[pytest.param(False, marks=pytest.mark.soak), True], ids=["at-least-once", "idempotent"]
)
def aftermath(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    directory = tmp_path_factory.mktemp("killed")
    port = free_port()
    overrides = BROKER | {"listeners": f"PLAINTEXT://127.0.0.1:{port}"}
    load = Load(f"127.0.0.1:{port}", TOPIC, PARTITIONS, idempotent=request.param)
    for _ in range(KILLS):
        with ClusterProcess(directory, overrides) as broker:
            load.run(random.uniform(0.3, 1.5))
            assert broker.process.poll() is None, broker.log()
            broker.kill()
    with ClusterProcess(directory, overrides) as broker:
        load.finish()
        with BlockingChannel("127.0.0.1", broker.port) as channel:
            records = [read_all(channel, TOPIC, partition) for partition in range(PARTITIONS)]
            for partition in range(PARTITIONS):
                check_indexes(channel, partition, records[partition])
        assert "ERROR" not in broker.log()
    directories = [directory / "data" / "logs" / f"{TOPIC}-{partition}" for partition in range(PARTITIONS)]
    return Aftermath(load, records, directories)


@pytest.mark.slow
@pytest.mark.timeout(60 + 20 * KILLS)
def test_no_acknowledged_message_is_lost(aftermath: Aftermath) -> None:
    """Every message is at the offset that was acknowledged."""
    assert len(aftermath.load.acknowledged) == aftermath.load.sent
    found = {}
    for partition, records in enumerate(aftermath.records):
        assert [record.offset for record in records] == list(range(len(records)))
        assert len(records) > 20
        found |= {(partition, record.offset): bytes(record.value or b"") for record in records}
    assert aftermath.load.acknowledged.items() <= found.items()


@pytest.mark.slow
def test_idempotent_producers_leave_no_duplicates(aftermath: Aftermath) -> None:
    """A batch that is sent again after a kill is recognised by the producer state, which is rebuilt from the log."""
    if not aftermath.load.idempotent:
        pytest.skip("only an idempotent producer guarantees that")
    for partition, records in enumerate(aftermath.records):
        numbers = [int((record.value or b"")[:8]) for record in records]
        assert numbers == list(range(partition, aftermath.load.sent, PARTITIONS))


@pytest.mark.jvm
@pytest.mark.slow
def test_kafkas_dump_tool_reports_no_errors(aftermath: Aftermath) -> None:
    for directory, records in zip(aftermath.directories, aftermath.records, strict=True):
        files = segment_files(directory)
        assert len(files) >= 3, "at least one segment and its indexes: a slow machine may have written no more"
        printed = dump_log_segments(files, "3.0", "--deep-iteration")
        assert len(re.findall(r"^\| offset: ", printed, re.MULTILINE)) == len(records)


def check_indexes(channel: BlockingChannel, partition: int, records: list[Record]) -> None:
    """Offsets and timestamps are found through the index files everywhere, also in recovered segments."""
    for record in random.sample(records, 20):
        found, _ = fetch(channel, TOPIC, partition, record.offset)
        assert found[0] == record
        first = next(each for each in records if each.timestamp >= record.timestamp)
        assert offset_for_time(channel, partition, record.timestamp) == first.offset


@pytest.mark.slow
def test_a_full_disk_rejects_messages_until_there_is_space(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk: the broker returns KAFKA_STORAGE_ERROR and keeps running."""
    limit = 200_000
    overrides = {"log.segment.bytes": "10000000", "log.index.size.max.bytes": "10000"}
    with ClusterProcess(tmp_path, overrides, file_size_limit_bytes=limit) as broker:
        create(broker, "full", "roomy")
        with BlockingChannel("127.0.0.1", broker.port) as channel:
            codes = [produce(channel, "full", 30_000) for _ in range(10)]
            fitting = codes.count(0)
            assert 0 < fitting < 7
            assert codes == [0] * fitting + [56] * (10 - fitting)
            assert produce(channel, "full", 10) == 0, "a small message fits: the rejected ones left nothing"
            assert produce(channel, "roomy", 30_000) == 0, "other partitions accept messages"
            assert len(read_all(channel, "full", 0)) == fitting + 1
    with ClusterProcess(tmp_path, overrides) as broker, BlockingChannel("127.0.0.1", broker.port) as channel:
        eventually(lambda: produce(channel, "full", 30_000) == 0, "the controller has made it the leader again")
        records = read_all(channel, "full", 0)
        assert [record.offset for record in records] == list(range(fitting + 2))
        assert [len(record.value or b"") for record in records] == [30_000] * fitting + [10, 30_000]


@pytest.mark.slow
def test_an_unusable_directory_does_not_stop_the_others(tmp_path: Path) -> None:
    """One of two directories cannot be used."""
    good, bad = tmp_path / "good", tmp_path / "file"
    bad.write_text("not a directory")
    with ClusterProcess(tmp_path, {"log.dirs": f"{good},{bad}"}) as broker:
        create(broker, "one", "two")
        with BlockingChannel("127.0.0.1", broker.port) as channel:
            assert [produce(channel, name, 10) for name in ("one", "two")] == [0, 0]
        assert f"log directory {bad}" in broker.log()
    assert {path.name for path in good.glob("*-0")} == {"one-0", "two-0"}


@pytest.mark.slow
def test_a_failing_directory_takes_only_its_partitions_offline(tmp_path: Path) -> None:
    """One of two directories disappears under the broker: its partitions return errors, the others keep working."""
    doomed, good = tmp_path / "doomed", tmp_path / "good"
    topics = [f"t{number}" for number in range(4)]
    overrides = {"log.dirs": f"{doomed},{good}", "log.segment.bytes": "1000"}
    with ClusterProcess(tmp_path, overrides) as broker, BlockingChannel("127.0.0.1", broker.port) as channel:
        create(broker, *topics)
        assert [produce(channel, name, 10) for name in topics] == [0] * 4
        lost = {path.name.removesuffix("-0") for path in doomed.glob("t*-0")}
        assert len(lost) == 2
        doomed.rename(tmp_path / "gone")
        doomed.write_text("no directory any more")
        eventually(lambda: all(produce(channel, name, 600) == 56 for name in lost), "no segment can be created")
        for name in topics:
            error, error_of_old = (56, 6) if name in lost else (0, 0)
            assert produce(channel, name, 600) == error
            for version, expected in ((12, error), (5, error_of_old)):
                assert fetch_error(channel, name, version) == expected, (name, version)
        create(broker, "later")
        assert produce(channel, "later", 10) == 0
        assert (good / "later-0").is_dir()
    doomed.unlink()
    (tmp_path / "gone").rename(doomed)
    with ClusterProcess(tmp_path, overrides) as broker, BlockingChannel("127.0.0.1", broker.port) as channel:
        eventually(lambda: not any(produce(channel, name, 10) for name in topics), "the controller has elected")
        assert [produce(channel, name, 10) for name in topics] == [0] * 4
        assert all(len(read_all(channel, name, 0)) >= 2 for name in topics)


def fetch_error(channel: BlockingChannel, topic: str, version: int) -> int:
    asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(min_bytes=0, max_bytes=1 << 20, topics=[FetchTopic(topic=topic, partitions=[asked])])
    return cast(FetchResponse, channel.exchange(request, version)).responses[0].partitions[0].error_code


def create(broker: ClusterProcess, *topics: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for future in admin.create_topics([NewTopic(name, 1, 1) for name in topics]).values():
        answer(future)
