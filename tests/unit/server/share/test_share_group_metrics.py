"""What is counted of share groups."""

from __future__ import annotations

from pathlib import Path

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.share.acknowledgement import ShareAcknowledgementBatch
from kafka_lite.server.share.record_state import ACCEPT, GAP, REJECT, RELEASE
from kafka_lite.server.share.share_group_metrics import ShareGroupMetrics
from tests.support.share_leaders import AT, ShareLeader


def counts(metrics: ShareGroupMetrics) -> list[float]:
    return [metrics._acknowledgements[kind].count for kind in (ACCEPT, RELEASE, REJECT)]


def test_records_are_counted_by_what_members_say() -> None:
    metrics = ShareGroupMetrics(MetricsRegistry(), MockTime())
    metrics.acknowledged([ShareAcknowledgementBatch(0, 9, [ACCEPT])])
    metrics.acknowledged([ShareAcknowledgementBatch(10, 13, [ACCEPT, RELEASE, REJECT, GAP])])
    assert counts(metrics) == [11, 1, 1]


def test_fetches_that_expire_are_counted(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    leader.client("a").fetch(AT)
    leader.sleep(501)
    assert leader.manager._metrics._expired.count == 1
