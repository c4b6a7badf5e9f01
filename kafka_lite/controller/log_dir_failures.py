"""Replicas on failed log directories: the controller learns of them from brokers' responses, and elects other leaders.

Kafka 1.0: core/.../controller/KafkaController.scala (processLogDirEventNotification, onReplicasBecomeOffline,
processLeaderAndIsrResponseReceived), KIP-112; 0.10 knows whole brokers only · book 7.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_context import ControllerContext, PartitionAndReplica
from kafka_lite.controller.replica_state_machine import ReplicaState, ReplicaStateMachine
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrResponse
from kafka_lite.zookeeper.log_dir_events import LogDirEvents

logger = logging.getLogger(__name__)


class LogDirFailures:
    """Keeps ``ControllerContext.replicas_on_offline_dirs``::

    broker: a disk has failed ─▶ /log_dir_event_notification
                                        │ process_notifications
                                        ▼
    broker ◀── LeaderAndIsr with all of its replicas, as they are
       │
       └─ response: KAFKA_STORAGE_ERROR for the lost ones ─▶ process_response ─▶ on_replicas_offline: elections,
                                                                                 smaller ISRs

    A broker also reports a replica whose log does not fit on its disk, and notifies the controller again when it does
    (Kafka takes the directory offline). Then its replicas are back, and partitions without a leader may get one.
    """

    def __init__(
        self,
        context: ControllerContext,
        events: LogDirEvents,
        replica_machine: ReplicaStateMachine,
        on_replicas_offline: Callable[[Collection[PartitionAndReplica]], None],
        on_replicas_back: Callable[[], None],
    ) -> None:
        """``on_replicas_offline`` gets those that have been lost; ``on_replicas_back`` is called if some are back."""
        self._context = context
        self._events = events
        self._replica_machine = replica_machine
        self._on_replicas_offline = on_replicas_offline
        self._on_replicas_back = on_replicas_back

    def discard_notifications(self) -> None:
        """Delete all notifications: a new controller tells every broker about all of its replicas anyway."""
        self._events.delete(self._events.names())

    def process_notifications(self) -> None:
        """Ask the brokers with failed directories which replicas they still have, by telling them about all of them."""
        names = self._events.names()
        if not names:
            return
        brokers = self._events.brokers(names) & self._context.live_or_shutting_down_broker_ids
        logger.info("Log directories of the brokers %s have failed", sorted(brokers))
        self._replica_machine.handle_state_changes(self._context.replicas_on_brokers(brokers), ReplicaState.ONLINE)
        self._events.delete(names)

    def is_news(self, broker_id: int, response: LeaderAndIsrResponse) -> bool:
        """Whether a broker's response may change which replicas are offline. May be called in any thread."""
        storage_error = Errors.KAFKA_STORAGE_ERROR.code
        return broker_id in self._context.replicas_on_offline_dirs or any(
            each.error_code == storage_error for each in response.partition_errors
        )

    def process_response(self, broker_id: int, response: LeaderAndIsrResponse) -> None:
        """Note which replicas are online and which are not, and act on those that have been lost."""
        if response.error_code != Errors.NONE.code or broker_id not in self._context.live_or_shutting_down_broker_ids:
            return
        before = self._context.replicas_on_offline_dirs.get(broker_id, set())
        now = set(before)
        for each in response.partition_errors:
            partition = TopicPartition(each.topic_name, each.partition_index)
            # Any other error, such as that of a leader epoch that the broker knows already, means that it has the log.
            (now.add if each.error_code == Errors.KAFKA_STORAGE_ERROR.code else now.discard)(partition)
        self._context.set_replicas_on_offline_dirs(broker_id, now)
        lost = {PartitionAndReplica(partition, broker_id) for partition in now - before}
        if lost:
            logger.info("Replicas on failed log directories: %s", ", ".join(map(str, sorted(lost))))
            self._on_replicas_offline(lost)
        if before - now:
            self._on_replicas_back()
