"""Events are handled in order, equal ones once, and an error ends nothing."""

from __future__ import annotations

import threading

from kafka_lite.mirror.helix.manager.event_thread import EventThread
from tests.support.eventually import eventually


def test_equal_events_that_wait_are_handled_once_and_in_order() -> None:
    handled: list[str] = []
    may_continue = threading.Event()

    def handle(event: str) -> None:
        handled.append(event)
        may_continue.wait()
        if event == "fails":
            raise ValueError("of this event")

    thread: EventThread[str] = EventThread("t", handle)
    thread.start()
    thread.put("fails")
    eventually(lambda: handled == ["fails"])
    for event in ("a", "b", "a", "fails"):
        thread.put(event)
    may_continue.set()
    eventually(lambda: handled == ["fails", "a", "b", "fails"])
    thread.shutdown()
    assert not thread.is_alive()
