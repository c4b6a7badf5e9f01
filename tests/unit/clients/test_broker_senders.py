"""Sender threads by broker."""

from __future__ import annotations

import queue

from kafka_lite.clients.broker_senders import BrokerSenders
from kafka_lite.common.shutdownable_thread import ShutdownableThread


class Sender(ShutdownableThread):
    """Blocks until it is shut down."""

    def __init__(self, broker_id: int) -> None:
        super().__init__(f"sender-{broker_id}")
        self._queue: queue.SimpleQueue[None] = queue.SimpleQueue()

    def do_work(self) -> None:
        self._queue.get()

    def wake_up(self) -> None:
        self._queue.put(None)


def test_each_broker_has_one_sender_that_runs() -> None:
    senders = BrokerSenders(Sender)
    try:
        first, second = senders.get(1), senders.get(2)
        assert first is not None
        assert second is not None
        assert senders.get(1) is first
        assert (first.name, second.name) == ("sender-1", "sender-2")
        assert first.is_alive()
        assert second.is_alive()
    finally:
        senders.shutdown()


def test_shutdown_ends_all_threads_and_starts_no_more() -> None:
    senders = BrokerSenders(Sender)
    started = [senders.get(1), senders.get(2)]
    assert not senders.is_closed
    senders.shutdown()
    assert senders.is_closed
    assert [sender is not None and sender.is_alive() for sender in started] == [False, False]
    assert senders.get(1) is None
    assert senders.get(3) is None
