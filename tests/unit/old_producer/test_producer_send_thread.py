"""When the asynchronous producer's thread sends a batch. Turned by hand, on a clock that the test moves."""

from __future__ import annotations

import queue
from collections.abc import Sequence

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.old_producer import KeyedMessage
from kafka_lite.old_producer.producer_send_thread import ProducerSendThread


class Waits(queue.Queue[KeyedMessage | None]):
    """A queue that moves the clock by the time for which a thread waits in vain."""

    def __init__(self, time: MockTime) -> None:
        super().__init__()
        self._clock = time
        self.timeouts: list[float | None] = []

    def get(self, block: bool = True, timeout: float | None = None) -> KeyedMessage | None:
        self.timeouts.append(timeout)
        if self.empty() and timeout is not None:
            self._clock.sleep(timeout * 1000)
        return super().get(block=False)


class Turned:
    """A thread that is not started, its queue, and the batches that it has sent."""

    def __init__(self, queue_time_ms: float = 100, batch_size: int = 3) -> None:
        self.time = MockTime()
        self.queue = Waits(self.time)
        self.batches: list[list[object]] = []
        self.fail = False
        self.thread = ProducerSendThread("t", self.queue, self, queue_time_ms, batch_size, self.time)

    def handle(self, events: Sequence[KeyedMessage]) -> None:
        if self.fail:
            raise ValueError("no broker")
        self.batches.append([event.message for event in events])

    def close(self) -> None:
        """There are no connections."""

    def turn(self, *values: int) -> None:
        """One turn for each of these messages, or for none."""
        for value in values:
            self.queue.put(KeyedMessage("t", value))
        for _ in values or (None,):
            self.thread.do_work()


def test_a_full_batch_is_sent_at_once() -> None:
    turned = Turned()
    turned.turn(1, 2)
    assert turned.batches == []
    turned.turn(3)
    assert (turned.batches, turned.time.hi_res_ms()) == ([[1, 2, 3]], 0)
    turned.turn(4)
    assert turned.batches == [[1, 2, 3]]


def test_a_batch_is_sent_when_the_queue_time_has_passed_since_the_last_one() -> None:
    turned = Turned(queue_time_ms=100)
    turned.turn(1)
    turned.time.sleep(40)
    turned.turn()
    assert (turned.batches, turned.time.hi_res_ms()) == ([[1]], 100)
    assert turned.queue.timeouts == [0.1, 0.06]
    turned.turn()
    assert (turned.batches, turned.time.hi_res_ms()) == ([[1]], 200), "an empty batch is not sent"


def test_without_a_queue_time_an_idle_thread_waits_for_a_message() -> None:
    turned = Turned(queue_time_ms=0)
    turned.turn(1)
    turned.turn()
    turned.turn(2)
    assert turned.batches == [[1]]
    assert turned.queue.timeouts == [None, 0, None], "it does not spin"


def test_a_batch_that_fails_is_lost_and_the_next_one_is_sent(caplog: pytest.LogCaptureFixture) -> None:
    turned = Turned(batch_size=1)
    turned.fail = True
    turned.turn(1)
    turned.fail = False
    turned.turn(2)
    assert turned.batches == [[2]]
    assert "Error in handling batch of 1 events" in caplog.text


def test_the_end_of_the_queue_ends_the_thread_and_the_rest_is_sent() -> None:
    turned = Turned()
    turned.turn(1)
    turned.queue.put(None)
    turned.turn()
    assert not turned.thread.is_running
    turned.thread.on_exit()
    assert turned.batches == [[1]]
