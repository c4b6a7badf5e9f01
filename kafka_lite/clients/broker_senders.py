"""One sender thread for each broker to which this broker sends requests.

Not in Kafka 0.10.2; since 0.11 one InterBrokerSendThread serves all brokers, without blocking · book 10.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.protocol.schema import Request, Response

Sender = TypeVar("Sender", bound=ShutdownableThread)


class BrokerRequests(Protocol):
    """Connections to the other brokers."""

    def exchange(self, broker_id: int, request: Request, version: int) -> Response:
        """Send a request and wait for its response. Raises OSError or KafkaError."""
        ...

    def abort(self, broker_id: int) -> None:
        """Interrupt the thread that waits for this broker's response."""
        ...


class BrokerSenders(Generic[Sender]):
    """The senders by broker id. ``new_sender`` makes the one for a broker; it is started when it is first needed."""

    def __init__(self, new_sender: Callable[[int], Sender]) -> None:
        self._new_sender = new_sender
        self._lock = threading.Lock()
        self._senders: dict[int, Sender] = {}
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether ``shutdown`` has been called."""
        return self._is_closed

    def get(self, broker_id: int) -> Sender | None:
        """The sender for a broker; None after ``shutdown``."""
        with self._lock:
            if self._is_closed:
                return None
            sender = self._senders.get(broker_id)
            if sender is None:
                sender = self._senders[broker_id] = self._new_sender(broker_id)
                sender.start()
            return sender

    def shutdown(self) -> None:
        """Stop all senders, and wait until their threads have ended."""
        with self._lock:
            self._is_closed = True
            senders = list(self._senders.values())
        for sender in senders:
            sender.initiate_shutdown()
        for sender in senders:
            sender.await_shutdown()
