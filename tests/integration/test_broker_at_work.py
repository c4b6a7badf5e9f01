"""A broker over time: concurrent clients, configuration changes, retention, deletion, restarts."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.protocol.messages.api_01_fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from kafka_lite.protocol.messages.api_02_list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka_lite.protocol.messages.api_20_delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from kafka_lite.protocol.messages.api_21_delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import Record
from kafka_lite.record.records import batches
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.patience import patient_s

TOPIC_RESOURCE = 2
SET, DELETE = 0, 1


class Client:
    """One connection, and the requests that these tests need."""

    def __init__(self, cluster: Cluster) -> None:
        self.channel = BlockingChannel("127.0.0.1", cluster.server.bound_port())
        self.channel.connect()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.channel.close()

    def create(self, *names: str, partitions: int = 1, **config: str) -> None:
        configs = [CreatableTopicConfig(name=key, value=value) for key, value in config.items()]
        topics = [
            CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, configs=configs)
            for name in names
        ]  # fmt: skip
        answer = self.channel.exchange(CreateTopicsRequest(topics=topics, timeout_ms=30_000), 4)
        assert {topic.error_code for topic in cast(CreateTopicsResponse, answer).topics} == {0}

    def delete(self, *names: str) -> None:
        answer = self.channel.exchange(DeleteTopicsRequest(topic_names=list(names), timeout_ms=30_000), 3)
        assert {topic.error_code for topic in cast(DeleteTopicsResponse, answer).responses} == {0}

    def alter(self, name: str, key: str, value: str | None) -> None:
        config = AlterableConfig(name=key, value=value, config_operation=DELETE if value is None else SET)
        resource = AlterConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=name, configs=[config])
        answer = self.channel.exchange(IncrementalAlterConfigsRequest(resources=[resource]), 0)
        assert cast(IncrementalAlterConfigsResponse, answer).responses[0].error_code == 0

    def produce_request(self, name: str, *values: bytes, timestamp: int = -1) -> ProduceRequest:
        now = round(time.time() * 1000) if timestamp == -1 else timestamp
        records = memory_records(2, CompressionType.NONE, [(b"k", value) for value in values], timestamp=now)
        data = TopicProduceData(name=name, partition_data=[PartitionProduceData(index=0, records=records)])
        return ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[data])

    def produce(self, name: str, *values: bytes, timestamp: int = -1) -> PartitionProduceResponse:
        answer = self.channel.exchange(self.produce_request(name, *values, timestamp=timestamp), 8)
        return cast(ProduceResponse, answer).responses[0].partition_responses[0]

    def fetch_request(self, name: str, offset: int, max_wait_ms: int = 0) -> FetchRequest:
        asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
        return FetchRequest(
            max_wait_ms=max_wait_ms, min_bytes=1, topics=[FetchTopic(topic=name, partitions=[asked])]
        )  # fmt: skip

    def fetch(self, name: str, offset: int, max_wait_ms: int = 0) -> PartitionData:
        answer = self.channel.exchange(self.fetch_request(name, offset, max_wait_ms), 11)
        return cast(FetchResponse, answer).responses[0].partitions[0]

    def read(self, name: str, offset: int) -> list[Record]:
        """Everything from ``offset`` on; each response ends at the end of a segment."""
        found: list[Record] = []
        while True:
            data = self.fetch(name, offset)
            assert data.error_code == 0
            if offset == data.high_watermark:
                return found
            for batch in batches(cast(memoryview, data.records)):
                found += [record for record in batch.records() if record.offset >= offset]
            assert found[-1].offset >= offset
            offset = found[-1].offset + 1

    def offset(self, name: str, timestamp: int) -> int:
        asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=[asked])])
        return cast(ListOffsetsResponse, self.channel.exchange(request, 5)).topics[0].partitions[0].offset

    def topics(self) -> set[str]:
        answer = cast(MetadataResponse, self.channel.exchange(MetadataRequest(topics=None), 8))
        return {topic.name or "" for topic in answer.topics}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster({"log.segment.delete.delay.ms": "100"}) as running:
        yield running


@pytest.fixture
def client(cluster: Cluster) -> Iterator[Client]:
    with Client(cluster) as found:
        yield found


def files_of(cluster: Cluster, directory: str, pattern: str = "*.log") -> list[Path]:
    return sorted((cluster.data_dir / "logs" / directory).glob(pattern))


# ── many at once ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_concurrent_writers_and_readers(cluster: Cluster, client: Client) -> None:
    """Eight writers into one partition and two readers: every record gets its own offset, and readers see no gap."""
    writers, each = 8, 60
    client.create("crowd", **{"segment.bytes": "20000"})
    done = threading.Event()

    def write(number: int) -> list[int]:
        with Client(cluster) as mine:
            return [mine.produce("crowd", b"%d-%d" % (number, i)).base_offset for i in range(each)]

    def read() -> list[bytes]:
        values: list[bytes] = []
        with Client(cluster) as mine:
            while len(values) < writers * each and not done.wait(0):
                data = mine.fetch("crowd", len(values), max_wait_ms=500)
                for batch in batches(cast(memoryview, data.records)):
                    for record in batch.records():
                        assert record.offset == len(values)
                        values.append(bytes(record.value or b""))
        return values

    with ThreadPoolExecutor(writers + 2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        offsets = list(pool.map(write, range(writers)))
        try:
            seen = [reader.result(patient_s(30)) for reader in readers]
        finally:
            done.set()
    assert sorted(offset for mine in offsets for offset in mine) == list(range(writers * each))
    for number, mine in enumerate(offsets):
        assert mine == sorted(mine)
        assert [seen[0][offset] for offset in mine] == [b"%d-%d" % (number, i) for i in range(each)]
    assert seen[0] == seen[1]


def test_responses_come_in_the_order_of_the_requests(client: Client) -> None:
    """Even if the first one must wait: clients rely on it, and Kafka reads no further before it has responded."""
    client.create("orderly")
    began = time.monotonic()
    client.channel.send(client.fetch_request("orderly", 0, max_wait_ms=400), 11)
    for _ in range(3):
        client.channel.send(client.produce_request("orderly", b"v"), 8)
    fetched = cast(FetchResponse, client.channel.receive())
    assert time.monotonic() - began > 0.39
    assert fetched.responses[0].partitions[0].high_watermark == 0
    offsets = [
        cast(ProduceResponse, client.channel.receive()).responses[0].partition_responses[0].base_offset
        for _ in range(3)
    ]
    assert offsets == [0, 1, 2]


def test_many_topics_are_created_and_deleted(client: Client) -> None:
    names = [f"swarm-{number}" for number in range(60)]
    for _ in range(2):
        client.create(*names, partitions=2)
        assert set(names) <= client.topics()
        assert client.produce(names[0], b"v").base_offset == 0
        client.delete(*names)
        assert not set(names) & client.topics()


def test_a_waiting_fetch_completes_when_its_topic_is_deleted(cluster: Cluster, client: Client) -> None:
    client.create("doomed")
    with Client(cluster) as reader:
        # max_wait_ms is longer than the client's timeout: only the deletion can complete the fetch in time.
        reader.channel.send(reader.fetch_request("doomed", 0, max_wait_ms=2**31 - 1), 11)
        client.delete("doomed")
        answer = cast(FetchResponse, reader.channel.receive())
        assert answer.responses[0].partitions[0].error_code in (3, 6)


# ── configuration ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_topic_config_changes_take_effect_at_once(client: Client) -> None:
    client.create("changing")
    client.alter("changing", "max.message.bytes", "500")
    eventually(lambda: client.produce("changing", bytes(600)).error_code == 10, "max.message.bytes=500 has no effect")
    client.alter("changing", "max.message.bytes", None)
    eventually(lambda: client.produce("changing", bytes(600)).error_code == 0, "the default is not back")
    client.alter("changing", "message.timestamp.type", "LogAppendTime")
    eventually(lambda: client.produce("changing", b"v").log_append_time_ms > 0, "LogAppendTime has no effect")


def clean_up(cluster: Cluster) -> bool:
    """Run retention now; the broker's first run is 30 s after its start."""
    cluster.server.log_manager.maintenance.cleanup_logs()
    return False


def test_retention_by_time_deletes_old_segments(cluster: Cluster, client: Client) -> None:
    """As in Kafka, readers of deleted segments get OFFSET_OUT_OF_RANGE, and look up where the log begins."""
    client.create("ageing", **{"segment.bytes": "1000", "retention.ms": "-1"})
    hour_ago = round(time.time() * 1000) - 3_600_000
    for _ in range(10):
        assert client.produce("ageing", bytes(300), timestamp=hour_ago).error_code == 0
    assert client.produce("ageing", b"young").base_offset == 10
    assert client.offset("ageing", -2) == 0
    client.alter("ageing", "retention.ms", "60000")
    eventually(lambda: clean_up(cluster) or client.offset("ageing", -2) > 0, "nothing was deleted")
    start = client.offset("ageing", -2)
    refused = client.fetch("ageing", start - 1)
    assert (refused.error_code, refused.high_watermark, refused.log_start_offset) == (1, -1, -1)
    assert client.read("ageing", start)[-1].value == b"young"
    eventually(lambda: files_of(cluster, "ageing-0")[0].name == f"{start:020}.log", "the files have not been deleted")


def test_retention_by_size_deletes_old_segments(cluster: Cluster, client: Client) -> None:
    client.create("bounded", **{"segment.bytes": "1000", "retention.bytes": "3000"})
    for _ in range(20):
        assert client.produce("bounded", bytes(300)).error_code == 0
    clean_up(cluster)
    assert 5 < client.offset("bounded", -2) < 15
    assert client.offset("bounded", -1) == 20


# ── restarts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def delete_records(client: Client, name: str, offset: int) -> int:
    asked = DeleteRecordsPartition(partition_index=0, offset=offset)
    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=name, partitions=[asked])], timeout_ms=5000)
    answer = cast(DeleteRecordsResponse, client.channel.exchange(request, 1)).topics[0].partitions[0]
    assert answer.error_code == 0
    return answer.low_watermark


def test_state_that_survives_a_restart(tmp_path: Path) -> None:
    """Records, the log start offset, configurations, deletions; and a rolled log is not recovered again."""
    with Cluster({}, tmp_path) as cluster:
        with Client(cluster) as client:
            client.create("kept", **{"segment.bytes": "2000", "max.message.bytes": "700"})
            client.create("gone")
            client.produce("gone", b"v")
            values = [b"%d" % number * 50 for number in range(30)]
            for value in values:
                assert client.produce("kept", value).error_code == 0
            assert delete_records(client, "kept", 7) == 7
            client.delete("gone")
        cluster.restart()
        with Client(cluster) as client:
            eventually(lambda: client.offset("kept", -1) == 30, "the controller has not made the broker leader again")
            assert client.topics() == {"kept"}
            assert (client.offset("kept", -2), client.offset("kept", -1)) == (7, 30)
            assert [record.value for record in client.read("kept", 7)] == values[7:]
            assert client.produce("kept", bytes(800)).error_code == 10
            assert client.produce("kept", b"more").base_offset == 30
            client.create("gone")
            assert client.offset("gone", -1) == 0, "a recreated topic starts empty"


def test_shutdown_does_not_wait_for_waiting_fetches(tmp_path: Path) -> None:
    """If it did, the test's own limit would end it: the fetch waits for days."""
    with Cluster({}, tmp_path) as cluster, Client(cluster) as client:
        client.create("quiet")
        client.channel.send(client.fetch_request("quiet", 0, max_wait_ms=2**31 - 1), 11)
        eventually(lambda: cluster.server.replica_manager.delayed_fetch_purgatory.delayed)
        cluster.stop()
