"""The largest request of every API, beside which a small produce is answered; the broker lives, and stays small.

The requests come from the declarations of the messages, so that a new API is not forgotten. Times are reported, not
judged: the machine may be busy. The long form sends the largest requests that are accepted, and larger ones, from ten
connections at once; it leaves a table in ``build/largest-requests.md``, the first line of which is the broker at rest.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from bench.brokers import KafkaLite
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
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.protocol.messages.api_19_create_topics import CreatableTopic, CreateTopicsRequest
from kafka_lite.protocol.schema import MAX_ELEMENTS_OF_CLIENTS
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from tests.support.eventually import eventually
from tests.support.largest_requests import array_paths, largest
from tests.support.logs import record_set

TOPIC = "beside"
PROBES = 3
"""So often at least is the small record produced beside an attack."""
OVERRIDES = {"auto.create.topics.enable": "false", "group.share.enable": "true"}
MEMBER = "AAAAAAAAQACAAAAAAAAAAQ"
OF_MEMBERS: dict[ApiKey, dict[str, object]] = {
    ApiKey.CONSUMER_GROUP_HEARTBEAT: {"group_id": "assigned", "rebalance_timeout_ms": 60_000},
    ApiKey.SHARE_GROUP_HEARTBEAT: {"group_id": "sharing"},
    ApiKey.SHARE_FETCH: {"group_id": "sharing", "max_bytes": 2**20, "max_records": 500, "batch_size": 500},
    ApiKey.SHARE_ACKNOWLEDGE: {"group_id": "sharing", "share_session_epoch": -1},
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: {"group_id": "altered"},
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: {"group_id": "altered"},
}
"""What those who join a group, or open a session, say besides: without it they are refused before anybody looks at
their arrays."""
MAX_RESIDENT_BYTES = 300 * 1024 * 1024
MAX_DESCRIPTORS = 100
ATTACKS = [
    (key, served.max_version, path)
    for key, served in SERVED_VERSIONS.items()
    for path in array_paths(API_SPECS[key].request, served.max_version)
]
"""Each array of each API in turn is long."""
REPORT = Path(__file__).parents[2] / "build/largest-requests.md"
HEAD = (
    "| request | elements | bytes | seconds | CPU seconds | p99 beside it, ms | largest, ms | resident, MB |\n"
    "|---|---|---|---|---|---|---|---|\n"
)
pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaLite]:
    with KafkaLite(tmp_path_factory.mktemp("largest") / "broker", OVERRIDES) as broker:
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


class Measured(NamedTuple):
    """What an attack did to the broker and to those beside it."""

    took_s: float
    cpu_s: float
    p99_s: float
    largest_s: float
    resident_bytes: int

    def row(self, name: str, elements: int, size_bytes: int) -> str:
        """A line of the table."""
        return (
            f"| {name} | {elements:,} | {size_bytes:,} | {self.took_s:.1f} | {self.cpu_s:.1f} "
            f"| {1e3 * self.p99_s:.0f} | {1e3 * self.largest_s:.0f} | {self.resident_bytes >> 20} |\n"
        )


def measured(broker: KafkaLite, frame: bytes, connections: int) -> Measured:
    """Attack over this many connections at once, while small produces run beside: each of them must succeed."""
    process = psutil.Process(broker.process.pid)
    cpu_s = sum(process.cpu_times()[:2])
    with Probe(broker.port) as probe, ThreadPoolExecutor(max(1, connections)) as attackers:
        started_s = time.monotonic()
        outcomes = set(attackers.map(lambda _: attack(broker.port, frame), range(connections)))
        eventually(lambda: len(probe.times_s) >= PROBES)
        took_s = time.monotonic() - started_s
    assert not probe.errors
    assert len(outcomes) <= 1 or "closed" not in outcomes, "all are served alike"
    times_s = sorted(probe.times_s)
    return Measured(
        took_s,
        sum(process.cpu_times()[:2]) - cpu_s,
        times_s[len(times_s) * 99 // 100],
        times_s[-1],
        process.memory_info().rss,
    )


def frame_of(api_key: ApiKey, version: int, path: Sequence[str], elements: int) -> bytes:
    request = largest(API_SPECS[api_key].request, version, elements, path)
    of_member = OF_MEMBERS.get(api_key, {})
    for name, value in {"member_id": MEMBER, **of_member}.items() if of_member else ():
        if hasattr(request, name):
            setattr(request, name, value)
    return encode_request(request, version, 1, "attack")


def check_bounds(broker: KafkaLite) -> None:
    """The broker is as small as it may be, and nothing has failed in it."""
    process = psutil.Process(broker.process.pid)
    assert process.memory_info().rss < MAX_RESIDENT_BYTES
    assert process.num_fds() < MAX_DESCRIPTORS
    assert "Traceback" not in broker.log()


@pytest.mark.parametrize(
    ("api_key", "version", "path"), ATTACKS, ids=lambda each: getattr(each, "name", None) or str(each)
)
def test_a_large_request_of_every_api_is_answered_beside_a_small_produce(
    broker: KafkaLite, api_key: ApiKey, version: int, path: Sequence[str]
) -> None:
    measured(broker, frame_of(api_key, version, path, 3_000), 3)
    check_bounds(broker)


@pytest.mark.soak
@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_the_table_of_the_largest_requests(broker: KafkaLite) -> None:
    """In one test, for the table is one. The larger requests are refused, those of the controller for their epoch."""
    rows = [measured(broker, encode_request(ApiVersionsRequest(), 0, 1, "attack"), 10).row("ApiVersions", 0, 0)]
    for api_key, version, path in ATTACKS:
        for elements in (MAX_ELEMENTS_OF_CLIENTS, 1_000_000):
            frame = frame_of(api_key, version, path, elements)
            rows.append(measured(broker, frame, 10).row(f"{api_key.name} {'.'.join(path)}", elements, len(frame)))
            print(rows[-1], end="")
            REPORT.parent.mkdir(exist_ok=True)
            REPORT.write_text(HEAD + "".join(rows), encoding="utf-8")
            check_bounds(broker)
