"""How often the controller elects leaders, and how long that takes.

Kafka 0.10.2: core/.../controller/KafkaController.scala (ControllerStats) · book 7.1.1
"""

from __future__ import annotations

from kafka_lite.common.time import Time
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry


class ControllerStats:
    """The beans ``kafka.controller:type=ControllerStats,name=…``."""

    def __init__(self, registry: MetricsRegistry, time: Time) -> None:
        group = KafkaMetricsGroup(registry, time, "kafka.controller", "ControllerStats")
        self.leader_election_timer = group.new_timer("LeaderElectionRateAndTimeMs")
        """Changes of the set of live brokers, during which leaders are elected."""
        self.unclean_leader_election_rate = group.new_meter("UncleanLeaderElectionsPerSec", "elections")
        """Elections of leaders that may lack committed messages."""
