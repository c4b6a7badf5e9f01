"""Malformed frames, 100,000 of them every night, and a broker that keeps working."""

from __future__ import annotations

import itertools
import re
import socket
import struct
import uuid
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka
import psutil
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kafka_lite.common.errors import MAX_MESSAGE_CHARS, Errors
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.framing import encode_request
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
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from kafka_lite.protocol.messages.api_20_delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from kafka_lite.protocol.messages.api_32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from kafka_lite.protocol.messages.api_37_create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka_lite.server.admin.config_admin_manager import BROKER_RESOURCE
from kafka_lite.server.admin.runtime_logger_manager import BROKER_LOGGER_RESOURCE
from tests.support.cluster_process import ClusterProcess
from tests.support.fuzz import FUZZ_TOPIC, Flood, FrameMaker, captured_requests, framed, is_order, known_api_keys
from tests.support.patience import patient_s
from tests.support.patient_clients import answer, consumed, flush

CONNECTIONS = 16
MAX_GROWTH_BYTES = 100 * 1024 * 1024
"""How much more memory the broker may use at its worst than after some good and bad requests."""

OVERRIDES = {
    # Topic names are mutated, too; thousands of new topics would be a correct reaction, but are not what is tested.
    "auto.create.topics.enable": "false",
    "num.network.threads": "2",
}

EVERY_UNSERVED_REQUEST_LOGGED = IncrementalAlterConfigsRequest(
    resources=[
        AlterConfigsResource(
            resource_type=BROKER_LOGGER_RESOURCE,
            resource_name="0",
            configs=[AlterableConfig(name="kafka_lite.network.unserved_requests", config_operation=0, value="DEBUG")],
        )
    ]
)
"""Otherwise only the first request of a client for such an API has its line."""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterProcess]:
    with ClusterProcess(tmp_path_factory.mktemp("fuzzed"), OVERRIDES) as broker:
        topics = [CreatableTopic(name=name, num_partitions=2, replication_factor=1) for name in (FUZZ_TOPIC, "golden")]
        with BlockingChannel("127.0.0.1", broker.port) as channel:
            channel.exchange(CreateTopicsRequest(topics=topics, timeout_ms=30_000), 0)
            channel.exchange(EVERY_UNSERVED_REQUEST_LOGGED, 0)
        yield broker


def check_a_normal_client(bootstrap_servers: str) -> None:
    """Create a topic, write to it, read it back: with librdkafka, which shares no code with this project."""
    topic = f"after-{uuid.uuid4()}"
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    answer(admin.create_topics([NewTopic(topic, 1, 1)])[topic])
    producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap_servers, "compression.type": "lz4"})
    for number in range(1_000):
        producer.produce(topic, b"value %d" % number)
    flush(producer)
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": bootstrap_servers, "group.id": "unused", "enable.auto.commit": False}
    )
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    values = [message.value() for message in consumed(consumer, 1_000)]
    consumer.close()
    assert values == [b"value %d" % number for number in range(1_000)]


def closed_connections(log: str) -> list[str]:
    """The ids of the connections whose closing the broker has logged, once for each line."""
    return re.findall(r"[Cc]losing (?:connection )?([\d.:]+-[\d.:]+-\d+)", log)


def number_of(connection_id: str) -> int:
    """The number that the broker gave to the connection."""
    return int(connection_id.rpartition("-")[2])


def newest_connection(broker: ClusterProcess) -> int:
    """The number of a connection made just now, which the broker logs because its first frame is malformed."""
    with socket.create_connection(("127.0.0.1", broker.port), timeout=patient_s(30)) as client:
        client.sendall(struct.pack(">i", -1))
        assert client.recv(1) == b""
        mine = f"127.0.0.1:{client.getsockname()[1]}-"
    return max(number_of(each) for each in closed_connections(broker.log()) if mine in each)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("bad_frames", [25_000, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_the_broker_survives_malformed_frames(broker: ClusterProcess, bad_frames: int) -> None:
    check_a_normal_client(broker.bootstrap_servers)
    logged_before = len(broker.log())
    process = psutil.Process(broker.process.pid)
    flood = Flood(broker.port, iter(FrameMaker(seed=20_17)))
    flood.run(2_000, CONNECTIONS)
    usual_bytes = process.memory_info().rss
    highest_bytes = 0

    def watch() -> None:
        nonlocal highest_bytes
        highest_bytes = max(highest_bytes, process.memory_info().rss)

    flood.run(bad_frames, CONNECTIONS, on_progress=watch)
    print(
        f"{flood.judged} frames: {flood.answered} answered, {flood.closed} cost their connection, {flood.held} held; "
        f"{usual_bytes >> 20} MiB, at most {highest_bytes >> 20} MiB"
    )
    assert flood.judged >= bad_frames
    assert flood.closed > bad_frames / 10
    assert flood.answered > bad_frames / 10
    assert highest_bytes < usual_bytes + MAX_GROWTH_BYTES
    check_a_normal_client(broker.bootstrap_servers)
    log = broker.log()[logged_before:]
    assert "Traceback" not in log, log[max(log.index("Traceback") - 500, 0) :][:3_000]
    closed = closed_connections(log)
    assert len(closed) == len(set(closed)), "more than one line per connection"
    # Each has its line; so may the connections that this test closed, at the end of a run or because they were held.
    assert flood.closed <= len(closed) <= flood.closed + flood.held + 2 * CONNECTIONS
    assert len(log.splitlines()) < flood.closed + bad_frames / 20


# ── Frames generated by hypothesis: valid headers, nearly valid bodies ───────────────────────────────────────────────

_INTS = st.one_of(
    st.integers(-2, 300),
    st.sampled_from([2**31 - 1, -(2**31), 100_000_000, 2**24]),
)
_PIECES = st.one_of(
    st.binary(max_size=12),
    _INTS.map(lambda value: struct.pack(">i", value)),
    st.integers(-2, 40).map(lambda value: struct.pack(">h", value)),
    st.integers(-(2**63), 2**63 - 1).map(lambda value: struct.pack(">q", value)),
    st.text(max_size=8).map(lambda text: struct.pack(">h", len(text.encode())) + text.encode()),
    st.sampled_from([b"\x00\x04fuzz", b"\x05fuzz", b"\x00\x06golden", b"\xff\xff\xff\xff\x0f", b"\x80" * 11, b"\x00"]),
)
_HEADERS = st.builds(
    lambda key, version, client: struct.pack(">hhi", key, version, 7) + client,
    st.sampled_from(known_api_keys()),
    st.integers(0, 12),
    st.sampled_from([b"\xff\xff", b"\x00\x01c", b"\xff\xff\x00", b"\x00\x01c\x00", b"\x00\x01c\x01\x00\x00"]),
)
_FRAMES = st.one_of(
    st.builds(lambda header, pieces: framed(header + b"".join(pieces)), _HEADERS, st.lists(_PIECES, max_size=12)),
    st.builds(
        lambda capture, position, piece: framed(capture[: position % len(capture)] + piece + capture[position + 4 :]),
        st.sampled_from(captured_requests()),
        st.integers(8, 400),
        _PIECES,
    ),
    st.binary(max_size=30),
).filter(lambda frame: not is_order(frame))


@settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # the broker's behaviour is not repeatable byte by byte: no shrinking over the network
    suppress_health_check=list(HealthCheck),
)
@given(st.lists(_FRAMES, min_size=1, max_size=10))
def test_frames_generated_by_hypothesis(broker: ClusterProcess, frames: list[bytes]) -> None:
    flood = Flood(broker.port, itertools.cycle(frames), pipeline=len(frames), patience_s=0.05)
    flood.run(len(frames), connections=1)
    assert broker.process.poll() is None
    assert "Traceback" not in broker.log()


def test_a_stream_that_ends_anywhere_is_not_logged(broker: ClusterProcess) -> None:
    """A client that dies in the middle of a request causes no log line.

    (Older connections may still cause one: malformed frames of other tests wait behind requests that wait for minutes.)
    """
    before = newest_connection(broker)
    for capture in captured_requests()[:20]:
        frame = framed(capture)
        for end in range(0, len(frame), 7):
            with socket.create_connection(("127.0.0.1", broker.port), timeout=patient_s(30)) as client:
                client.sendall(frame[:end])
    check_a_normal_client(broker.bootstrap_servers)
    assert [each for each in closed_connections(broker.log()) if number_of(each) > before] == []


def test_large_announced_sizes_allocate_nothing(broker: ClusterProcess, tmp_path: Path) -> None:
    """50 connections announce 100 MB each, within the limit of a request, and send a few bytes."""
    process = psutil.Process(broker.process.pid)
    before = process.memory_info().rss
    clients = [socket.create_connection(("127.0.0.1", broker.port), timeout=patient_s(30)) for _ in range(50)]
    for client in clients:
        client.sendall(struct.pack(">i", 100_000_000) + bytes(1_000))
    check_a_normal_client(broker.bootstrap_servers)
    assert process.memory_info().rss < before + MAX_GROWTH_BYTES
    for client in clients:
        client.close()


# ── Findings of the fuzzer, one by one ───────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def channel(broker: ClusterProcess) -> Iterator[BlockingChannel]:
    with BlockingChannel("127.0.0.1", broker.port) as channel:
        yield channel


def test_one_small_request_cannot_create_two_billion_partitions(channel: BlockingChannel) -> None:
    topic = CreatableTopic(name="huge", num_partitions=2**31 - 1, replication_factor=1)
    created = channel.exchange(CreateTopicsRequest(topics=[topic], timeout_ms=1_000), 1)
    assert isinstance(created, CreateTopicsResponse)
    assert created.topics[0].error_code == Errors.POLICY_VIOLATION.code
    more = CreatePartitionsTopic(name=FUZZ_TOPIC, count=2**31 - 1, assignments=None)
    enlarged = channel.exchange(CreatePartitionsRequest(topics=[more], timeout_ms=1_000), 0)
    assert isinstance(enlarged, CreatePartitionsResponse)
    assert enlarged.results[0].error_code == Errors.POLICY_VIOLATION.code


@pytest.mark.parametrize("version", range(8))
def test_list_offsets_in_every_version(channel: BlockingChannel, version: int) -> None:
    """The leader epoch is in the response only since version 4."""
    asked = ListOffsetsPartition(partition_index=1, timestamp=-1, max_num_offsets=1)
    topic = ListOffsetsTopic(name=FUZZ_TOPIC, partitions=[asked])
    answer = channel.exchange(ListOffsetsRequest(replica_id=-1, topics=[topic]), version)
    assert isinstance(answer, ListOffsetsResponse)
    assert answer.topics[0].partitions[0].error_code == Errors.NONE.code


@pytest.mark.parametrize("records", [bytes(61), b"\xff" * 61, bytes(8) + b"\x00\x00\x00\x05" + bytes(49)])
def test_malformed_records_are_corrupt(channel: BlockingChannel, records: bytes) -> None:
    data = PartitionProduceData(index=0, records=records)
    topic = TopicProduceData(name=FUZZ_TOPIC, partition_data=[data])
    answer = channel.exchange(ProduceRequest(acks=1, timeout_ms=1_000, topic_data=[topic]), 7)
    assert isinstance(answer, ProduceResponse)
    assert answer.responses[0].partition_responses[0].error_code == Errors.CORRUPT_MESSAGE.code


@pytest.mark.parametrize("name", ["", ".", "a b", "zero\0", "fuzz/partitions", "fuzz/partitions/0/state"])
def test_an_illegal_topic_name_is_an_unknown_topic(channel: BlockingChannel, name: str) -> None:
    """Nor is it used for the path of a znode."""
    deleted = channel.exchange(DeleteTopicsRequest(topic_names=[name], timeout_ms=1_000), 1)
    assert isinstance(deleted, DeleteTopicsResponse)
    assert deleted.responses[0].error_code == Errors.UNKNOWN_TOPIC_OR_PARTITION.code


@pytest.mark.parametrize("version", [1, 5])
def test_an_error_message_that_quotes_a_long_name_fits_into_the_response(
    channel: BlockingChannel, version: int
) -> None:
    topic = CreatableTopic(name="x" * 32_767, num_partitions=1, replication_factor=1)
    created = channel.exchange(CreateTopicsRequest(topics=[topic], timeout_ms=1_000), version)
    assert isinstance(created, CreateTopicsResponse)
    assert created.topics[0].error_code == Errors.INVALID_TOPIC_EXCEPTION.code
    message = created.topics[0].error_message or ""
    assert message.startswith("Topic name is invalid: the length of 'xxx")
    assert len(message) <= MAX_MESSAGE_CHARS
    data = PartitionProduceData(index=0, records=b"no batch")
    request = ProduceRequest(
        acks=1, timeout_ms=1_000, topic_data=[TopicProduceData(name="x" * 32_767, partition_data=[data])]
    )
    produced = channel.exchange(request, 8)
    assert isinstance(produced, ProduceResponse)
    assert produced.responses[0].partition_responses[0].error_code == Errors.UNKNOWN_TOPIC_OR_PARTITION.code


def test_an_undecodable_name_that_cannot_be_returned_closes_the_connection_with_one_line(
    broker: ClusterProcess,
) -> None:
    before = len(broker.log())
    frame = encode_request(MetadataRequest(topics=[MetadataRequestTopic(name="x" * 32_767)]), 0, 7, None)
    with socket.create_connection(("127.0.0.1", broker.port), timeout=patient_s(30)) as client:
        client.sendall(framed(frame.replace(b"x", b"\xff")))
        assert client.recv(1) == b""
        mine = f"127.0.0.1:{client.getsockname()[1]}-"
    [line] = [line for line in broker.log()[before:].splitlines() if mine in line]
    assert "a string of 32767 bytes is not valid UTF-8, and has 98301 bytes once replaced" in line


def test_a_broker_id_of_thousands_of_digits_is_invalid(channel: BlockingChannel) -> None:
    resource = DescribeConfigsResource(resource_type=BROKER_RESOURCE, resource_name="9" * 5_000)
    answer = channel.exchange(DescribeConfigsRequest(resources=[resource]), 1)
    assert isinstance(answer, DescribeConfigsResponse)
    assert answer.results[0].error_code == Errors.INVALID_REQUEST.code


def test_a_fetch_with_the_brokers_own_id_is_rejected(channel: BlockingChannel, broker: ClusterProcess) -> None:
    asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1_000)
    topic = FetchTopic(topic=FUZZ_TOPIC, partitions=[asked])
    answer = channel.exchange(FetchRequest(replica_id=0, max_wait_ms=10, min_bytes=1, topics=[topic]), 2)
    assert isinstance(answer, FetchResponse)
    assert answer.responses[0].partitions[0].error_code == Errors.NOT_LEADER_OR_FOLLOWER.code
    assert "Traceback" not in broker.log()
