"""The controller's connections to the other brokers.

Kafka 0.10.2: core/.../controller/ControllerChannelManager.scala (ControllerBrokerStateInfo) · book 7.1.7
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.blocking_channel import BlockingChannel, NotConnectedError
from kafka_lite.network.channel_builder import ClientChannelBuilder
from kafka_lite.protocol.schema import Request, Response


class BrokerChannels:
    """One connection to each broker, opened for the first request. Only one thread sends to a broker.

    ``end_point_of`` returns a broker's current address, which can change when the broker restarts, or None if it is
    not alive.
    """

    def __init__(
        self,
        client_id: str,
        end_point_of: Callable[[int], BrokerEndPoint | None],
        timeout_ms: float,
        time: Time = SYSTEM_TIME,
        security: ClientChannelBuilder | None = None,
    ) -> None:
        """``security``: how the connections are protected; None: not at all."""
        self._security = security
        self._client_id = client_id
        self._end_point_of = end_point_of
        self._timeout_ms = timeout_ms
        self._time = time
        self._lock = threading.Lock()
        self._channels: dict[int, BlockingChannel] = {}

    def exchange(self, broker_id: int, request: Request, version: int) -> Response:
        """Send a request and wait for its response. Raises ConnectionError."""
        channel = self._channel(broker_id)
        channel.connect()
        response = channel.exchange(request, version)
        assert isinstance(response, Response)
        return response

    def _channel(self, broker_id: int) -> BlockingChannel:
        end_point = self._end_point_of(broker_id)
        if end_point is None:
            raise NotConnectedError(f"broker {broker_id} is not registered")
        with self._lock:
            channel = self._channels.get(broker_id)
            if channel is not None and (channel.host, channel.port) == (end_point.host, end_point.port):
                return channel
            if channel is not None:
                channel.close()
            channel = self._channels[broker_id] = BlockingChannel(
                end_point.host,
                end_point.port,
                client_id=self._client_id,
                read_timeout_ms=self._timeout_ms,
                security=self._security,
                time=self._time,
            )
            return channel

    def abort(self, broker_id: int) -> None:
        """Interrupt the thread that waits for this broker's response."""
        with self._lock:
            channel = self._channels.get(broker_id)
        if channel is not None:
            channel.abort()

    def close(self) -> None:
        """Close all connections, once their threads have ended."""
        with self._lock:
            for channel in self._channels.values():
                channel.close()
            self._channels.clear()
