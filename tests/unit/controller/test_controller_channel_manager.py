"""The channels to the brokers: in order, one request at a time, again until there is a response."""

from __future__ import annotations

import threading
from collections import deque

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.controller.controller_channel_manager import ControllerChannelManager, RequestSendThread
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from kafka_lite.protocol.schema import Request, Response
from tests.support.patience import patient_s

WAIT_S = 10


def request(number: int) -> UpdateMetadataRequest:
    return UpdateMetadataRequest(controller_id=0, controller_epoch=number)


class Brokers:
    """Those of a number in ``silent`` never answer, until somebody gives up on them."""

    def __init__(self) -> None:
        self.failures: deque[Exception] = deque()
        self.silent: set[int] = set()
        self.received: list[tuple[int, int]] = []
        self.is_asked = threading.Event()
        self.aborted: dict[int, threading.Event] = {}

    def send(self, broker_id: int, message: Request) -> Response:
        assert isinstance(message, UpdateMetadataRequest)
        self.received.append((broker_id, message.controller_epoch))
        if broker_id in self.silent:
            self.is_asked.set()
            assert self.aborted.setdefault(broker_id, threading.Event()).wait(patient_s(WAIT_S))
            raise ConnectionError("closed")
        if self.failures:
            raise self.failures.popleft()
        return UpdateMetadataResponse(error_code=Errors.NONE.code)

    def abort(self, broker_id: int) -> None:
        self.aborted.setdefault(broker_id, threading.Event()).set()


@pytest.fixture
def brokers() -> Brokers:
    return Brokers()


@pytest.fixture
def channels(brokers: Brokers):
    manager = ControllerChannelManager(0, brokers.send, brokers.abort)
    yield manager
    manager.shutdown()


def test_requests_arrive_in_order_and_each_response_goes_to_its_callback(
    brokers: Brokers, channels: ControllerChannelManager
) -> None:
    channels.add_broker(1)
    answers: list[Response] = []
    done = threading.Event()
    channels.send_request(1, request(1), answers.append)
    channels.send_request(1, request(2))
    channels.send_request(1, request(3), lambda _: done.set())
    assert done.wait(patient_s(WAIT_S))
    assert brokers.received == [(1, 1), (1, 2), (1, 3)]
    assert answers == [UpdateMetadataResponse()]


def test_a_broker_is_added_once(brokers: Brokers, channels: ControllerChannelManager) -> None:
    channels.add_broker(1)
    first = channels._threads[1]
    channels.add_broker(1)
    assert channels._threads[1] is first
    assert channels.broker_ids == {1}


def test_nothing_is_sent_to_a_broker_without_a_channel(brokers: Brokers, channels: ControllerChannelManager) -> None:
    channels.send_request(1, request(1))
    channels.remove_broker(1)
    assert (brokers.received, channels.broker_ids) == ([], set())


def test_a_silent_broker_stops_neither_the_others_nor_the_end(
    brokers: Brokers, channels: ControllerChannelManager
) -> None:
    brokers.silent = {1}
    for broker_id in (1, 2):
        channels.add_broker(broker_id)
    channels.send_request(1, request(1))
    channels.send_request(1, request(2))
    assert brokers.is_asked.wait(patient_s(WAIT_S))
    done = threading.Event()
    channels.send_request(2, request(3), lambda _: done.set())
    assert done.wait(patient_s(WAIT_S))
    thread = channels._threads[1]
    channels.remove_broker(1)
    assert not thread.is_alive()
    assert channels.broker_ids == {2}
    assert (1, 2) not in brokers.received, "what was queued is dropped"


def test_all_channels_end_together(brokers: Brokers) -> None:
    manager = ControllerChannelManager(0, brokers.send, brokers.abort)
    brokers.silent = {1}
    for broker_id in (1, 2):
        manager.add_broker(broker_id)
    manager.send_request(1, request(1))
    assert brokers.is_asked.wait(patient_s(WAIT_S))
    threads = list(manager._threads.values())
    manager.shutdown()
    assert not any(thread.is_alive() for thread in threads)
    assert manager.broker_ids == set()


def test_a_request_is_sent_again_until_there_is_a_response(brokers: Brokers, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    thread = RequestSendThread(0, 1, brokers.send)
    monkeypatch.setattr(thread, "pause", pauses.append)
    brokers.failures.extend([ConnectionError("lost"), OSError("refused"), ValueError("garbled")])
    assert thread._send_until_response(request(1)) == UpdateMetadataResponse()
    assert brokers.received == [(1, 1)] * 4
    assert pauses == [100, 100, 100]
