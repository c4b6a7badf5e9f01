"""The beans about share groups on the leaders of partitions.

Kafka 4.1: server/.../server/share/metrics/ShareGroupMetrics.java, core/.../server/share/DelayedShareFetch.java
· book 5.4.1
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_lite.common.time import Time
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.share.acknowledgement import ShareAcknowledgementBatch
from kafka_lite.server.share.record_state import ACCEPT, REJECT, RELEASE

ACK_TYPES = {ACCEPT: "Accept", RELEASE: "Release", REJECT: "Reject"}
"""Gaps are not counted, as in Kafka."""


class ShareGroupMetrics:
    """Counts acknowledged records by what members say of them, and fetches that found nothing to acquire in time."""

    def __init__(self, registry: MetricsRegistry, time: Time) -> None:
        group = KafkaMetricsGroup(registry, time, "kafka.server", "ShareGroupMetrics")
        self._acknowledgements = {
            kind: group.new_meter("RecordAcknowledgementsPerSec", "records", {"ackType": name})
            for kind, name in ACK_TYPES.items()
        }
        fetches = KafkaMetricsGroup(registry, time, "kafka.server", "DelayedShareFetchMetrics")
        self._expired = fetches.new_meter("ExpiresPerSec", "requests")

    def acknowledged(self, batches: Sequence[ShareAcknowledgementBatch]) -> None:
        """The persister has these acknowledgements."""
        for first, last, types in batches:
            each = last - first + 1 if len(types) == 1 else 1
            for kind in types:
                if kind in self._acknowledgements:
                    self._acknowledgements[kind].mark(each)

    def fetch_expired(self) -> None:
        """A fetch has waited as long as its client wants to."""
        self._expired.mark()
