"""Parts of the network layer without sockets, and requests whose handling the test decides."""

import threading
from collections import deque
from itertools import pairwise
from types import SimpleNamespace

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.network.processor import Processor
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.headers import RequestHeader


def request_of(number, start_time_ms=1000.0):
    header = RequestHeader(api_key=12, api_version=0, correlation_id=number, client_id="lab")
    place = (0, "connection", "PLAINTEXT", "PLAINTEXT", "127.0.0.1")
    return Request(*place, header, HeartbeatRequest(), size_in_bytes=20, start_time_ms=start_time_ms)


class Apis:
    """Responds to each request at once, or does what the test says for its number."""

    def __init__(self, channel, time):
        self.handled = []
        self.instead = {}
        self.takes_ms = 0
        self._channel, self._time = channel, time

    def handle(self, request):
        number = request.header.correlation_id
        self.handled.append(number)
        self._time.sleep(self.takes_ms)
        if number in self.instead:
            self.instead[number](request)
        else:
            self._channel.no_operation(request)


@pytest.fixture
def inside():
    """The inside of a inside: ``time``, ``channel``, ``apis``; ``chain(1, 2, 3)`` makes pipelined requests."""
    time = MockTime()
    channel = RequestChannel(1, 100, time)

    def chain(*numbers):
        requests = [request_of(number, time.hi_res_ms()) for number in numbers]
        for first, second in pairwise(requests):
            first.follow_with(second)
        return requests

    return SimpleNamespace(time=time, channel=channel, apis=Apis(channel, time), chain=chain)


@pytest.fixture
def new_processor():
    """A processor whose selector and sockets the test plays: ``done`` says in which order things happened."""

    def make():
        processor, done = object.__new__(Processor), []
        processor.id, processor._thread_ident, processor._dispatched = 0, 0, None
        processor._new_connections = deque()
        queued = processor._new_connections
        processor._selector = SimpleNamespace(wakeup=lambda: done.append(f"woken with {len(queued)} queued"))
        processor._write_responses_to_others = lambda: done.append("written to others")
        return processor, done

    return make


@pytest.fixture
def new_request():
    """``new_request(number)``"""
    return request_of


class Running:
    """Work in another thread, whose error is raised in the test's."""

    def __init__(self, work):
        self._error = None
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work):
        try:
            work()
        except BaseException as error:  # noqa: BLE001  (raised in the test's thread)
            self._error = error

    def ended(self, timeout_s):
        """Whether it has returned within this time."""
        self._thread.join(timeout_s)
        if self._error is not None:
            raise self._error
        return not self._thread.is_alive()

    def reaches(self, event):
        """Whether it sets an event before it ends."""
        while not event.wait(0.01):
            if self.ended(0):
                return event.is_set()
        return True


@pytest.fixture
def in_thread():
    """``in_thread(work)``: run it in another thread, as ``Running``."""
    return Running
