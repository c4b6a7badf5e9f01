"""The bytes of a client's first question, and of an answer."""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.messages.api_71_get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)

INSTANCE = UUID(int=1)


def test_the_first_request_has_no_id_yet() -> None:
    assert GetTelemetrySubscriptionsRequest().encode(0) == bytes(16) + b"\x00"


def test_a_subscription_names_prefixes_and_the_codecs_in_order() -> None:
    response = GetTelemetrySubscriptionsResponse(
        client_instance_id=INSTANCE,
        subscription_id=7,
        accepted_compression_types=[4, 3],
        push_interval_ms=1000,
        telemetry_max_bytes=1024,
        delta_temporality=True,
        requested_metrics=["*"],
    )
    fields = (
        "00000000 0000"  # throttle time, error
        "00000000 00000000 00000000 00000001"  # the client's id
        "00000007 03 04 03"  # subscription, zstd before lz4
        "000003e8 00000400 01"  # interval, bytes, deltas
        "02 02 2a 00"  # one prefix, and no tagged fields
    )
    assert response.encode(0) == bytes.fromhex(fields)
    assert GetTelemetrySubscriptionsResponse.decode(bytes.fromhex(fields), 0) == response
