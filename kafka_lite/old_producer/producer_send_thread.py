"""The thread of an asynchronous old producer: takes messages from the queue and sends them in batches.

Kafka 0.10.2: core/.../producer/async/ProducerSendThread.scala · book 2.2.1
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Sequence

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.old_producer.default_event_handler import EventHandler
from kafka_lite.old_producer.keyed_message import KeyedMessage

logger = logging.getLogger(__name__)


class ProducerSendThread(ShutdownableThread):
    """Sends a batch when it is full, or ``queue_time_ms`` after the previous one.

    ``None`` in the queue ends the thread, after all messages that were sent before.
    """

    def __init__(
        self,
        name: str,
        messages: queue.Queue[KeyedMessage | None],
        handler: EventHandler,
        queue_time_ms: float,
        batch_size: int,
        time: Time = SYSTEM_TIME,
    ) -> None:
        super().__init__(name)
        self._queue = messages
        self._handler = handler
        self._queue_time_ms = queue_time_ms
        self._batch_size = batch_size
        self._time = time
        self._last_send_ms = time.hi_res_ms()
        self._events: list[KeyedMessage] = []

    def do_work(self) -> None:
        """Wait for one message, or until the batch must be sent."""
        wait_ms = max(0.0, self._last_send_ms + self._queue_time_ms - self._time.hi_res_ms())
        # Without a queue time, a thread that has nothing to send would ask for messages over and over again.
        timeout_s = wait_ms / 1000 if self._events or self._queue_time_ms > 0 else None
        try:
            message = self._queue.get(timeout=timeout_s)
        except queue.Empty:
            self._hand_on("queue time reached")
            return
        if message is None:
            self.initiate_shutdown()
            return
        self._events.append(message)
        if len(self._events) >= self._batch_size:
            self._hand_on("batch full")

    def on_exit(self) -> None:
        """Send the last batch."""
        self._try_to_handle(self._events)

    def finish(self) -> None:
        """Send what is in the queue, then end. Blocks until that is done."""
        self._queue.put(None)
        self.await_shutdown()

    def _hand_on(self, reason: str) -> None:
        logger.debug("Sending %d messages: %s", len(self._events), reason)
        events, self._events = self._events, []
        self._try_to_handle(events)
        self._last_send_ms = self._time.hi_res_ms()

    def _try_to_handle(self, events: Sequence[KeyedMessage]) -> None:
        """Send a batch. Nobody waits for these messages, so a failure is only logged, and they are lost."""
        try:
            if events:
                self._handler.handle(events)
        except Exception:
            logger.exception("Error in handling batch of %d events", len(events))
