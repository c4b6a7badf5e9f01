"""PushTelemetry: the metrics of a client.

Kafka 3.7: clients/.../common/requests/PushTelemetryRequest.java, KIP-714; 0.10 has none of it · book 10.1
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, boolean, bytes_, int8, int16, int32, uuid_


class PushTelemetryRequest(Request, api_key=ApiKey.PUSH_TELEMETRY, versions="0", flexible="0+"):
    """A push."""

    client_instance_id: UUID = uuid_()
    subscription_id: int = int32()  # as the broker gave it
    terminating: bool = boolean()  # the client is about to close: its last push, which may come early
    compression_type: int = int8()
    metrics: bytes = bytes_()  # MetricsData of OpenTelemetry


class PushTelemetryResponse(Response, api_key=ApiKey.PUSH_TELEMETRY, versions="0", flexible="0+"):
    """Whether the metrics were taken."""

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
