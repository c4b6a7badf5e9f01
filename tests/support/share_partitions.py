"""A share partition on a made-up log, with a clock and a persister that the test moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.purgatory.timer import SystemTimer
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.modern.share_group_config import ShareGroupConfig
from kafka_lite.coordinator.share.persister import PartitionStateData, SharePartitionKey
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.share.acknowledgement import ShareAcknowledgementBatch
from kafka_lite.server.share.acquisition import Acquired
from kafka_lite.server.share.acquisition_lock_timer import AcquisitionLockTimer
from kafka_lite.server.share.record_state import ACCEPT, SharePartitionState
from kafka_lite.server.share.share_group_metrics import ShareGroupMetrics
from kafka_lite.server.share.share_partition import ReadBatches, SharePartition
from tests.support.in_memory_persister import InMemoryPersister

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")
KEY = SharePartitionKey("g", TOPIC_ID, 0)
PARTITION = TopicIdPartition(TOPIC_ID, 0)
LOCK_MS = 30_000


class Batch(NamedTuple):
    """The header of a batch in a log."""

    base_offset: int
    last_offset: int


class SharedLog:
    """Batches of a log, and what groups on its leader have of them."""

    def __init__(self, *batches: tuple[int, int], **config: object) -> None:
        """``config``: fields of ShareGroupConfig that are not the default."""
        self.batches = [Batch(*each) for each in batches]
        self.config = ShareGroupConfig(**config)  # type: ignore[arg-type]
        self.time = MockTime()
        self.registry = MetricsRegistry()
        self.metrics = ShareGroupMetrics(self.registry, self.time)
        self.timer = SystemTimer(time=self.time)
        self.persister = InMemoryPersister()
        self.persister.initialize_state("g", {PARTITION: PartitionStateData(1, 0)}, lambda _results: None)
        self.failures: list[Errors] = []
        """Errors of acknowledgements and releases."""
        self.woken = 0
        self.epoch = 0
        self.partition = self.new_leader()

    def new_leader(self) -> SharePartition:
        """Another leader takes over; returns its share partition, initialized."""
        self.epoch += 1
        self.partition = SharePartition(
            KEY,
            self.epoch,
            lambda: self.config,
            lambda _strategy: self.batches[0].base_offset if self.batches else 0,
            self.persister,
            AcquisitionLockTimer(0, self.timer, reaper_enabled=False),
            self._wake,
            self.metrics.of_partition(KEY.group_id, TopicPartition("t", KEY.partition)),
        )
        self.partition.maybe_initialize(self._note)
        return self.partition

    def _wake(self) -> None:
        self.woken += 1

    def _note(self, failure: ApiError | None) -> None:
        if failure is not None:
            self.failures.append(failure.error)

    def read(self, offset: int, max_batches: int = 100) -> list[Batch]:
        """The batches from that which has the offset on."""
        return [each for each in self.batches if each.last_offset >= offset][:max_batches]

    def fetch(
        self, member: str, max_records: int = 500, *, max_batches: int = 100, batch_size: int = 500
    ) -> list[Acquired]:
        """What a fetch of the member acquires."""
        offset = self.partition.next_fetch_offset()
        read = ReadBatches(offset, self.read(offset, max_batches))
        return self.partition.acquire(member, read, max_records, batch_size)

    def acknowledge(self, member: str, first: int, last: int, types: int | Sequence[int] = ACCEPT) -> list[Errors]:
        """Acknowledge a range; returns the error, if there is one by now."""
        before = len(self.failures)
        batch = ShareAcknowledgementBatch(first, last, [types] if isinstance(types, int) else types)
        self.partition.acknowledge(member, [batch], self._note)
        return self.failures[before:]

    def close_session(self, member: str) -> None:
        """The member closes its session."""
        self.partition.release_acquired_records(member, self._note)

    def sleep(self, ms: float) -> None:
        """Let time pass, and locks expire."""
        self.time.sleep(ms)
        self.timer.advance_clock(0)

    @property
    def persisted(self) -> list[tuple[int, int, int, int]]:
        """What the persister has: first and last offset, state, delivery count."""
        return [tuple(each) for each in self.persister.states[KEY].batches()]  # type: ignore[misc]

    @property
    def is_active(self) -> bool:
        """Whether the leader delivers."""
        return self.partition.state is SharePartitionState.ACTIVE
