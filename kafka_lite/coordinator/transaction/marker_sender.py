"""The thread that sends transaction markers to one other broker.

Kafka 0.11: core/.../coordinator/transaction/TransactionMarkerChannelManager.scala (TxnMarkerQueue),
core/.../common/InterBrokerSendThread.scala · book 10.3
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.coordinator.transaction.pending_completion import Markers
from kafka_lite.protocol.messages.api_27_write_txn_markers import WriteTxnMarkersRequest, WriteTxnMarkersResponse

logger = logging.getLogger(__name__)

SendMarkers = Callable[[int, WriteTxnMarkersRequest], WriteTxnMarkersResponse]
"""Sends a request to another broker and waits for the response. Raises OSError or KafkaError if there is none."""
MarkersCallback = Callable[[list[Markers], WriteTxnMarkersResponse | None], None]
"""Takes what was sent, and the response, or None if there is none."""


class MarkerSender(ShutdownableThread):
    """Sends the queued markers of all transactions in one request, one request at a time."""

    def __init__(
        self, broker_id: int, send: SendMarkers, abort: Callable[[int], None], on_response: MarkersCallback
    ) -> None:
        """``abort`` interrupts ``send`` to a broker."""
        super().__init__(f"TxnMarkerSenderThread-{broker_id}")
        self._broker_id = broker_id
        self._send = send
        self._abort = abort
        self._on_response = on_response
        self._queue: queue.SimpleQueue[Markers | None] = queue.SimpleQueue()

    def put(self, markers: Markers) -> None:
        """Queue markers."""
        self._queue.put(markers)

    def wake_up(self) -> None:
        """Interrupt the wait for markers, or for a response."""
        self._queue.put(None)
        self._abort(self._broker_id)

    def do_work(self) -> None:
        """Wait for markers, and send all that are queued."""
        queued = [self._queue.get()]
        while not self._queue.empty():
            queued.append(self._queue.get())
        markers = [each for each in queued if each is not None]
        if not markers or not self.is_running:
            return
        request = WriteTxnMarkersRequest(markers=[each.to_request_part() for each in markers])
        response: WriteTxnMarkersResponse | None = None
        try:
            response = self._send(self._broker_id, request)
        except (OSError, KafkaError) as failure:
            logger.info("Sending transaction markers to broker %d failed: %r", self._broker_id, failure)
        self._on_response(markers, response)
