"""Helpers that the tests of this lab share."""

import threading

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest
from kafka_lite.protocol.messages.headers import RequestHeader


@pytest.fixture
def mock_time():
    """A clock that the test moves."""
    time = MockTime()
    time.sleep(1000)  # so that no time is 0
    return time


@pytest.fixture
def new_channel(mock_time):
    """``new_channel(queue_size=…, num_processors=…)``: a channel without threads."""

    def make(queue_size=500, num_processors=1):
        return RequestChannel(num_processors, queue_size, mock_time)

    return make


@pytest.fixture
def new_request(mock_time):
    """``new_request(number, processor=0)``: a request of connection ``number`` that begins now."""

    def make(number=1, processor=0):
        header = RequestHeader(api_key=3, api_version=1, correlation_id=number, client_id="lab")
        place = (processor, f"connection {number}", "PLAINTEXT", "PLAINTEXT", "127.0.0.1")
        return Request(*place, header, MetadataRequest(), size_in_bytes=20, start_time_ms=mock_time.hi_res_ms())

    return make


@pytest.fixture
def in_thread():
    """``in_thread(work)``: run it in another thread; ``ended(timeout_s)`` says whether it has returned."""

    class Running:
        def __init__(self, work):
            self.error = None
            self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
            self._thread.start()

        def _run(self, work):
            try:
                work()
            except BaseException as error:  # noqa: BLE001  (raised in the test's thread)
                self.error = error

        def ended(self, timeout_s):
            self._thread.join(timeout_s)
            if self.error is not None:
                raise self.error
            return not self._thread.is_alive()

    return Running
