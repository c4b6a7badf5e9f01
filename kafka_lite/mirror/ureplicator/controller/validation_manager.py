"""Counts what should be mirrored, and what is: from the ideal states and the external views.

    numTopics, numTopicPartitions      what should be
    numOnline…, numOffline…, numErrorTopicPartitions
                                       in which states the replicas are
    numErrorTopics                     topics whose view has another number of partitions than their ideal state
    IdealState, ExternalView           per worker, how many partitions it should have and has, in any state

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/validation/ValidationManager.java
(ValidationManager) · book 8.2.2
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.helix.model.state_model_definition import ERROR
from kafka_lite.mirror.helix.zn_record import ZNRecord
from kafka_lite.mirror.ureplicator.controller.helix_mirror_maker_manager import HelixMirrorMakerManager
from kafka_lite.mirror.ureplicator.helix_names import OFFLINE, ONLINE

logger = logging.getLogger(__name__)

FIRST_S, INTERVAL_S = 120, 60


def validation(ideal_states: Mapping[str, IdealState], views: Mapping[str, ZNRecord]) -> dict[str, object]:
    """The JSON of a validation. A topic without a view so far counts as one whose view is empty."""
    maps = {topic: views[topic].map_fields if topic in views else {} for topic in ideal_states}
    states = Counter(
        state.upper() for view in maps.values() for replicas in view.values() for state in replicas.values()
    )
    return {
        "numTopics": len(ideal_states),
        "numTopicPartitions": sum(ideal_state.num_partitions for ideal_state in ideal_states.values()),
        "numOnlineTopicPartitions": states[ONLINE],
        "numOfflineTopicPartitions": states[OFFLINE],
        "numErrorTopicPartitions": states[ERROR],
        "numErrorTopics": len(error_topics(ideal_states, views)),
        "IdealState": _per_worker(ideal_state.record.map_fields for ideal_state in ideal_states.values()),
        "ExternalView": _per_worker(maps.values()),
    }


def error_topics(ideal_states: Mapping[str, IdealState], views: Mapping[str, ZNRecord]) -> list[str]:
    """The topics whose view has another number of partitions than their ideal state."""
    return [
        topic
        for topic, ideal_state in ideal_states.items()
        if ideal_state.num_partitions != len(views[topic].map_fields if topic in views else {})
    ]


def _per_worker(maps: Iterable[Mapping[str, Mapping[str, str]]]) -> dict[str, int]:
    counts = Counter(instance for partitions in maps for replicas in partitions.values() for instance in replicas)
    return dict(sorted(counts.items()))


class ValidationManager:
    """Validates once a minute while this controller is the leader, and whenever it is asked."""

    def __init__(self, manager: HelixMirrorMakerManager, scheduler: Scheduler) -> None:
        self._manager = manager
        self._scheduler = scheduler

    def start(self) -> None:
        """Validate for the first time after two minutes."""
        self._scheduler.schedule("validate", self.run, delay_ms=FIRST_S * 1000, period_ms=INTERVAL_S * 1000)

    def run(self) -> None:
        """Log what is wrong."""
        if not self._manager.is_leader:
            return
        ideal_states, views = self._manager.ideal_states(), self._manager.external_views()
        logger.info("Validation: %s", validation(ideal_states, views))
        for topic in error_topics(ideal_states, views):
            logger.error("For topic:%s, number of partitions for IdealState doesn't match ExternalView", topic)

    def validate_external_view(self) -> dict[str, object]:
        """The validation now."""
        return validation(self._manager.ideal_states(), self._manager.external_views())
