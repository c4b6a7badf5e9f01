"""Changes that the leaders of partitions have made: the controller reads them again.

Kafka 0.10.2: core/.../controller/KafkaController.scala (IsrChangeNotificationListener, updateLeaderAndIsrCache)
· book 7.1.3
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_context import ControllerContext
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient


class IsrChangeNotificationListener:
    """Keeps leaders and ISRs in the context up to date. Used by the controller's event thread only."""

    def __init__(
        self,
        context: ControllerContext,
        zk_client: KafkaZkClient,
        send_update_metadata: Callable[[Collection[TopicPartition]], None],
    ) -> None:
        self._context = context
        self._zk_client = zk_client
        self._send_update_metadata = send_update_metadata

    def process_notifications(self) -> None:
        """Leaders have changed the ISRs of their partitions: read these again, and send them to all brokers."""
        names = self._zk_client.get_isr_change_notifications()
        if not names:
            return
        known = self._context.partition_replica_assignment
        changed = sorted(partition for partition in self._zk_client.get_isr_changes(names) if partition in known)
        self.update_leader_and_isr_cache(changed)
        if changed:
            self._send_update_metadata(changed)
        self._zk_client.delete_isr_change_notifications(names)

    def update_leader_and_isr_cache(self, partitions: Collection[TopicPartition]) -> None:
        """Read the leaders and ISRs of these partitions from ZooKeeper."""
        self._context.partition_leadership_info |= self._zk_client.get_partition_states(partitions)
