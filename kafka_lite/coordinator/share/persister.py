"""Keeps the state of share groups: what partition leaders and group coordinators ask of the share coordinator.

Kafka 4.1: server-common/.../server/share/persister/Persister.java, PartitionFactory.java, PersisterStateBatch.java,
server-common/.../server/share/SharePartitionKey.java · book 10.3
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.ids.uuids import decode_uuid, encode_uuid

UNINITIALIZED_START_OFFSET = -1
"""No start offset: in a read, the partition's leader must find one; in a write, it stays as it is."""
UNINITIALIZED_EPOCH = -1
"""No epoch: it is not compared, and stays as it is."""
DEFAULT_STATE_EPOCH = 0
DEFAULT_LEADER_EPOCH = 0


class SharePartitionKey(NamedTuple):
    """A partition as one share group consumes it."""

    group_id: str
    topic_id: UUID
    partition: int

    def as_coordinator_key(self) -> str:
        """``groupId:topicId:partition``: what FindCoordinator asks for, and what is hashed to find the partition."""
        return f"{self.group_id}:{encode_uuid(self.topic_id)}:{self.partition}"

    @classmethod
    def parse(cls, text: str) -> SharePartitionKey:
        """Parse a coordinator key. Raises ValueError."""
        tokens = text.split(":")
        if len(tokens) != 3:
            raise ValueError(f"Invalid key format: expected - groupId:topicId:partition, found -  {text}")
        group_id, topic_id, partition = tokens
        if not group_id.strip():
            raise ValueError("GroupId must be alphanumeric string")
        return cls(group_id.strip(), decode_uuid(topic_id), int(partition))


class PersisterStateBatch(NamedTuple):
    """Records, from ``first_offset`` to ``last_offset`` inclusive, of the same state."""

    first_offset: int
    last_offset: int
    delivery_state: int
    """0 available, 2 acknowledged, 4 archived. That records are acquired is not persisted."""

    delivery_count: int


class PartitionStateData(NamedTuple):
    """A partition's first state."""

    state_epoch: int
    """The group coordinator raises it when it initializes a partition again. Leaders of an older one are fenced."""

    start_offset: int
    """UNINITIALIZED_START_OFFSET: the leader shall find it by the group's ``share.auto.offset.reset``."""


class PartitionStateBatchData(NamedTuple):
    """A change of a partition's state by its leader."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    """UNINITIALIZED_START_OFFSET if it has not changed. Batches below it are forgotten."""

    state_batches: Sequence[PersisterStateBatch]
    """Changes. Where they overlap with a known batch, the higher delivery count wins, then the higher state."""


class PartitionErrorData(NamedTuple):
    """The outcome for a partition."""

    error: Errors = Errors.NONE
    message: str | None = None


class PartitionAllData(NamedTuple):
    """A partition's state; after an error, nothing but the error is meant."""

    state_epoch: int
    start_offset: int
    state_batches: Sequence[PersisterStateBatch]
    error: Errors = Errors.NONE
    message: str | None = None


class PartitionStateSummaryData(NamedTuple):
    """A partition's start offset; after an error, nothing but the error is meant."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    """UNINITIALIZED_START_OFFSET, too, if the coordinator does not know the partition."""

    error: Errors = Errors.NONE
    message: str | None = None


Respond = Callable[[Mapping[TopicIdPartition, PartitionErrorData]], None]


class Persister(ABC):
    """Keeps the states of share partitions.

    ::

        group coordinator ── initialize_state, delete_state, read_summary ──┐
                                                                            ├─▶ Persister ──▶ share coordinators
        partition's leader ── read_state, write_state ──────────────────────┘

    Each method returns at once and calls ``respond`` exactly once, in the caller's thread or another's, with an outcome
    for each of the partitions: the caller must hold no lock that ``respond`` takes. Nothing is raised. Errors that a
    later try would not get (COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, ...) are retried before they are reported.

    What a caller must expect per partition: FENCED_STATE_EPOCH and FENCED_LEADER_EPOCH (there is a newer one; the
    leader must let the partition go), INVALID_REQUEST (the state is not initialized), UNKNOWN_TOPIC_OR_PARTITION,
    GROUP_ID_NOT_FOUND, and what is left of failures: COORDINATOR_NOT_AVAILABLE, UNKNOWN_SERVER_ERROR.
    """

    @abstractmethod
    def initialize_state(
        self, group_id: str, partitions: Mapping[TopicIdPartition, PartitionStateData], respond: Respond
    ) -> None:
        """Give partitions a state without batches. An older state epoch than the known one is FENCED_STATE_EPOCH."""

    @abstractmethod
    def read_state(
        self,
        group_id: str,
        leader_epochs: Mapping[TopicIdPartition, int],
        respond: Callable[[Mapping[TopicIdPartition, PartitionAllData]], None],
    ) -> None:
        """Read states, and fence the leaders of older epochs than ``leader_epochs``.

        FENCED_LEADER_EPOCH if a newer leader has read or written; INVALID_REQUEST if the state is not initialized.
        """

    @abstractmethod
    def write_state(
        self, group_id: str, partitions: Mapping[TopicIdPartition, PartitionStateBatchData], respond: Respond
    ) -> None:
        """Change states. The change is durable once ``respond`` has been called with Errors.NONE.

        FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH; INVALID_REQUEST if the state is not initialized.
        """

    @abstractmethod
    def delete_state(self, group_id: str, partitions: Collection[TopicIdPartition], respond: Respond) -> None:
        """Forget states. That a partition has none is no error."""

    @abstractmethod
    def read_summary(
        self,
        group_id: str,
        leader_epochs: Mapping[TopicIdPartition, int],
        respond: Callable[[Mapping[TopicIdPartition, PartitionStateSummaryData]], None],
    ) -> None:
        """Read start offsets, for people who ask. Nobody is fenced by it."""

    @abstractmethod
    def stop(self) -> None:
        """Stop. What is pending is not responded to."""
