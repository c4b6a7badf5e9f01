"""A broker in this process, and clients in their own threads, for recorded runs."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kafka_learn.recording.recorded_run import RecordedRun
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.server.apis.api_handler import HandlerWrapper
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.kafka_server import KafkaServer

TOPIC = "demo"
AS_IN_KAFKA = {"inline.quick.requests": "false"}
FIRST_TIMESTAMP = 1_600_000_000_000
LONG_POLL_MS = 5_000
PRODUCE_VERSION = 9
ATTEMPTS = 5


class Crash(Exception):
    """Raised in a run to make a client's process die immediately, as by kill -9."""


@contextmanager
def running_broker(
    overrides: Mapping[str, str] | None = None, wrap_handler: HandlerWrapper | None = None
) -> Iterator[KafkaServer]:
    """A broker in this process on a free port, with its own ZooKeeper and the topic ``demo`` with one record."""
    folder = tempfile.mkdtemp(prefix="kafka-lite-run-")
    properties = {
        "broker.id": "0",
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "zookeeper.connect": "embedded",
        "log.dirs": str(Path(folder) / "logs"),
        **(overrides or {}),
    }
    server = KafkaServer(KafkaConfig(properties), wrap_handler=wrap_handler)
    try:
        server.startup()
        _prepare(server)
        wait_until(lambda: open_connections(server) == 0)
        yield server
    finally:
        server.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def open_connections(server: KafkaServer) -> int:
    """The number of open connections of the processors."""
    return sum(processor.connection_count for processor in server.socket_server.processors)


def wait_until(condition: Callable[[], bool], timeout_ms: float = 60_000) -> None:
    """Wait until a condition is true. Raises TimeoutError."""
    deadline_ms = SYSTEM_TIME.hi_res_ms() + timeout_ms
    while not condition():
        if SYSTEM_TIME.hi_res_ms() > deadline_ms:
            raise TimeoutError(f"the expected event did not happen within {timeout_ms:g} ms")
        SYSTEM_TIME.sleep(1)


def recorded_in_time(record: Callable[[], RecordedRun], is_in_time: Callable[[RecordedRun], bool]) -> RecordedRun:
    """A run in which something happens before a short time is over: recorded again if the machine was too busy."""
    for _ in range(ATTEMPTS):
        run = record()
        if is_in_time(run):
            break
    return run


def in_thread(name: str, work: Callable[[], object]) -> None:
    """Run a function in its own thread, which gets its own lane. Raises what it raises."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  (raised in the thread that waits)
            failures.append(error)

    thread = threading.Thread(target=run, name=name)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def connect(server: KafkaServer) -> BlockingChannel:
    """A client of the broker, which connects when entered as a context manager."""
    return BlockingChannel("127.0.0.1", server.bound_port())


def _prepare(server: KafkaServer) -> None:
    """Create the topic and use it once, so that all codecs are compiled."""
    topic = CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1)
    with connect(server) as channel:
        channel.exchange(CreateTopicsRequest(topics=[topic], timeout_ms=5_000), 4)
        send_record(channel, b"first")
        fetch_from(channel, 0)


def produce(server: KafkaServer, value: bytes) -> None:
    """Connect, send one record, wait for the response, disconnect."""
    with connect(server) as channel:
        send_record(channel, value)


def send_record(channel: BlockingChannel, value: bytes) -> None:
    """Send one record to the topic and wait for the response."""
    channel.exchange(produce_of(value), PRODUCE_VERSION)


def produce_of(value: bytes, acks: int = 1) -> ProduceRequest:
    """A ProduceRequest with one record."""
    records = memory_records(MAGIC_V2, CompressionType.NONE, [(None, value)], timestamp=FIRST_TIMESTAMP)
    partition = PartitionProduceData(index=0, records=records)
    topic = TopicProduceData(name=TOPIC, partition_data=[partition])
    return ProduceRequest(acks=acks, timeout_ms=1_000, topic_data=[topic])


def fetch_from(channel: BlockingChannel, offset: int) -> None:
    """Fetch records from an offset on; blocks up to LONG_POLL_MS if there are none."""
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    topic = FetchTopic(topic=TOPIC, partitions=[partition])
    request = FetchRequest(replica_id=-1, max_wait_ms=LONG_POLL_MS, min_bytes=1, max_bytes=1 << 20, topics=[topic])
    channel.exchange(request, 11)
