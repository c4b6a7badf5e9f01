"""The topics of a mirror, as resources of Helix: adds, expands and deletes them, and rebalances their partitions.

The Helix controller runs in the same process. It alone turns ideal states into messages. Several processes may serve
requests about topics; only the one that is the leader rebalances, white-lists and validates.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/core/HelixMirrorMakerManager.java
(HelixMirrorMakerManager), uReplicator-Controller/.../mirrormaker/controller/utils/HelixSetupUtils.java
(HelixSetupUtils) · book 8.2.2
"""

from __future__ import annotations

import logging
import threading

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.mirror.helix.helix_errors import UnreadableRecordError
from kafka_lite.mirror.helix.manager.generic_helix_controller import GenericHelixController
from kafka_lite.mirror.helix.manager.zk_helix_admin import ZKHelixAdmin
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.built_in_state_models import UREPLICATOR_ONLINE_OFFLINE
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.writes import Put
from kafka_lite.mirror.helix.zn_record import ZNRecord
from kafka_lite.mirror.ureplicator.controller.assignment import serving_instances
from kafka_lite.mirror.ureplicator.controller.controller_errors import FewerPartitionsError, UnknownTopicError
from kafka_lite.mirror.ureplicator.controller.ideal_state_builder import (
    build_custom_ideal_state_for,
    expand_custom_rebalance_mode_ideal_state_for,
)
from kafka_lite.mirror.ureplicator.controller.instance_topic_partition_holder import HolderQueue
from kafka_lite.mirror.ureplicator.controller.rescale import rebalanced_ideal_states
from kafka_lite.mirror.ureplicator.helix_names import process_name

logger = logging.getLogger(__name__)

AUTO_BALANCING = "AutoBalancing"
"""The field of the cluster's configuration that stops rebalances."""
ENABLE, DISABLE = "enable", "disable"


class HelixMirrorMakerManager:
    """One controller process's view of its cluster, and its changes to it. Thread-safe; one change at a time."""

    def __init__(
        self,
        accessor: ZKHelixDataAccessor,
        controller_accessor: ZKHelixDataAccessor,
        instance_id: str,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """The Helix controller has a session of its own: both watch the live instances."""
        self.accessor = accessor
        self.paths = accessor.paths
        self._admin = ZKHelixAdmin(accessor, instance_id, time)
        self._controller_accessor = controller_accessor
        self._controller = GenericHelixController(controller_accessor, instance_id, process_name(), time)
        self._lock = threading.RLock()

    def start(self) -> None:
        """Create the cluster if it is not there, and start its Helix controller."""
        if self.accessor.get(self.paths.cluster_config) is None:
            logger.info("Creating a new cluster, as the helix cluster %s was not found", self.paths.cluster)
            self._admin.add_cluster([UREPLICATOR_ONLINE_OFFLINE])
        self._controller.start()

    def stop(self) -> None:
        """Stop the Helix controller. Closing the session then ends the leadership."""
        self._controller.shutdown()

    # ----------------------------------------------------------------------------------------------------- questions

    @property
    def is_leader(self) -> bool:
        """Whether the leader's znode is this Helix controller's."""
        try:
            record = self.accessor.get(self.paths.leader)
        except UnreadableRecordError:
            return False
        return record is not None and LiveInstance(record).session == self._controller_accessor.session

    def live_instances(self) -> list[str]:
        """The workers that live, by name."""
        return list(self.accessor.children(self.paths.live_instances))

    def topics(self) -> list[str]:
        """The topics that are mirrored, by name."""
        return list(self.accessor.children(self.paths.ideal_states))

    def is_topic_existed(self, topic: str) -> bool:
        """Whether a topic is mirrored."""
        return topic in self.topics()

    def ideal_state(self, topic: str) -> IdealState:
        """Where a topic's partitions should be. Raises UnknownTopicError."""
        record = self.accessor.get(self.paths.ideal_state(topic))
        if record is None:
            raise UnknownTopicError(f"{topic} is not mirrored")
        return IdealState(record)

    def ideal_states(self) -> dict[str, IdealState]:
        """All ideal states that can be read, by topic."""
        return {topic: IdealState(each) for topic, each in self.accessor.child_records(self.paths.ideal_states).items()}

    def external_view(self, topic: str) -> ZNRecord:
        """Where a topic's partitions are; without any as long as the Helix controller has written nothing."""
        return self.accessor.get(self.paths.external_view(topic)) or ZNRecord(topic)

    def external_views(self) -> dict[str, ZNRecord]:
        """All external views that can be read, by topic."""
        return self.accessor.child_records(self.paths.external_views)

    # ------------------------------------------------------------------------------------------------------- topics

    def add_topic_to_mirror_maker(self, topic: str, num_partitions: int) -> None:
        """Mirror a topic, which is not mirrored so far."""
        with self._lock:
            ideal_state = build_custom_ideal_state_for(topic, num_partitions, self._current_serving_instances())
            self._admin.add_resource(ideal_state)
        logger.info("Mirroring %s with %d partitions", topic, num_partitions)

    def expand_topic_in_mirror_maker(self, topic: str, num_partitions: int) -> None:
        """Mirror more partitions of a topic. Raises UnknownTopicError, FewerPartitionsError."""
        with self._lock:
            old = self.ideal_state(topic)
            if num_partitions < old.num_partitions:
                raise FewerPartitionsError(
                    f"topic: {topic} is mirrored with {old.num_partitions} partitions, {num_partitions} are fewer"
                )
            queue = self._current_serving_instances()
            new = expand_custom_rebalance_mode_ideal_state_for(old, topic, num_partitions, queue)
            self._set_ideal_state(topic, new)
        logger.info("Mirroring %s with %d partitions instead of %d", topic, num_partitions, old.num_partitions)

    def delete_topic_in_mirror_maker(self, topic: str) -> None:
        """Mirror a topic no longer."""
        with self._lock:
            self._admin.drop_resource(topic)
        logger.info("Mirroring %s no longer", topic)

    def rebalance(self) -> list[str]:
        """Give the partitions of dead workers to live ones, and new workers their share.

        Returns the topics of which partitions move.
        """
        with self._lock:
            changed = rebalanced_ideal_states(self.ideal_states(), self.live_instances())
            for topic, ideal_state in changed.items():
                self._set_ideal_state(topic, ideal_state)
        return list(changed)

    def _current_serving_instances(self) -> HolderQueue:
        return serving_instances(self.ideal_states(), self.live_instances())

    def _set_ideal_state(self, topic: str, ideal_state: IdealState) -> None:
        self.accessor.apply([Put(self.paths.ideal_state(topic), ideal_state.record)])

    # ------------------------------------------------------------------------------------------------ auto balancing

    def disable_auto_balancing(self) -> None:
        """Rebalance no more, whatever becomes of the workers."""
        self._set_auto_balancing(DISABLE)

    def enable_auto_balancing(self) -> None:
        """Rebalance after the next worker that comes or goes."""
        self._set_auto_balancing(ENABLE)

    @property
    def is_auto_balancing_enabled(self) -> bool:
        """Whether workers that come or go are a reason to rebalance."""
        return self._cluster_config().simple_fields.get(AUTO_BALANCING) != DISABLE

    def _set_auto_balancing(self, value: str) -> None:
        with self._lock:
            changed = self._cluster_config().with_simple(**{AUTO_BALANCING: value})
            self.accessor.apply([Put(self.paths.cluster_config, changed)])

    def _cluster_config(self) -> ZNRecord:
        return self.accessor.get(self.paths.cluster_config) or ZNRecord(self.paths.cluster)
