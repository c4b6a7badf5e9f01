"""Metrics of the ZooKeeper session: connections, disconnections, expirations.

Kafka 0.10.2: core/.../server/KafkaHealthcheck.scala (SessionExpireListener) · book 7.1.3
"""

from __future__ import annotations

from kafka_lite.common.time import Time
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.zookeeper.zookeeper_client import SessionEvent, ZooKeeperClient


def measure_sessions(registry: MetricsRegistry, time: Time, zookeeper: ZooKeeperClient) -> None:
    """Register one meter per kind of event, such as ``ZooKeeperDisconnectsPerSec``."""
    group = KafkaMetricsGroup(registry, time, "kafka.server", "SessionExpireListener")
    meters = {event: group.new_meter(f"ZooKeeper{event.value}PerSec", event.value.lower()) for event in SessionEvent}
    zookeeper.add_event_listener(lambda event: meters[event].mark())
