"""A group's metrics have Kafka's names."""

from __future__ import annotations

from tests.support.scripted_broker import ScriptedBroker
from tests.support.scripted_members import reading
from tests.unit.consumer.conftest import ConsumerFactory


def test_the_metrics_have_kafkas_names(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = reading(broker, new_consumer("g"))
    consumer.commit_sync()
    groups: dict[str, dict[str, float]] = {}
    for name, metric in consumer.metrics().items():
        groups.setdefault(name.group, {})[name.name] = metric.value
    coordinator = groups["consumer-coordinator-metrics"]
    assert coordinator["assigned-partitions"] == 2
    assert coordinator["join-rate"] > 0
    assert coordinator["sync-rate"] > 0
    assert coordinator["commit-rate"] > 0
    assert {"heartbeat-rate", "heartbeat-response-time-max", "last-heartbeat-seconds-ago"} <= coordinator.keys()
    assert groups["consumer-fetch-manager-metrics"]["records-consumed-rate"] > 0
