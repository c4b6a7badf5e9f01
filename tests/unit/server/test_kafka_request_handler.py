"""The pool of request handlers grows and shrinks while requests are in flight."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from kafka_lite.common.process.short_turns import TURN_S
from kafka_lite.common.time import MockTime
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.kafka_request_handler import KafkaRequestHandler, KafkaRequestHandlerPool
from tests.support.eventually import eventually
from tests.support.patience import patient_s


class Apis:
    """Blocks every request while the door is shut."""

    def __init__(self) -> None:
        self.door = threading.Event()
        self.begun: list[int] = []
        self.ended: list[int] = []

    def handle(self, request: Request) -> None:
        self.begun.append(request.header.correlation_id)
        assert self.door.wait(patient_s(60))
        self.ended.append(request.header.correlation_id)


class Broker:
    """A pool with its channel; ``threads`` has the names of its live threads."""

    def __init__(self, num_threads: int) -> None:
        self.apis, self.time = Apis(), MockTime()
        self.channel = RequestChannel(1, 10_000)
        before = set(threading.enumerate())
        self.pool = KafkaRequestHandlerPool(num_threads, self.channel, self.apis, self.time)
        self._others = before

    def send(self, *numbers: int) -> None:
        for number in numbers:
            header = RequestHeader(api_key=12, api_version=0, correlation_id=number, client_id=None)
            self.channel.send_request(
                Request(0, "c", "PLAINTEXT", "PLAINTEXT", "127.0.0.1", header, HeartbeatRequest(), 1, 0)
            )

    @property
    def threads(self) -> list[str]:
        return sorted(thread.name for thread in set(threading.enumerate()) - self._others)


@pytest.fixture
def start() -> Iterator[Callable[[int], Broker]]:
    brokers: list[Broker] = []

    def start(num_threads: int) -> Broker:
        brokers.append(Broker(num_threads))
        return brokers[-1]

    yield start
    for broker in brokers:
        broker.apis.door.set()
        broker.pool.shutdown()
        assert broker.threads == []


def names(*numbers: int) -> list[str]:
    return [f"kafka-request-handler-{number}" for number in numbers]


def test_added_handlers_start_at_once(start: Callable[[int], Broker]) -> None:
    broker = start(1)
    broker.send(1, 2, 3)
    eventually(lambda: broker.apis.begun == [1])
    broker.pool.resize(3)
    eventually(lambda: sorted(broker.apis.begun) == [1, 2, 3])
    assert broker.threads == names(0, 1, 2)


def test_removing_handlers_loses_no_request(start: Callable[[int], Broker]) -> None:
    broker = start(4)
    broker.send(*range(4))
    eventually(lambda: len(broker.apis.begun) == 4)
    broker.send(*range(4, 10))
    broker.pool.resize(2)
    broker.send(*range(10, 20))
    assert len(broker.threads) == 4  # every handler has a request
    broker.apis.door.set()
    eventually(lambda: sorted(broker.apis.ended) == list(range(20)))
    eventually(lambda: len(broker.threads) == 2)


def test_idle_handlers_end_and_their_numbers_are_reused(start: Callable[[int], Broker]) -> None:
    broker = start(4)
    broker.apis.door.set()
    broker.pool.resize(2)
    eventually(lambda: len(broker.threads) == 2)
    broker.pool.resize(4)
    assert broker.threads == names(0, 1, 2, 3)
    broker.send(*range(100))
    eventually(lambda: sorted(broker.apis.ended) == list(range(100)))


def test_growing_again_before_removed_handlers_have_ended(start: Callable[[int], Broker]) -> None:
    broker = start(2)
    broker.send(1, 2)
    eventually(lambda: len(broker.apis.begun) == 2)
    broker.pool.resize(1)
    broker.pool.resize(2)
    # The third handler finds nothing to do, and ends.
    eventually(lambda: broker.threads == names(0, 1))
    broker.send(3)
    broker.apis.door.set()
    eventually(lambda: sorted(broker.apis.ended) == [1, 2, 3])
    assert broker.threads == names(0, 1)


def test_resize_after_shutdown_is_a_no_op(start: Callable[[int], Broker]) -> None:
    broker = start(2)
    broker.pool.shutdown()
    broker.pool.resize(4)
    assert broker.threads == []


def test_a_handler_counts_as_idle_from_its_start() -> None:
    """Not only from its first turn, which may come late."""
    time, channel = MockTime(), RequestChannel(1, 10)
    handler = KafkaRequestHandler(0, channel, Apis(), time)
    time.sleep(100)
    channel.wake_up_handler()
    handler.do_work()
    time.sleep(100)
    assert handler.idle_ms() == 100


def test_average_idle_time_per_thread(start: Callable[[int], Broker]) -> None:
    broker = start(2)
    broker.time.sleep(100)
    assert broker.pool.average_idle_ns() == 100e6
    broker.pool.resize(4)
    assert broker.pool.average_idle_ns() == 100e6
    broker.time.sleep(100)
    assert broker.pool.average_idle_ns() == 200e6
    broker.pool.resize(2)
    eventually(lambda: len(broker.threads) == 2)
    broker.time.sleep(100)
    assert broker.pool.average_idle_ns() == 300e6
    broker.pool.resize(1)
    eventually(lambda: len(broker.threads) == 1)
    broker.time.sleep(100)
    assert broker.pool.average_idle_ns() == 400e6


def test_heavy_requests_are_handled_one_at_a_time_and_others_beside_them() -> None:
    apis, channel = Apis(), RequestChannel(1, 10_000)
    pool = KafkaRequestHandlerPool(4, channel, apis, is_heavy=lambda request: request.header.correlation_id < 10)
    for number in (1, 2, 3, 11, 12):
        header = RequestHeader(api_key=12, api_version=0, correlation_id=number, client_id=None)
        channel.send_request(Request(0, "c", "P", "P", "127.0.0.1", header, HeartbeatRequest(), 1, 0))
    eventually(lambda: set(apis.begun) == {1, 11, 12} and channel.request_queue_size == 2)
    apis.door.set()
    eventually(lambda: len(apis.ended) == 5)
    assert [number for number in apis.begun if number < 10] == [1, 2, 3]
    eventually(lambda: channel.request_queue_size == 0)
    pool.shutdown()


def test_others_get_the_gil_sooner_beside_heavy_and_large_requests_only() -> None:
    turns: dict[int, float] = {}

    class Timed:
        def handle(self, request: Request) -> None:
            turns[request.header.correlation_id] = round(sys.getswitchinterval(), 5)

    channel = RequestChannel(1, 10_000)
    handler = KafkaRequestHandler(0, channel, Timed(), MockTime(), lambda request: request.header.correlation_id == 2)
    usual = round(sys.getswitchinterval(), 5)
    for number in (1, 2, 3):
        header = RequestHeader(api_key=12, api_version=0, correlation_id=number, client_id="c")
        request = Request(0, "c", "P", "P", "127.0.0.1", header, HeartbeatRequest(), 1, 0)
        if number == 3:
            request.frame = memoryview(encode_request(HeartbeatRequest(), 0, 3, "c"))
        channel.send_request(request)
    for _ in range(4):  # the heavy one is queued twice
        handler.do_work()
    assert turns == {1: usual, 2: TURN_S, 3: TURN_S}
    assert round(sys.getswitchinterval(), 5) == usual > TURN_S


def test_a_stop_leaves_a_handler_behind_that_does_not_finish(caplog: pytest.LogCaptureFixture) -> None:
    apis, channel = Apis(), RequestChannel(1, 10_000)
    pool = KafkaRequestHandlerPool(3, channel, apis)
    header = RequestHeader(api_key=12, api_version=0, correlation_id=1, client_id=None)
    channel.send_request(Request(0, "c", "P", "P", "127.0.0.1", header, HeartbeatRequest(), 1, 0))
    eventually(lambda: apis.begun == [1])
    pool.shutdown(timeout_s=0.2)
    (busy,) = [thread for thread in threading.enumerate() if thread.name in names(0, 1, 2)]
    assert caplog.messages == [f"Stopping while {busy.name} still handle a request"]
    apis.door.set()
    pool.shutdown()
    assert not busy.is_alive()
    assert len(caplog.messages) == 1
