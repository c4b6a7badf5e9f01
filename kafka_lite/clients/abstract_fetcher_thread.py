"""Fetches several partitions from one broker, one request after the other; what it is for, subclasses say.

Kafka 0.10.2: core/.../server/AbstractFetcherThread.scala (PartitionFetchState, FetchRequest) · book 3.3.2
"""

from __future__ import annotations

import logging
import threading
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.clients.fetched_records import FetchedRecords
from kafka_lite.clients.fetcher_stats import FetcherLagStats, FetcherStats
from kafka_lite.clients.partition_states import PartitionStates
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.record.record import CorruptRecordError

logger = logging.getLogger(__name__)


class PartitionFetchState(NamedTuple):
    """From where to fetch a partition, and not before when (ms of the monotonic clock; 0: at once)."""

    offset: int
    not_before_ms: float = 0

    def is_active(self, now_ms: float) -> bool:
        """Whether the partition belongs into the next request."""
        return now_ms >= self.not_before_ms


class FetchRequest(Protocol):
    """What ``build_fetch_request`` returns: a request that knows what was asked for."""

    @property
    def is_empty(self) -> bool:
        """Whether it asks for nothing."""
        ...

    def offset(self, partition: TopicPartition) -> int:
        """The offset that was asked for."""
        ...


class FetchedPartition(Protocol):
    """What ``fetch`` returns for each partition."""

    @property
    def error(self) -> Errors:
        """NONE, or why there is nothing."""
        ...

    @property
    def high_watermark(self) -> int:
        """How far the leader's log is replicated."""
        ...

    @property
    def records(self) -> FetchedRecords:
        """What was read."""
        ...


REQ = TypeVar("REQ", bound=FetchRequest)
PD = TypeVar("PD", bound=FetchedPartition)


class AbstractFetcherThread(ShutdownableThread, Generic[REQ, PD]):
    """One turn: a fetch request for all partitions that may be fetched, and what follows from the answer.

    ::

        answer for a partition            what happens
        ────────────────────────────────  ──────────────────────────────────────────────────────────────────────
        records                           process_partition_data, then the offset moves on and the turn passes on
        OFFSET_OUT_OF_RANGE               handle_offset_out_of_range says where to go on
        another error, damaged records    handle_partitions_with_errors, after the answer has been gone through
        for an offset not asked for now   nothing: the partition was removed, or set to another offset, meanwhile

    The lock is held while an answer is gone through, so that after ``remove_partitions`` nothing more of them is
    processed. It is free while the request is under way.
    """

    def __init__(
        self,
        name: str,
        client_id: str,
        source_broker: BrokerEndPoint,
        fetch_back_off_ms: float = 0,
        *,
        registry: MetricsRegistry | None = None,
        time: Time = SYSTEM_TIME,
    ) -> None:
        super().__init__(name)
        registry = registry if registry is not None else MetricsRegistry()
        self.source_broker = source_broker
        self._fetch_back_off_ms = fetch_back_off_ms
        self._time = time
        self._partition_states: PartitionStates[PartitionFetchState] = PartitionStates()
        self._partition_map_cond = threading.Condition()
        self.fetcher_stats = FetcherStats(registry, time, client_id, source_broker)
        self.fetcher_lag_stats = FetcherLagStats(registry, time, client_id)

    # ── What subclasses define ────────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def process_partition_data(self, partition: TopicPartition, fetch_offset: int, data: PD) -> None:
        """Do with the records what the fetcher is for. A CorruptRecordError counts as an error of the partition."""

    @abstractmethod
    def handle_offset_out_of_range(self, partition: TopicPartition) -> int:
        """Where to go on with a partition whose offset the leader does not have (or that never had one).

        Raises KafkaError or OSError when that cannot be found out now.
        """

    @abstractmethod
    def handle_partitions_with_errors(self, partitions: Collection[TopicPartition]) -> None:
        """Deal with partitions that failed, perhaps because they have another leader. Called without the lock."""

    @abstractmethod
    def build_fetch_request(self, partitions: Sequence[tuple[TopicPartition, PartitionFetchState]]) -> REQ:
        """A request for those of the partitions that are active, in this order."""

    @abstractmethod
    def fetch(self, request: REQ) -> list[tuple[TopicPartition, PD]]:
        """Send it and wait for the answer. Raises KafkaError or OSError."""

    # ── The loop ──────────────────────────────────────────────────────────────────────────────────────────────────

    def do_work(self) -> None:
        """One request; without anything to ask for, a rest."""
        with self._partition_map_cond:
            request = self.build_fetch_request(self._partition_states.items())
            if request.is_empty:
                self._back_off()
        if not request.is_empty:
            self._process_fetch_request(request)

    def wake_up(self) -> None:
        """End a rest. Whoever holds the lock is not resting, so it is not waited for."""
        if self._partition_map_cond.acquire(blocking=False):
            self._partition_map_cond.notify_all()
            self._partition_map_cond.release()

    def shutdown(self, timeout_s: float | None = None) -> None:
        """End the thread, wait for that, and take its metrics away."""
        super().shutdown(timeout_s)
        self.fetcher_stats.unregister()
        self.fetcher_lag_stats.unregister()

    def _back_off(self) -> None:
        """Rest, with the lock held; added partitions end it."""
        self._time.wait(self._partition_map_cond, max(self._fetch_back_off_ms, 1))

    def _process_fetch_request(self, request: REQ) -> None:
        with_errors: list[TopicPartition] = []
        fetched: list[tuple[TopicPartition, PD]] = []
        try:
            fetched = self.fetch(request)
        except (KafkaError, OSError) as error:
            if self.is_running:
                logger.warning("Error in fetch from broker %s: %s", self.source_broker, error)
                with_errors = self._all_failed()
        self.fetcher_stats.request_rate.mark()
        with self._partition_map_cond:
            for partition, data in fetched:
                state = self._partition_states.state_value(partition)
                if (
                    state is not None
                    and request.offset(partition) == state.offset
                    and not self._process_answer(partition, state, data)
                ):
                    self._partition_states.move_to_end(partition)
                    with_errors.append(partition)
        if with_errors:
            self.handle_partitions_with_errors(with_errors)

    def _all_failed(self) -> list[TopicPartition]:
        """No answer came: all partitions have failed. Rest, for the next request would hardly fare better."""
        with self._partition_map_cond:
            partitions = list(self._partition_states)
            self._back_off()
        return partitions

    def _process_answer(self, partition: TopicPartition, state: PartitionFetchState, data: PD) -> bool:
        """False when the partition has failed."""
        match data.error:
            case Errors.NONE:
                return self._process_records(partition, state, data)
            case Errors.OFFSET_OUT_OF_RANGE:
                return self._reset_offset(partition, state)
        if self.is_running:
            logger.error("Error for partition %s to broker %s: %s", partition, self.source_broker, data.error.name)
        return False

    def _process_records(self, partition: TopicPartition, state: PartitionFetchState, data: PD) -> bool:
        try:
            next_offset = data.records.next_offset
            new_offset = state.offset if next_offset is None else next_offset
            self.fetcher_lag_stats.set_lag(partition, max(0, data.high_watermark - new_offset))
            self.process_partition_data(partition, state.offset, data)
        except CorruptRecordError as error:
            # Perhaps damaged on the way, or read while the leader truncated: it is fetched again.
            logger.error("Found invalid messages during fetch of %s offset %d: %s", partition, state.offset, error)
            return False
        if next_offset is not None:
            self._partition_states.update_and_move_to_end(partition, PartitionFetchState(new_offset))
            self.fetcher_stats.byte_rate.mark(data.records.valid_bytes)
        return True

    def _reset_offset(self, partition: TopicPartition, state: PartitionFetchState) -> bool:
        try:
            new_offset = self.handle_offset_out_of_range(partition)
        except (KafkaError, OSError) as error:
            logger.error(
                "Error getting offset for partition %s from broker %s: %s", *(partition, self.source_broker, error)
            )
            return False
        self._partition_states.update_and_move_to_end(partition, PartitionFetchState(new_offset))
        logger.error(
            "Current offset %d for partition %s out of range; reset offset to %d", state.offset, partition, new_offset
        )
        return True

    # ── Which partitions ──────────────────────────────────────────────────────────────────────────────────────────

    def add_partitions(self, partitions_and_offsets: Mapping[TopicPartition, int]) -> None:
        """Fetch these too, from these offsets on; a negative one asks ``handle_offset_out_of_range``, which may raise.

        Partitions that are there already keep their offsets.
        """
        with self._partition_map_cond:
            new = {
                partition: PartitionFetchState(self.handle_offset_out_of_range(partition) if offset < 0 else offset)
                for partition, offset in partitions_and_offsets.items()
                if partition not in self._partition_states
            }
            self._partition_states.set(dict(self._partition_states.items()) | new)
            self._partition_map_cond.notify_all()

    def delay_partitions(self, partitions: Iterable[TopicPartition], delay_ms: float) -> None:
        """Leave these out for a while, unless they are already."""
        with self._partition_map_cond:
            now_ms = self._time.hi_res_ms()
            for partition in partitions:
                state = self._partition_states.state_value(partition)
                if state is not None and state.is_active(now_ms):
                    delayed = PartitionFetchState(state.offset, now_ms + delay_ms)
                    self._partition_states.update_and_move_to_end(partition, delayed)
            self._partition_map_cond.notify_all()

    def remove_partitions(self, partitions: Iterable[TopicPartition]) -> None:
        """Fetch these no longer; once this returns, none of them is being processed."""
        with self._partition_map_cond:
            for partition in partitions:
                self._partition_states.remove(partition)
                self.fetcher_lag_stats.unregister(partition)

    @property
    def partition_count(self) -> int:
        """How many partitions there are; does not wait for the lock."""
        return len(self._partition_states)
