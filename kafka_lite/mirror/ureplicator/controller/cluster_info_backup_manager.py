"""Dumps the ideal states and the assignment of all topics once a day, so that a lost ZooKeeper can be filled again.

    idealState-backup-ENV        [{"topic": "t", "idealStateMeta": the record of the ideal state}, ...]
    partitionAssgn-backup-ENV    [the topic's mappings, ...]

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/core/ClusterInfoBackupManager.java
(ClusterInfoBackupManager) · book 8.2.2
"""

from __future__ import annotations

import json
import logging

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.mirror.helix.zn_record import ZNRecord
from kafka_lite.mirror.ureplicator.controller.back_up_handler import BackUpHandler
from kafka_lite.mirror.ureplicator.controller.controller_errors import ControllerError
from kafka_lite.mirror.ureplicator.controller.helix_mirror_maker_manager import HelixMirrorMakerManager
from kafka_lite.mirror.ureplicator.controller.topic_mappings import topic_mappings

logger = logging.getLogger(__name__)

FIRST_S, INTERVAL_S = 20, 24 * 60 * 60
DEFAULT_ENVIRONMENT = "default"


class ClusterInfoBackupManager:
    """Takes the backups of the leader."""

    def __init__(
        self, manager: HelixMirrorMakerManager, handler: BackUpHandler, scheduler: Scheduler, environment: str
    ) -> None:
        self._manager = manager
        self._handler = handler
        self._scheduler = scheduler
        self._environment = environment.strip() or DEFAULT_ENVIRONMENT

    def start(self) -> None:
        """Take the first backup soon."""
        self._scheduler.schedule("backup", self.run, delay_ms=FIRST_S * 1000, period_ms=INTERVAL_S * 1000)

    def run(self) -> None:
        """Take a backup; one that fails is logged."""
        try:
            self.dump_state()
        except (OSError, ControllerError) as error:
            logger.error("Failed to take backup, with exception: %s", error)

    def dump_state(self) -> None:
        """Write the files if this controller leads and mirrors anything. Raises OSError, ControllerError."""
        if not self._manager.is_leader:
            return
        ideal_states = self._manager.ideal_states()
        if not ideal_states:
            logger.info("No topics available to take backup")
            return
        views = self._manager.external_views()
        records = [
            {"topic": topic, "idealStateMeta": json.loads(state.record.to_json())}
            for topic, state in ideal_states.items()
        ]
        assignments = [
            topic_mappings(topic, state, views.get(topic, ZNRecord(topic)), "idealStateMapping")
            for topic, state in ideal_states.items()
        ]
        self._handler.write(
            {
                f"idealState-backup-{self._environment}": json.dumps(records),
                f"partitionAssgn-backup-{self._environment}": json.dumps(assignments),
            }
        )
        logger.info("Backup taken successfully!")
