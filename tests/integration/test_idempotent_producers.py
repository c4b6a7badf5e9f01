"""Idempotent producers on a network that loses responses: nothing twice, nothing lost, in order."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafka_lite.protocol.messages.api_61_describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches
from kafka_lite.server.broker_process import free_port
from kafka_lite.testing.cluster import Cluster
from tests.support.patience import patient_s

UNKNOWN_TOPIC_OR_PARTITION = 3
INVALID_TOPIC_EXCEPTION = 17
OUT_OF_ORDER_SEQUENCE_NUMBER = 45
INVALID_PRODUCER_EPOCH = 47


def create_topic(cluster: Cluster, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(patient_s(60))


def channel_to(cluster: Cluster) -> BlockingChannel:
    return BlockingChannel("127.0.0.1", cluster.server.bound_port(), client_id="test", read_timeout_ms=60_000)


def read_values(cluster: Cluster, topic: str) -> list[bytes]:
    found: list[bytes] = []
    offset = 0
    with channel_to(cluster) as channel:
        while True:
            partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
            request = FetchRequest(max_bytes=1 << 20, topics=[FetchTopic(topic=topic, partitions=[partition])])
            response = channel.exchange(request, 4)
            assert isinstance(response, FetchResponse)
            data = response.responses[0].partitions[0]
            assert data.error_code == 0
            assert isinstance(data.records, bytes | memoryview)
            if not len(data.records):
                return found
            for batch in batches(data.records):
                found += [record.value or b"" for record in batch.records()]
                offset = batch.next_offset


# -- raw requests ------------------------------------------------------------------------------------------------------


def produce(channel: BlockingChannel, topic: str, records: bytes) -> PartitionProduceResponse:
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=records)])
    response = channel.exchange(ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[data]), 8)
    assert isinstance(response, ProduceResponse)
    return response.responses[0].partition_responses[0]


def test_a_batch_that_is_sent_twice_is_stored_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("data")
    with Cluster(data_dir=directory) as cluster, channel_to(cluster) as channel:
        create_topic(cluster, "raw")
        given = [channel.exchange(InitProducerIdRequest(transactional_id=None), version) for version in range(5)]
        ids = [response.producer_id for response in given if isinstance(response, InitProducerIdResponse)]
        assert len(set(ids)) == 5

        def batch(sequence: int, *values: bytes, epoch: int = 0) -> bytes:
            builder = MemoryRecordsBuilder(producer_id=ids[0], producer_epoch=epoch, base_sequence=sequence)
            for value in values:
                builder.append(cluster.server.time.milliseconds(), None, value)
            return bytes(builder.build())

        first, second = batch(0, b"a", b"b"), batch(2, b"c")
        answers = [produce(channel, "raw", records) for records in (first, second, first, second)]
        assert [(answer.error_code, answer.base_offset) for answer in answers] == [(0, 0), (0, 2), (0, 0), (0, 2)]
        assert produce(channel, "raw", batch(4, b"gap")).error_code == OUT_OF_ORDER_SEQUENCE_NUMBER
    with Cluster(data_dir=directory) as cluster, channel_to(cluster) as channel:
        assert [produce(channel, "raw", records).base_offset for records in (first, second)] == [0, 2]
        assert produce(channel, "raw", batch(0, b"d", epoch=1)).base_offset == 3
        assert produce(channel, "raw", batch(3, b"zombie")).error_code == INVALID_PRODUCER_EPOCH
        assert read_values(cluster, "raw") == [b"a", b"b", b"c", b"d"]


def test_the_producers_of_a_partition_are_described() -> None:
    with Cluster({"log.retention.ms": "-1"}) as cluster, channel_to(cluster) as channel:
        create_topic(cluster, "raw")
        for producer_id, count in ((7, 1), (9, 3)):
            builder = MemoryRecordsBuilder(producer_id=producer_id, producer_epoch=2, base_sequence=0)
            for number in range(count):
                builder.append(1000 + number, None, b"value")
            assert produce(channel, "raw", bytes(builder.build())).error_code == 0
        asked = [TopicRequest(name=name, partition_indexes=[0, 1]) for name in ("raw", "absent", "bad/name")]
        response = channel.exchange(DescribeProducersRequest(topics=asked), 0)
    assert isinstance(response, DescribeProducersResponse)
    answers = {(topic.name, each.partition_index): each for topic in response.topics for each in topic.partitions}
    described = {
        (each.producer_id, each.producer_epoch, each.last_sequence, each.last_timestamp, each.current_txn_start_offset)
        for each in answers["raw", 0].active_producers
    }
    assert described == {(7, 2, 0, 1000, -1), (9, 2, 2, 1002, -1)}
    errors = {partition: answer.error_code for partition, answer in answers.items()}
    assert errors == {
        ("raw", 0): 0,
        ("raw", 1): UNKNOWN_TOPIC_OR_PARTITION,
        ("absent", 0): UNKNOWN_TOPIC_OR_PARTITION,
        ("absent", 1): UNKNOWN_TOPIC_OR_PARTITION,
        ("bad/name", 0): INVALID_TOPIC_EXCEPTION,
        ("bad/name", 1): INVALID_TOPIC_EXCEPTION,
    }


# -- librdkafka behind a proxy that cuts connections -------------------------------------------------------------------


class LossyProxy:
    """Forwards everything, but instead of every third response to Produce it closes the connection.

    The broker has appended these batches, and the client does not know.
    """

    def __init__(self, port: int) -> None:
        self._broker_port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self.produced = 0
        self.cut = 0
        self.is_lossy = True
        self._start(self._accept)

    def _start(self, target: object, *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(client)
            try:
                broker = socket.create_connection(("127.0.0.1", self._broker_port))
            except OSError:  # the broker has stopped
                close(client)
                continue
            self._sockets.append(broker)
            produces: set[int] = set()
            self._start(self._requests, client, broker, produces)
            self._start(self._responses, broker, client, produces)

    def _requests(self, client: socket.socket, broker: socket.socket, produces: set[int]) -> None:
        with contextlib.suppress(OSError):
            for frame in frames(client):
                api_key, _, correlation_id = struct.unpack_from(">hhi", frame, 4)
                if api_key == ApiKey.PRODUCE:
                    produces.add(correlation_id)
                broker.sendall(frame)
        close(client, broker)

    def _responses(self, broker: socket.socket, client: socket.socket, produces: set[int]) -> None:
        with contextlib.suppress(OSError):
            for frame in frames(broker):
                if struct.unpack_from(">i", frame, 4)[0] in produces and self._is_to_be_cut():
                    break
                client.sendall(frame)
        close(client, broker)

    def _is_to_be_cut(self) -> bool:
        with self._lock:
            self.produced += 1
            cut = self.is_lossy and self.produced % 3 == 0
            self.cut += cut
            return cut

    def __enter__(self) -> LossyProxy:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        close(*self._sockets)
        for thread in self._threads:
            thread.join(patient_s(60))
        for each in self._sockets:
            each.close()


def frames(sock: socket.socket) -> Iterator[bytes]:
    """Length-prefixed frames until the connection ends."""
    with sock.makefile("rb") as stream:
        while len(prefix := stream.read(4)) == 4:
            yield prefix + stream.read(struct.unpack(">i", prefix)[0])


def close(*sockets: socket.socket) -> None:
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("idempotent", [True, False])
def test_lost_responses_cause_no_duplicates(idempotent: bool) -> None:
    broker_port = free_port()
    with LossyProxy(broker_port) as proxy:
        # Clients are directed to the proxy.
        overrides = {
            "listeners": f"PLAINTEXT://127.0.0.1:{broker_port}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{proxy.port}",
        }
        with Cluster(overrides) as cluster:
            create_topic(cluster, "lossy")
            values = [b"%d" % i for i in range(600)]
            errors: list[object] = []
            producer = Producer({
                "bootstrap.servers": f"127.0.0.1:{proxy.port}",
                "enable.idempotence": idempotent,
                "acks": "all",
                "batch.num.messages": 20,
                "linger.ms": 5,
                "retry.backoff.ms": 10,
                "retry.backoff.max.ms": 20,
                "reconnect.backoff.ms": 10,
                "reconnect.backoff.max.ms": 50,
                "log_level": 0,
            })  # fmt: skip
            for value in values:
                producer.produce("lossy", value, partition=0, on_delivery=lambda error, _: errors.append(error))
            assert producer.flush(patient_s(60)) == 0
            proxy.is_lossy = False
            assert errors == [None] * len(values)
            assert proxy.cut >= 5
            stored = read_values(cluster, "lossy")
    if idempotent:
        assert stored == values
    else:  # the proxy has cut connections
        assert set(stored) == set(values)
        assert len(stored) > len(values)
