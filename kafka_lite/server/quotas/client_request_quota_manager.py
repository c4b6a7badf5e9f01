"""Limits the share of the broker's threads that a client takes.

Kafka 0.11: core/.../server/ClientRequestQuotaManager.scala, KIP-124 · book 10.1
"""

from __future__ import annotations

from kafka_lite.common.time import Time
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.quota import QuotaViolationError, rate_throttle_time_ms
from kafka_lite.metrics.stats import MetricConfig, Rate
from kafka_lite.server.quotas.client_quota_callback import ClientQuotaCallback
from kafka_lite.server.quotas.client_quota_manager import ClientQuotaManager
from kafka_lite.server.quotas.quota_type import QuotaType

PERCENT_OF_A_SECOND_PER_MS = 0.1


class ClientRequestQuotaManager(ClientQuotaManager):
    """The quota of request time, in percent: 100 is the whole time of one thread.

    ::

        network thread    reads the request ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄▶ sends the response: record_no_throttle
        request handler                       handles it: recorded, compared

    The network thread's time becomes known when the response is gone, so it counts for the next request. Requests
    between brokers are exempt: their time is only shown. A delay is at most one window, since a client that sent one
    expensive request should not look dead.
    """

    metric_name = "request-time"
    metric_description = "Tracking request-time per user/client-id"

    def __init__(
        self, config: MetricConfig, metrics: Metrics, time: Time, callback: ClientQuotaCallback | None = None
    ) -> None:
        super().__init__(config, metrics, QuotaType.REQUEST, time, callback=callback)
        self._max_throttle_time_ms = int(config.time_window_ms)
        self.exempt_sensor = metrics.sensor(f"exempt-{QuotaType.REQUEST.value}")
        description = "Tracking exempt-request-time utilization percentage"
        self.exempt_sensor.add(metrics.metric_name("exempt-request-time", QuotaType.REQUEST.value, description), Rate())

    def maybe_record_request_time(self, user: str, client_id: str, thread_time_ms: float, now_ms: float) -> int:
        """Record a request handler's time for a request. Returns how long the client is to be delayed, in ms."""
        value = thread_time_ms * PERCENT_OF_A_SECOND_PER_MS
        return self.maybe_record_and_get_throttle_time_ms(user, client_id, value, now_ms)

    def maybe_record_network_time(self, user: str, client_id: str, thread_time_ms: float) -> None:
        """Record a network thread's time for a response that has been sent."""
        if self.quotas_enabled:
            self.record_no_throttle(user, client_id, thread_time_ms * PERCENT_OF_A_SECOND_PER_MS)

    def maybe_record_exempt(self, thread_time_ms: float) -> None:
        """Record the time of a request that no quota limits."""
        if self.quotas_enabled:
            self.exempt_sensor.record(thread_time_ms * PERCENT_OF_A_SECOND_PER_MS)

    def _throttle_time_ms(self, violation: QuotaViolationError) -> int:
        return rate_throttle_time_ms(violation, self._max_throttle_time_ms)
