"""GetTelemetrySubscriptions: the metrics that a client should push, and how often.

Kafka 3.7: clients/.../common/requests/GetTelemetrySubscriptionsRequest.java, KIP-714; 0.10 has none of it · book 10.1
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, array, boolean, int8, int16, int32, string, uuid_


class GetTelemetrySubscriptionsRequest(
    Request, api_key=ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, versions="0", flexible="0+"
):
    """A client that may push metrics."""

    client_instance_id: UUID = uuid_()  # zero in the first request


class GetTelemetrySubscriptionsResponse(
    Response, api_key=ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, versions="0", flexible="0+"
):
    """The subscription of this client: all that match it, together."""

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    client_instance_id: UUID = uuid_()  # that of the request, or a new one
    subscription_id: int = int32()  # changes with the subscription
    accepted_compression_types: list[int] = array(int8)  # the best first
    push_interval_ms: int = int32()  # the shortest of all that match
    telemetry_max_bytes: int = int32()  # of a push, compressed
    delta_temporality: bool = boolean()  # whether counters are sent as changes since the last push
    requested_metrics: list[str] = array(string)  # prefixes of names; "*" for all, empty for none
