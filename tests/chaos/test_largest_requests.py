"""The largest request of every API, beside which a small produce is answered; the broker lives, and stays small.

The requests come from the declarations of the messages, so that a new API is not forgotten. Times are reported
(``-s``), not judged: the machine may be busy.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from tests.support.cluster_process import ClusterProcess
from tests.support.largest_requests import has_arrays, largest
from tests.support.logs import record_set

TOPIC = "beside"
OVERRIDES = {"auto.create.topics.enable": "false"}
MAX_RESIDENT_BYTES = 500 * 1024 * 1024
ATTACKS = [
    (key, served.max_version)
    for key, served in SERVED_VERSIONS.items()
    if has_arrays(API_SPECS[key].request, served.max_version)
]
pytestmark = [pytest.mark.soak, pytest.mark.nightly, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterProcess]:
    with ClusterProcess(tmp_path_factory.mktemp("largest"), OVERRIDES) as broker:
        topic = CreatableTopic(name=TOPIC, num_partitions=1, replication_factor=1)
        with BlockingChannel("127.0.0.1", broker.port) as channel:
            channel.exchange(CreateTopicsRequest(topics=[topic], timeout_ms=30_000), 0)
        yield broker


class Probe:
    """Produces a small record with acks=all again and again, in a thread of its own; notes how long each took."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._stopped = threading.Event()
        self.errors: list[object] = []
        self.times_s: list[float] = []
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Probe:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        data = PartitionProduceData(index=0, records=record_set(b"small"))
        body = ProduceRequest(acks=-1, topic_data=[TopicProduceData(name=TOPIC, partition_data=[data])])
        with BlockingChannel("127.0.0.1", self._port) as channel:
            while not self._stopped.wait(0.01):
                started_s = time.monotonic()
                response = channel.exchange(body, 7)
                self.times_s.append(time.monotonic() - started_s)
                assert isinstance(response, ProduceResponse)
                code = response.responses[0].partition_responses[0].error_code
                if code:
                    self.errors.append(code)


def attack(port: int, frame: bytes) -> str:
    """Send a frame; what came back."""
    with socket.create_connection(("127.0.0.1", port), timeout=1000) as client:
        try:
            client.sendall(struct.pack(">i", len(frame)) + frame)
            with client.makefile("rb") as stream:
                head = stream.read(4)
                return f"{len(stream.read(int.from_bytes(head, 'big')))} bytes" if head else "closed"
        except ConnectionError:
            return "closed"


@pytest.mark.parametrize("elements", [100_000, 1_000_000])
@pytest.mark.parametrize(("api_key", "version"), ATTACKS, ids=lambda value: getattr(value, "name", value))
def test_a_small_produce_is_answered_beside_the_largest_request(
    broker: ClusterProcess, api_key: ApiKey, version: int, elements: int
) -> None:
    frame = encode_request(largest(API_SPECS[api_key].request, version, elements), version, 1, "attack")
    with Probe(broker.port) as probe:
        started_s = time.monotonic()
        outcome = attack(broker.port, frame)
        took_s = time.monotonic() - started_s
    resident = psutil.Process(broker.process.pid).memory_info().rss
    print(
        f"{api_key.name} v{version}, {elements} elements, {len(frame)} bytes: {outcome} after {took_s:.2f} s; "
        f"{len(probe.times_s)} probes, the slowest {max(probe.times_s, default=0):.3f} s; {resident >> 20} MiB"
    )
    assert not probe.errors
    assert probe.times_s, "the produce beside it was answered"
    assert resident < MAX_RESIDENT_BYTES
