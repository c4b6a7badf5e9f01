"""A thread that fetches partitions from one broker, one request at a time. Subclasses process the records.

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
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.record.record import CorruptRecordError

logger = logging.getLogger(__name__)

_LEVELS_OF_PASSING_ERRORS = {
    Errors.NOT_LEADER_OR_FOLLOWER: logging.DEBUG,
    Errors.UNKNOWN_LEADER_EPOCH: logging.DEBUG,
    Errors.FENCED_LEADER_EPOCH: logging.INFO,
    Errors.UNKNOWN_TOPIC_OR_PARTITION: logging.WARNING,
    Errors.UNKNOWN_TOPIC_ID: logging.WARNING,
    Errors.INCONSISTENT_TOPIC_ID: logging.WARNING,
}


class PartitionFetchState(NamedTuple):
    """A partition's fetch offset, and when it may be fetched (ms of the monotonic clock; 0: at once)."""

    offset: int
    not_before_ms: float = 0

    def is_active(self, now_ms: float) -> bool:
        """Whether the partition is in the next request."""
        return now_ms >= self.not_before_ms


class FetchRequest(Protocol):
    """A request from ``build_fetch_request``, which knows its fetch offsets."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no partitions."""
        ...

    def offset(self, partition: TopicPartition) -> int:
        """The fetch offset of a partition in the request."""
        ...


class FetchedPartition(Protocol):
    """The response for one partition, from ``fetch``."""

    @property
    def error(self) -> Errors:
        """NONE, or why there are no records."""
        ...

    @property
    def high_watermark(self) -> int:
        """The leader's high watermark."""
        ...

    @property
    def records(self) -> FetchedRecords:
        """The fetched records."""
        ...


REQ = TypeVar("REQ", bound=FetchRequest)
PD = TypeVar("PD", bound=FetchedPartition)


class AbstractFetcherThread(ShutdownableThread, Generic[REQ, PD]):
    """Each turn sends a fetch request for all partitions and handles the response.

    ::

        response for a partition          what happens
        ────────────────────────────────  ──────────────────────────────────────────────────────────────────────
        records                           process_partition_data; the offset moves on, the partition to the end
        OFFSET_OUT_OF_RANGE               handle_offset_out_of_range returns the next offset
        another error, damaged records    handle_partitions_with_errors, after the whole response was handled
        for an outdated offset            nothing: the partition was removed or moved to another offset since

    The lock is held while a response is handled, so that after ``remove_partitions`` none of the partitions is being
    processed. It is not held while the request is in flight.
    """

    def __init__(
        self,
        name: str,
        client_id: str,
        source_broker: BrokerEndPoint,
        fetch_back_off_ms: float = 0,
        *,
        registry: MetricsRegistry,
        time: Time,
    ) -> None:
        super().__init__(name)
        self.source_broker = source_broker
        self._fetch_back_off_ms = fetch_back_off_ms
        self._time = time
        self._partition_states: PartitionStates[PartitionFetchState] = PartitionStates()
        self._partition_map_cond = threading.Condition()
        self.fetcher_stats = FetcherStats(registry, time, client_id, source_broker)
        self.fetcher_lag_stats = FetcherLagStats(registry, time, client_id)

    # ── what subclasses define ────────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def process_partition_data(self, partition: TopicPartition, fetch_offset: int, data: PD) -> None:
        """Process the records. A CorruptRecordError, ApiError or MemoryError counts as an error of the partition."""

    @abstractmethod
    def handle_offset_out_of_range(self, partition: TopicPartition) -> int:
        """The next offset of a partition whose offset is out of range, or that never had one.

        Raises KafkaError or OSError if it cannot be determined now.
        """

    @abstractmethod
    def handle_partitions_with_errors(self, partitions: Collection[TopicPartition]) -> None:
        """Handle failed partitions, which may have a new leader. Called without the lock."""

    @abstractmethod
    def build_fetch_request(self, partitions: Sequence[tuple[TopicPartition, PartitionFetchState]]) -> REQ:
        """A request for the active ones of the partitions, in this order."""

    @abstractmethod
    def fetch(self, request: REQ) -> list[tuple[TopicPartition, PD]]:
        """Send the request and wait for the response. Raises KafkaError or OSError."""

    # ── the loop ──────────────────────────────────────────────────────────────────────────────────────────────────

    def do_work(self) -> None:
        """Send one request, or back off if there is nothing to fetch."""
        with self._partition_map_cond:
            request = self.build_fetch_request(self._partition_states.items())
            if request.is_empty:
                self._back_off()
        if not request.is_empty:
            self._process_fetch_request(request)

    def wake_up(self) -> None:
        """End a backoff. If another thread holds the lock, this one is not backing off, so there is nothing to do."""
        if self._partition_map_cond.acquire(blocking=False):
            self._partition_map_cond.notify_all()
            self._partition_map_cond.release()

    def shutdown(self, timeout_s: float | None = None) -> None:
        """End the thread, wait for it, and remove its metrics."""
        super().shutdown(timeout_s)
        self.fetcher_stats.unregister()
        self.fetcher_lag_stats.unregister()

    def _back_off(self) -> None:
        """Wait, with the lock held, until the backoff ends or partitions are added."""
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
                    and not self.process_response(partition, state, data)
                ):
                    self._partition_states.move_to_end(partition)
                    with_errors.append(partition)
        if with_errors:
            self.handle_partitions_with_errors(with_errors)

    def _all_failed(self) -> list[TopicPartition]:
        """All partitions, which have failed because no response came. Backs off before the next request."""
        with self._partition_map_cond:
            partitions = list(self._partition_states)
            self._back_off()
        return partitions

    def process_response(self, partition: TopicPartition, state: PartitionFetchState, data: PD) -> bool:
        """Handle the response for a partition, with the lock held; false if the partition has failed."""
        match data.error:
            case Errors.NONE:
                return self._process_records(partition, state, data)
            case Errors.OFFSET_OUT_OF_RANGE:
                return self._reset_offset(partition, state)
        if self.is_running:
            self._log_error(partition, data.error)
        return False

    def _log_error(self, partition: TopicPartition, error: Errors) -> None:
        """Every change of leaders, and every new or deleted topic, causes some errors for a moment: no reason to alarm.

        Their levels are those of Kafka since 2.1.
        """
        level = _LEVELS_OF_PASSING_ERRORS.get(error, logging.ERROR)
        logger.log(level, "Error for partition %s to broker %s: %s", partition, self.source_broker, error.name)

    def _process_records(self, partition: TopicPartition, state: PartitionFetchState, data: PD) -> bool:
        try:
            next_offset = data.records.next_offset
            new_offset = state.offset if next_offset is None else next_offset
            self.fetcher_lag_stats.set_lag(partition, max(0, data.high_watermark - new_offset))
            self.process_partition_data(partition, state.offset, data)
        except CorruptRecordError as error:
            # It may have been damaged in transit, or read while the leader truncated its log: fetch it again.
            logger.error("Found invalid messages during fetch of %s offset %d: %s", partition, state.offset, error)
            return False
        except (ApiError, MemoryError) as error:
            logger.error("Error processing data of %s from offset %d on: %r", partition, state.offset, error)
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

    # ── partitions ─────────────────────────────────────────────────────────────────────────────────────────────────

    def add_partitions(self, partitions_and_offsets: Mapping[TopicPartition, int]) -> None:
        """Fetch more partitions. For a negative offset, ``handle_offset_out_of_range`` is called, which may raise.

        Partitions that are being fetched already keep their offsets.
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
        """Do not fetch these partitions for a while, unless they are delayed already."""
        with self._partition_map_cond:
            now_ms = self._time.hi_res_ms()
            for partition in partitions:
                state = self._partition_states.state_value(partition)
                if state is not None and state.is_active(now_ms):
                    delayed = PartitionFetchState(state.offset, now_ms + delay_ms)
                    self._partition_states.update_and_move_to_end(partition, delayed)
            self._partition_map_cond.notify_all()

    def remove_partitions(self, partitions: Iterable[TopicPartition]) -> None:
        """Stop fetching partitions. Once this returns, none of them is being processed."""
        with self._partition_map_cond:
            for partition in partitions:
                self._partition_states.remove(partition)
                self.fetcher_lag_stats.unregister(partition)

    @property
    def partition_count(self) -> int:
        """The number of partitions. Does not take the lock."""
        return len(self._partition_states)
