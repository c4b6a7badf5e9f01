"""The synchronous and the asynchronous producer."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.old_producer.default_event_handler import FailedToSendMessageError
from kafka_lite.old_producer.producer import ProducerClosedError, QueueFullError
from tests.support.eventually import eventually
from tests.support.patience import patient_s


class Handler:
    """Accepts messages, and blocks while closed."""

    def __init__(self) -> None:
        self.batches: list[list[object]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.fail = False
        self.closed = False

    def handle(self, events: Sequence[KeyedMessage]) -> None:
        assert self.gate.wait(patient_s(60))
        if self.fail:
            raise FailedToSendMessageError("no")
        self.batches.append([event.message for event in events])

    def close(self) -> None:
        self.closed = True


def producer(handler: Handler, **config: object) -> Producer:
    configs: dict[str, object] = {"metadata.broker.list": "localhost:9092"}
    return Producer(configs | {key.replace("_", "."): value for key, value in config.items()}, handler)


def messages(*values: int) -> list[KeyedMessage]:
    return [KeyedMessage("t", value) for value in values]


def test_synchronous() -> None:
    handler = Handler()
    with producer(handler) as sync:
        sync.send(*messages(1, 2))
        assert handler.batches == [[1, 2]]
        handler.fail = True
        with pytest.raises(FailedToSendMessageError):
            sync.send(*messages(3))
    assert handler.closed
    with pytest.raises(ProducerClosedError):
        sync.send(*messages(4))
    sync.close()


def test_a_batch_is_sent_when_it_is_full_and_the_rest_on_close() -> None:
    handler = Handler()
    with producer(handler, producer_type="async", batch_num_messages=2, queue_buffering_max_ms=60_000) as asynchronous:
        asynchronous.send(*messages(*range(5)))
    assert handler.batches == [[0, 1], [2, 3], [4]]


def test_a_batch_is_sent_when_its_time_is_over() -> None:
    handler = Handler()
    with producer(handler, producer_type="async", queue_buffering_max_ms=5) as asynchronous:
        asynchronous.send(*messages(1))
        assert eventually(lambda: handler.batches) == [[1]]


def test_failures_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    handler = Handler()
    handler.fail = True
    with producer(handler, producer_type="async", batch_num_messages=1) as asynchronous:
        asynchronous.send(*messages(1))
    assert "Error in handling batch of 1 events" in caplog.text


@pytest.mark.parametrize("timeout_ms", [0, 10])
def test_a_full_queue_drops_messages(timeout_ms: int) -> None:
    handler = Handler()
    handler.gate.clear()
    settings = {"queue_buffering_max_messages": 2, "batch_num_messages": 1, "queue_enqueue_timeout_ms": timeout_ms}
    with producer(handler, producer_type="async", **settings) as asynchronous:
        with pytest.raises(QueueFullError, match="queue is full"):
            asynchronous.send(*messages(*range(10)))
        handler.gate.set()
    assert [value for batch in handler.batches for value in batch] == list(range(len(handler.batches)))
