"""A share coordinator without a broker: a mock clock, and two partitions of ``__share_group_state`` in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_names import SHARE_GROUP_STATE_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.share import share_coordinator_records as records
from kafka_lite.coordinator.share.persister import (
    UNINITIALIZED_START_OFFSET,
    PartitionAllData,
    PartitionErrorData,
    PartitionStateBatchData,
    PartitionStateData,
    PartitionStateSummaryData,
    PersisterStateBatch,
    SharePartitionKey,
)
from kafka_lite.coordinator.share.share_coordinator import ShareCoordinator
from kafka_lite.coordinator.share.share_coordinator_config import ShareCoordinatorConfig
from kafka_lite.coordinator.share.share_coordinator_metrics import ShareCoordinatorMetrics
from kafka_lite.coordinator.share.share_coordinator_records import ShareRecord
from kafka_lite.metrics.metrics import Metrics
from tests.support.groups import MemoryOffsetsLog

GROUP = "group"
TOPIC_ID = UUID(int=2**64)
P0, P1, P2 = (TopicIdPartition(TOPIC_ID, number) for number in range(3))
KEY = SharePartitionKey(GROUP, *P0)
NUM_PARTITIONS = 2
AT_ONCE = ShareCoordinatorConfig(state_topic_num_partitions=NUM_PARTITIONS, append_linger_ms=0)
R = TypeVar("R")


def batch(first: int, last: int, state: int = 0, count: int = 1) -> PersisterStateBatch:
    """Records of one state."""
    return PersisterStateBatch(first, last, state, count)


class ShareCoordination:
    """A coordinator that leads both partitions; the cluster has one topic with three partitions."""

    def __init__(
        self,
        log: MemoryOffsetsLog | None = None,
        time: MockTime | None = None,
        config: ShareCoordinatorConfig = AT_ONCE,
        *,
        epoch: int | None = 0,
    ) -> None:
        self.time = time or MockTime()
        self.log = log or MemoryOffsetsLog()
        self.deleted: list[tuple[int, int]] = []
        """Partition of the state topic, and the offset before which its records were deleted."""
        self.cannot_delete: Errors | None = None
        self.topics = {TOPIC_ID: 3}
        self.metrics = Metrics(time=self.time)
        self.coordinator = ShareCoordinator(
            config,
            self.log,
            self._delete_records,
            lambda topic_id, partition: partition < self.topics.get(topic_id, 0),
            ShareCoordinatorMetrics(self.metrics),
            MockScheduler(self.time),
            self.time,
        )
        self.coordinator.startup(NUM_PARTITIONS)
        if epoch is not None:
            self.elect(epoch)

    def _delete_records(self, topic_partition: TopicPartition, offset: int) -> None:
        assert topic_partition.topic == SHARE_GROUP_STATE_TOPIC_NAME
        if self.cannot_delete is not None:
            raise self.cannot_delete.exception()
        self.deleted.append((topic_partition.partition, offset))
        self.log.log(topic_partition).log_start_offset = offset

    def elect(self, epoch: int) -> None:
        """Lead both partitions, and load them."""
        for partition in range(NUM_PARTITIONS):
            self.coordinator.on_election(partition, epoch)
        self.time.sleep(0)

    def resign(self, epoch: int | None) -> None:
        """Lead none."""
        for partition in range(NUM_PARTITIONS):
            self.coordinator.on_resignation(partition, epoch)

    def logged(self) -> list[ShareRecord]:
        """The records of both partitions, one partition after the other."""
        found = [
            records.decode(bytes(record.key or b""), record.value)
            for partition in range(NUM_PARTITIONS)
            for record in self.log.log(TopicPartition(SHARE_GROUP_STATE_TOPIC_NAME, partition)).records()
        ]
        return [record for record in found if record is not None]

    # ── requests for one partition: the responses so far ──────────────────────────────────────────────────────────

    def initialize(
        self, start_offset: int = 0, state_epoch: int = 0, partition: TopicIdPartition = P0
    ) -> list[PartitionErrorData]:
        """Initialize a partition."""
        data = {partition: PartitionStateData(state_epoch, start_offset)}
        return _results(lambda respond: self.coordinator.initialize_state(GROUP, data, respond))

    def write(
        self,
        *batches: PersisterStateBatch,
        start_offset: int = UNINITIALIZED_START_OFFSET,
        leader_epoch: int = 0,
        state_epoch: int = 0,
        partition: TopicIdPartition = P0,
    ) -> list[PartitionErrorData]:
        """Change a partition's state."""
        data = {partition: PartitionStateBatchData(state_epoch, leader_epoch, start_offset, batches)}
        return _results(lambda respond: self.coordinator.write_state(GROUP, data, respond))

    def read(self, leader_epoch: int = 0, partition: TopicIdPartition = P0) -> list[PartitionAllData]:
        """Read a partition's state as its leader."""
        return _results(lambda respond: self.coordinator.read_state(GROUP, {partition: leader_epoch}, respond))

    def delete(self, partition: TopicIdPartition = P0) -> list[PartitionErrorData]:
        """Forget a partition."""
        return _results(lambda respond: self.coordinator.delete_state(GROUP, [partition], respond))

    def summary(self, partition: TopicIdPartition = P0) -> list[PartitionStateSummaryData]:
        """Read a partition's offset."""
        return _results(lambda respond: self.coordinator.read_summary(GROUP, {partition: -1}, respond))


def _results(call: Callable[[Callable[[Mapping[TopicIdPartition, R]], None]], None]) -> list[R]:
    results: list[R] = []
    call(lambda response: results.extend(response.values()))
    return results
