"""What is counted of share groups."""

from __future__ import annotations

from pathlib import Path

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.histogram import Histogram
from kafka_lite.metrics.metric_name import MetricName
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


def histogram(registry: MetricsRegistry, name: str, tags: dict[str, str] | None = None) -> Histogram | None:
    found = registry.get(MetricName.of("kafka.server", "ShareGroupMetrics", name, tags))
    assert found is None or isinstance(found, Histogram)
    return found


def test_loads_and_fetches_are_measured(tmp_path: Path) -> None:
    leader = ShareLeader(tmp_path)
    member = leader.client("a")
    member.fetch(AT)
    leader.sleep(501)
    loads = histogram(leader.registry, "PartitionLoadTimeMs")
    assert loads is not None
    assert loads.count == 1
    ratios = histogram(leader.registry, "RequestTopicPartitionsFetchRatio", {"group": "g"})
    times = histogram(leader.registry, "TopicPartitionsAcquireTimeMs", {"group": "g"})
    assert ratios is not None
    assert times is not None
    assert ratios.attributes()["Max"] == 100
    assert times.count >= 1
    leader.manager.shutdown()
    assert histogram(leader.registry, "RequestTopicPartitionsFetchRatio", {"group": "g"}) is None
    assert not [name for name in leader.registry.all_metrics() if name.type == "SharePartitionMetrics"]


def test_a_fetch_is_measured_from_its_beginning_or_the_locks_before() -> None:
    time = MockTime()
    metrics = ShareGroupMetrics(MetricsRegistry(), time)
    fetch = metrics.fetch_begins("g")
    for waited_ms in (30, 5):
        time.sleep(waited_ms)
        fetch.locked()
    fetch.completed(1, 3)
    of_group = metrics._of_groups["g"]
    assert (of_group.acquire_times.attributes()["Max"], of_group.acquire_times.attributes()["Min"]) == (30, 5)
    assert of_group.ratios.attributes()["Max"] == 33
