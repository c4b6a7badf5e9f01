"""Where the controller's own metrics are shown."""

from kafka_lite.common.time import MockTime
from kafka_lite.controller.controller_stats import ControllerStats
from kafka_lite.metrics.metrics_registry import MetricsRegistry


def test_its_metrics_are_in_the_registry_that_it_is_given() -> None:
    registry = MetricsRegistry()
    ControllerStats(registry, MockTime()).unclean_leader_election_rate.mark()
    counts = {str(name): bean["Count"] for name, bean in registry.beans().items()}
    assert counts == {
        "kafka.controller:type=ControllerStats,name=LeaderElectionRateAndTimeMs": 0,
        "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec": 1,
    }
