"""GetTelemetrySubscriptions and PushTelemetry: metrics that clients push (KIP-714).

Kafka 3.7: core/.../server/KafkaApis.scala (handleGetTelemetrySubscriptionsRequest, handlePushTelemetryRequest) · book
10.1
"""

from __future__ import annotations

from kafka_lite.network.request import Request
from kafka_lite.protocol.messages.api_71_get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from kafka_lite.protocol.messages.api_72_push_telemetry import PushTelemetryRequest
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.client_telemetry.client_metrics_manager import ClientMetricsManager


class TelemetryApis:
    """The handlers. Any client may use them."""

    def __init__(self, manager: ClientMetricsManager) -> None:
        self._manager = manager

    def handle_get_telemetry_subscriptions(
        self, request: Request, body: GetTelemetrySubscriptionsRequest, respond: Respond
    ) -> None:
        """Tell a client which metrics to push, and how often."""
        respond(self._manager.get_subscriptions(request, body))

    def handle_push_telemetry(self, request: Request, body: PushTelemetryRequest, respond: Respond) -> None:
        """Take the metrics of a client."""
        respond(self._manager.push(request, body))
