"""The controller's channels to the brokers: a queue and a thread for each broker.

Kafka 0.10.2: core/.../controller/ControllerChannelManager.scala (QueueItem, RequestSendThread) · book 7.1.7
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable
from dataclasses import dataclass

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.state_change_logger import state_change_logger
from kafka_lite.protocol.schema import Request, Response

logger = logging.getLogger(__name__)

RETRY_BACKOFF_MS = 100

SendRequest = Callable[[int, Request], Response]
"""Delivers a request to a broker and returns its response. Raises an exception if the broker cannot be reached."""

ResponseCallback = Callable[[Response], None]


@dataclass(frozen=True)
class QueueItem:
    """A request on its way, and the callback for its response."""

    request: Request
    callback: ResponseCallback | None


class RequestSendThread(ShutdownableThread):
    """Sends the requests for one broker, one at a time, in the order in which they were queued.

    A request that fails is sent again until it succeeds or the broker's znode is gone; otherwise a broker could miss a
    change of leadership for good. So a request may arrive twice, which epochs make harmless.
    """

    def __init__(self, controller_id: int, broker_id: int, send_request: SendRequest) -> None:
        super().__init__(f"Controller-{controller_id}-to-broker-{broker_id}-send-thread")
        self._controller_id = controller_id
        self._broker_id = broker_id
        self._send_request = send_request
        self._queue: queue.Queue[QueueItem | None] = queue.Queue()

    def put(self, item: QueueItem) -> None:
        """Queue a request."""
        self._queue.put(item)

    def wake_up(self) -> None:
        """Wake a thread that waits for a request."""
        self._queue.put(None)

    def do_work(self) -> None:
        """Send the next request."""
        item = self._queue.get()
        if item is None:
            return
        response = self._send_until_response(item.request)
        if response is None:
            return
        state_change_logger.trace(
            "Controller %d received response %s for a request sent to broker %d",
            self._controller_id,
            response,
            self._broker_id,
        )
        if item.callback is not None:
            item.callback(response)

    def _send_until_response(self, request: Request) -> Response | None:
        """The response; None if this thread was stopped before one came."""
        failed_before = False
        while self.is_running:
            try:
                return self._send_request(self._broker_id, request)
            except Exception as error:  # noqa: BLE001  (whatever it is, there is no response)
                level = logging.DEBUG if failed_before or not self.is_running else logging.WARNING
                logger.log(level, "Sending %s to broker %d failed: %r", type(request).__name__, self._broker_id, error)
                failed_before = True
                self.pause(RETRY_BACKOFF_MS)
        return None


class ControllerChannelManager:
    """Starts a send thread for every live broker, and stops it when the broker is gone."""

    def __init__(
        self, controller_id: int, send_request: SendRequest, abort: Callable[[int], None] = lambda _broker_id: None
    ) -> None:
        """``abort`` interrupts ``send_request`` for a broker, in another thread."""
        self._controller_id = controller_id
        self._send_request = send_request
        self._abort = abort
        self._threads: dict[int, RequestSendThread] = {}

    @property
    def broker_ids(self) -> set[int]:
        """The brokers that have a channel."""
        return set(self._threads)

    def add_broker(self, broker_id: int) -> None:
        """Open the channel of a broker, unless it is open."""
        if broker_id not in self._threads:
            thread = RequestSendThread(self._controller_id, broker_id, self._send_request)
            self._threads[broker_id] = thread
            thread.start()

    def remove_broker(self, broker_id: int) -> None:
        """Close the channel of a broker; what is queued is dropped."""
        thread = self._threads.pop(broker_id, None)
        if thread is not None:
            thread.initiate_shutdown()
            self._abort(broker_id)
            thread.await_shutdown()

    def send_request(self, broker_id: int, request: Request, callback: ResponseCallback | None = None) -> None:
        """Queue a request; ``callback`` gets the response, in the channel's thread."""
        thread = self._threads.get(broker_id)
        if thread is None:
            logger.warning("Not sending %s to broker %d: it is offline", type(request).__name__, broker_id)
        else:
            thread.put(QueueItem(request, callback))

    def initiate_shutdown(self) -> None:
        """Send nothing more, and do not log that a request under way fails; does not wait."""
        for thread in list(self._threads.values()):
            thread.initiate_shutdown()

    def shutdown(self) -> None:
        """Close all channels."""
        for broker_id, thread in self._threads.items():
            thread.initiate_shutdown()
            self._abort(broker_id)
        for thread in self._threads.values():
            thread.await_shutdown()
        self._threads.clear()
