"""Compares the mirrored topics with those of the source cluster, and expands the ones that have grown there.

    numMissingTopics                mirrored, but not in the source
    numMismatchedTopics             with another number of partitions there: more, without -enableAutoTopicExpansion,
                                    or fewer
    numMismatchedTopicPartitions    the differences of all of them
    mismatchedTopicPartitions       the difference of each

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../controller/validation/SourceKafkaClusterValidationManager.java
(SourceKafkaClusterValidationManager) · book 8.2.2
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.mirror.ureplicator.controller.helix_mirror_maker_manager import HelixMirrorMakerManager
from kafka_lite.mirror.ureplicator.controller.kafka_broker_topic_observer import KafkaBrokerTopicObserver

logger = logging.getLogger(__name__)

FIRST_S, INTERVAL_S = 120, 600


@dataclass(frozen=True)
class SourceComparison:
    """The mirrored topics beside those of the source."""

    missing: tuple[str, ...]
    mismatched: Mapping[str, int]
    """By how many partitions a topic differs."""
    to_expand: Mapping[str, int]
    """The number of partitions after an allowed expansion."""

    def to_json(self) -> dict[str, object]:
        """The JSON of a validation."""
        return {
            "numMissingTopics": len(self.missing),
            "numMismatchedTopics": len(self.mismatched),
            "numMismatchedTopicPartitions": sum(self.mismatched.values()),
            "mismatchedTopicPartitions": dict(self.mismatched),
        }


def compare_with_source(mirrored: Mapping[str, int], source: Mapping[str, int], *, expand: bool) -> SourceComparison:
    """Compare numbers of partitions."""
    different = {topic for topic, number in mirrored.items() if source.get(topic, number) != number}
    grown = {topic for topic in different if expand and source[topic] > mirrored[topic]}
    return SourceComparison(
        missing=tuple(sorted(mirrored.keys() - source.keys())),
        mismatched={topic: abs(mirrored[topic] - source[topic]) for topic in sorted(different - grown)},
        to_expand={topic: source[topic] for topic in sorted(grown)},
    )


class SourceKafkaClusterValidationManager:
    """Validates every ten minutes while this controller is the leader, and whenever it is asked."""

    def __init__(
        self,
        source: KafkaBrokerTopicObserver,
        manager: HelixMirrorMakerManager,
        scheduler: Scheduler,
        *,
        expand: bool = False,
    ) -> None:
        """``expand``: whether topics are expanded that have grown in the source."""
        self._source = source
        self._manager = manager
        self._scheduler = scheduler
        self._expand = expand

    def start(self) -> None:
        """Validate for the first time after two minutes."""
        self._scheduler.schedule("validate-source", self.run, delay_ms=FIRST_S * 1000, period_ms=INTERVAL_S * 1000)

    def run(self) -> None:
        """Validate if this controller leads."""
        if self._manager.is_leader:
            self.validate_source_kafka_cluster()

    def validate_source_kafka_cluster(self) -> dict[str, object]:
        """The validation now. Topics are expanded by any controller that is asked, as in uReplicator."""
        mirrored = {topic: state.num_partitions for topic, state in self._manager.ideal_states().items()}
        comparison = compare_with_source(mirrored, self._source.topics(), expand=self._expand)
        for topic in comparison.missing:
            logger.warning("Topic %s is not in source kafka broker!", topic)
        for topic, difference in comparison.mismatched.items():
            logger.warning("Number of partitions not matched for topic %s: they differ by %d", topic, difference)
        for topic, number in comparison.to_expand.items():
            self._manager.expand_topic_in_mirror_maker(topic, number)
        return comparison.to_json()
