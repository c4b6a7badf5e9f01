"""A blocking connection of the old producer to one broker.

Kafka 0.10.2: core/.../producer/SyncProducer.scala · book 2.2.3
"""

from __future__ import annotations

import logging
import threading
from typing import cast

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.old_producer.producer_request_stats import ProducerRequestStats
from kafka_lite.protocol.messages.api_00_produce import ProduceRequest, ProduceResponse
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.protocol.schema import Request, Response

logger = logging.getLogger(__name__)

PRODUCE_VERSION = 2
"""The version for message sets v1, the latest of 0.10.2."""
METADATA_VERSION = 0


class SyncProducer:
    """Sends one request at a time and waits for its response. Connects when needed, and reconnects after a failure."""

    def __init__(
        self,
        host: str,
        port: int,
        client_id: str,
        request_timeout_ms: float,
        stats: ProducerRequestStats | None = None,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``stats`` records the size and the duration of every produce request."""
        self.host = host
        self.port = port
        self._stats = stats
        self._time = time
        self._channel = BlockingChannel(host, port, client_id=client_id, read_timeout_ms=request_timeout_ms)
        self._lock = threading.Lock()
        self._closed = False

    def send(self, request: ProduceRequest) -> ProduceResponse | None:
        """Send a produce request. Returns None with acks=0, which has no response. Raises ConnectionError."""
        begin_ms = self._time.hi_res_ms()
        response = cast(ProduceResponse | None, self._exchange(request, PRODUCE_VERSION, request.acks != 0))
        if self._stats is not None:
            time_ms = self._time.hi_res_ms() - begin_ms
            throttle_time_ms = None if response is None else response.throttle_time_ms
            self._stats.update(self.host, self.port, self._channel.last_request_bytes, time_ms, throttle_time_ms)
        return response

    def send_metadata_request(self, request: MetadataRequest) -> MetadataResponse:
        """Request metadata. Raises ConnectionError."""
        return cast(MetadataResponse, self._exchange(request, METADATA_VERSION, expect_response=True))

    def close(self) -> None:
        """Close the connection. It is not opened again."""
        with self._lock:
            self._closed = True
            self._channel.close()

    def _exchange(self, request: Request, version: int, expect_response: bool) -> Response | None:
        with self._lock:
            if self._closed:
                raise ConnectionError(f"the producer for {self.host}:{self.port} is closed")
            try:
                self._channel.connect()
                self._channel.send(request, version, expect_response=expect_response)
                return cast(Response, self._channel.receive()) if expect_response else None
            except ConnectionError:
                # Otherwise the rest of the exchange would be taken for the response to the next request.
                self._channel.close()
                raise
