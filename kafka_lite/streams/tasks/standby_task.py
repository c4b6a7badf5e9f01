"""A task that only keeps its stores up to date, so that it can soon become active.

Kafka 0.10.2: streams/.../processor/internals/StandbyTask.java · book 9.1.3
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.streams.processor.internals.topology.processor_topology import ProcessorTopology
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.abstract_task import AbstractTask, CommittedOffsets
from kafka_lite.streams.tasks.standby_context_impl import StandbyContextImpl
from kafka_lite.streams.tasks.standby_state_manager import StandbyStateManager
from kafka_lite.streams.tasks.task_environment import TaskEnvironment


class StandbyTask(AbstractTask):
    """The active task is at another instance. Its writes to the changelogs reach the stores here::

    active   record ─▶ processor ─▶ store ─▶ changelog
                                                 └──▶ restore consumer ─▶ update ─▶ store   standby
    """

    def __init__(
        self,
        task_id: TaskId,
        partitions: Iterable[TopicPartition],
        topology: ProcessorTopology,
        environment: TaskEnvironment,
        *,
        consumer: CommittedOffsets,
        state_manager: StandbyStateManager,
    ) -> None:
        super().__init__(task_id, partitions, topology, state_manager)
        self._consumer = consumer
        self._stores = state_manager
        self._context = StandbyContextImpl(task_id, environment, state_manager)

    def initialize(self) -> None:
        """Open the stores. Raises StreamsError."""
        self._initialize_stores(self._context)
        self._update_offset_limits()

    @property
    def positions(self) -> Mapping[TopicPartition, int | None]:
        """The offset of the next record of each changelog; None for its start."""
        return self._stores.positions

    def update(self, partition: TopicPartition, records: Sequence[ConsumerRecord]) -> Sequence[ConsumerRecord]:
        """Restore records of a changelog.

        Returns those of a source topic that the active task has not committed yet: they are for after a commit.
        """
        return self._stores.update_standby_states(partition, records)

    def commit(self) -> None:
        """Flush the stores, write the checkpoint, and see what the active task has committed meanwhile."""
        self.flush_state()
        self._stores.checkpoint({})
        self._update_offset_limits()

    def flush_state(self) -> None:
        """Flush the stores."""
        self._stores.flush()

    def forget(self, changelogs: Collection[TopicPartition], why: str) -> None:
        """Drop the checkpoints of the stores that follow these changelogs. The task has to be closed."""
        self._stores.forget(changelogs, why)

    def hand_over(self) -> dict[TopicPartition, int]:
        """Leave the topology, its stores in memory and the lock of the directory to the active task.

        Returns where the changelogs of the stores in memory continue.
        """
        return self._stores.hand_over()

    def close_state_manager(self, write_checkpoint: bool) -> None:
        """Close the stores, with a checkpoint unless something has failed."""
        self._stores.close({} if write_checkpoint else None)

    def _update_offset_limits(self) -> None:
        """Ask for the offsets of source topics that serve as changelogs. (0.10.2 asks for all source topics'.)"""
        sources = self._stores.followed_sources
        if sources:
            self._initialize_offset_limits(sources, self._consumer)
