"""One client that pushes metrics, or may, as a broker remembers it.

Kafka 3.7: server/.../server/metrics/ClientMetricsInstance.java, ClientMetricsInstanceMetadata.java, KIP-714 · book 10.1
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from uuid import UUID

from kafka_lite.common.errors import Errors


class ClientMetricsInstance:
    """The subscription of the client, and when it may send its next request::

        request   may come
        ───────   ─────────────────────────────────────────────────────────────────────────────
        Get       a push interval after the last Get and the last Push
        Push      once right after a Get (clients add a jitter to the interval); else a push
                  interval after the last Push; and at any time if the client is terminating

    A change of the subscriptions makes a new instance, which may ask at once. Not thread-safe.
    """

    __slots__ = (
        "attributes", "instance_id", "last_get_ms", "last_push_ms", "last_request_ms", "metrics", "push_interval_ms",
        "subscription_id", "terminating", "version",
    )  # fmt: skip

    def __init__(
        self,
        instance_id: UUID,
        attributes: Mapping[str, str],
        metrics: frozenset[str],
        push_interval_ms: int,
        subscription_id: int,
        version: int,
    ) -> None:
        """``attributes``: what subscriptions match. ``version``: that of all subscriptions together."""
        self.instance_id = instance_id
        self.attributes = attributes
        self.metrics = metrics
        self.push_interval_ms = push_interval_ms
        self.subscription_id = subscription_id
        self.version = version
        self.terminating = False
        self.last_get_ms = self.last_push_ms = self.last_request_ms = -math.inf

    def check_get(self, now_ms: float) -> Errors:
        """NONE, and the time is noted; THROTTLING_QUOTA_EXCEEDED if it comes too early."""
        if now_ms - max(self.last_get_ms, self.last_push_ms) < self.push_interval_ms:
            return Errors.THROTTLING_QUOTA_EXCEEDED
        self.last_get_ms = now_ms
        return Errors.NONE

    def check_push(self, now_ms: float, terminating: bool) -> Errors:
        """NONE, and the time is noted; THROTTLING_QUOTA_EXCEEDED if it comes too early, INVALID_REQUEST after the last
        one."""
        if self.terminating:
            return Errors.INVALID_REQUEST
        if self.last_get_ms > self.last_push_ms or now_ms - self.last_push_ms >= self.push_interval_ms:
            self.last_push_ms = now_ms
            return Errors.NONE
        return Errors.NONE if terminating else Errors.THROTTLING_QUOTA_EXCEEDED
