"""The Persister that asks the share coordinators, this broker's and the others'.

Kafka 4.1: server-common/.../server/share/persister/DefaultStatePersister.java · book 10.3
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.coordinator.share.all_results import AllResults
from kafka_lite.coordinator.share.persister import (
    PartitionAllData,
    PartitionErrorData,
    PartitionStateBatchData,
    PartitionStateData,
    PartitionStateSummaryData,
    Persister,
    Respond,
    SharePartitionKey,
)
from kafka_lite.server.share.persister import state_messages
from kafka_lite.server.share.persister.persister_state_manager import PersisterStateManager, StateQuestion
from kafka_lite.server.share.persister.state_messages import StateMessages

D = TypeVar("D")
R = TypeVar("R")


class DefaultStatePersister(Persister):
    """Asks for each partition by itself; the manager puts together what goes to the same coordinator."""

    def __init__(self, manager: PersisterStateManager) -> None:
        self._manager = manager
        manager.start()

    def initialize_state(
        self, group_id: str, partitions: Mapping[TopicIdPartition, PartitionStateData], respond: Respond
    ) -> None:
        """See Persister."""
        self._ask(state_messages.INITIALIZE, group_id, partitions, respond)

    def read_state(
        self,
        group_id: str,
        leader_epochs: Mapping[TopicIdPartition, int],
        respond: Callable[[Mapping[TopicIdPartition, PartitionAllData]], None],
    ) -> None:
        """See Persister."""
        self._ask(state_messages.READ, group_id, leader_epochs, respond)

    def write_state(
        self, group_id: str, partitions: Mapping[TopicIdPartition, PartitionStateBatchData], respond: Respond
    ) -> None:
        """See Persister."""
        self._ask(state_messages.WRITE, group_id, partitions, respond)

    def delete_state(self, group_id: str, partitions: Collection[TopicIdPartition], respond: Respond) -> None:
        """See Persister."""
        self._ask(state_messages.DELETE, group_id, dict.fromkeys(partitions), respond)

    def read_summary(
        self,
        group_id: str,
        leader_epochs: Mapping[TopicIdPartition, int],
        respond: Callable[[Mapping[TopicIdPartition, PartitionStateSummaryData]], None],
    ) -> None:
        """See Persister."""
        self._ask(state_messages.READ_SUMMARY, group_id, leader_epochs, respond)

    def stop(self) -> None:
        """See Persister."""
        self._manager.stop()

    def _ask(
        self,
        messages: StateMessages[D, R],
        group_id: str,
        partitions: Mapping[TopicIdPartition, D],
        respond: Callable[[Mapping[TopicIdPartition, R]], None],
    ) -> None:
        results = AllResults(partitions, respond)
        for partition, data in partitions.items():
            respond_one = results.sender(partition)
            if group_id and partition.partition >= 0:
                key = SharePartitionKey(group_id, *partition)
                self._manager.enqueue(StateQuestion(messages, key, data, respond_one))
            else:
                text = "a group id and a partition number are required"
                respond_one(messages.failed(PartitionErrorData(Errors.INVALID_REQUEST, text)))
