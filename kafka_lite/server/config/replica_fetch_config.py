"""The settings of this broker as a follower.

Kafka 0.10.2: core/.../server/ReplicaFetcherThread.scala (the keys that it reads) · book 6.2.1
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.network.channel_builder import ClientChannelBuilder


@dataclass(frozen=True)
class ReplicaFetchConfig:
    """The configuration of a follower's requests: keys ``replica.fetch.…`` and ``replica.socket.…``."""

    broker_id: int
    protocol: ApiVersion
    max_wait_ms: int = 500
    min_bytes: int = 1
    max_bytes: int = 1024 * 1024
    """Per partition."""
    response_max_bytes: int = 10 * 1024 * 1024
    backoff_ms: int = 1000
    socket_timeout_ms: int = 30_000
    socket_receive_buffer_bytes: int = 64 * 1024
    security: ClientChannelBuilder | None = None
    """How connections to leaders are protected."""
