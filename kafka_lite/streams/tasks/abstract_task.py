"""The common base of active and standby tasks: their sub-topology, and the stores in it.

Kafka 0.10.2: streams/.../processor/internals/AbstractTask.java · book 9.1.3
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Protocol

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.streams.processor.internals.topology.processor_topology import ProcessorTopology
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.state_manager import StateManager

logger = logging.getLogger(__name__)


class CommittedOffsets(Protocol):
    """The part of the consumer that every task uses."""

    def committed(self, partitions: Iterable[TopicPartition], /) -> Mapping[TopicPartition, OffsetAndMetadata | None]:
        """The group's committed offset of each partition, or None."""
        ...


class AbstractTask(ABC):
    """One copy of a sub-topology, for one partition of each of its source topics. Used by one thread."""

    def __init__(
        self, task_id: TaskId, partitions: Iterable[TopicPartition], topology: ProcessorTopology, stores: StateManager
    ) -> None:
        """``stores`` will have the stores of the task once it is initialized."""
        self.id = task_id
        self.partitions = frozenset(partitions)
        self.topology = topology
        self._state_manager = stores

    @abstractmethod
    def commit(self) -> None:
        """Make durable what the task has done."""

    @abstractmethod
    def flush_state(self) -> None:
        """Flush the stores."""

    @abstractmethod
    def close_state_manager(self, write_checkpoint: bool) -> None:
        """Close the stores, with a checkpoint unless something has failed, and release the task's directory."""

    def store(self, name: str) -> StateStore | None:
        """A store of the task, or None."""
        return self._state_manager.stores.get(name)

    def _initialize_stores(self, context: StateStoreContext) -> None:
        """Open the stores, which register themselves. Raises StreamsError."""
        logger.info("task [%s] Initializing state stores", self.id)
        self._state_manager.initialize(self.topology.state_stores)
        for store in self.topology.state_stores:
            store.init(context, store)

    def _initialize_offset_limits(self, partitions: Iterable[TopicPartition], consumer: CommittedOffsets) -> None:
        """A store whose changelog is a source topic is restored only up to the committed offset."""
        for partition, committed in consumer.committed(partitions).items():
            self._state_manager.put_offset_limit(partition, committed.offset if committed is not None else 0)
