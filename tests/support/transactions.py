"""A transaction coordinator without a broker, as ``LabCoordinator`` is, but one that can fail and wait in more ways.

It has several ids and two partitions of ``__transaction_state`` in memory, and other brokers lead some partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from kafka_learn.labs.coordinators import TIMEOUT_MS, metadata_of, response_to
from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction import transaction_log
from kafka_lite.coordinator.transaction.transaction_config import TransactionConfig
from kafka_lite.coordinator.transaction.transaction_coordinator import (
    EndTxnResult,
    InitProducerIdResult,
    TransactionCoordinator,
)
from kafka_lite.coordinator.transaction.transaction_marker_channel_manager import TransactionMarkerChannelManager
from kafka_lite.coordinator.transaction.transaction_metadata import (
    TransactionMetadata,
)
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from kafka_lite.coordinator.transaction.transaction_state_manager import TransactionStateManager
from kafka_lite.protocol.messages.api_27_write_txn_markers import (
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from tests.support.groups import MemoryOffsetsLog

TXN_ID = "my-id"
EXPIRATION_MS = 3600_000
EXPIRATION_CHECK_MS = 600_000
THIS_BROKER, OTHER_BROKER = 0, 1
Marker = tuple[TopicPartition, int, int, int, bool]
"""Partition, producer id, its epoch, coordinator epoch, whether it commits."""


class Transactions:
    """A separate coordinator, which leads all partitions of ``__transaction_state``."""

    def __init__(
        self, log: MemoryOffsetsLog | None = None, time: MockTime | None = None, *, epoch: int = 0, loaded: bool = True
    ) -> None:
        self.transaction_version = 0
        """The finalized level of the feature."""
        self.time = time or MockTime()
        self.log = log or MemoryOffsetsLog()
        self.scheduler = MockScheduler(self.time)
        config = TransactionConfig(
            topic_num_partitions=2,
            transactional_id_expiration_ms=EXPIRATION_MS,
            remove_expired_interval_ms=EXPIRATION_CHECK_MS,
        )
        self.manager = TransactionStateManager(
            config, self.log, self.scheduler, self.time, lambda: self.transaction_version
        )
        self.leaders: dict[TopicPartition, int | None] = {}
        """The leaders that are not this broker."""
        self.marker_errors: dict[TopicPartition, Errors] = {}
        self.written: list[Marker] = []
        self.held: list[Callable[[], None]] | None = None
        """A list: responses to requests for markers wait in it."""
        self.sent: list[int] = []
        """The brokers to which requests for markers were sent."""
        self.markers = TransactionMarkerChannelManager(
            THIS_BROKER,
            lambda topic_partition: self.leaders.get(topic_partition, THIS_BROKER),
            self._write,
            self._send,
            lambda _broker_id: None,
            self.manager,
            self.scheduler,
        )
        self.next_producer_id = 1000
        self.coordinator = TransactionCoordinator(
            self.manager, self.markers, self._generate_producer_id, self.scheduler, self.time
        )
        self.coordinator.startup(2)
        if loaded:
            self.elect(epoch)

    def elect(self, epoch: int) -> None:
        """Lead both partitions, and load them."""
        for partition in range(2):
            self.coordinator.on_election(partition, epoch)
        self.time.sleep(0)

    def _generate_producer_id(self) -> int:
        self.next_producer_id += 1
        return self.next_producer_id - 1

    def _write(self, request: WriteTxnMarkersRequest, respond: Callable[[WriteTxnMarkersResponse], None]) -> None:
        def complete() -> None:
            respond(response_to(request, self._write_one(request)))

        if self.held is None:
            complete()
        else:
            self.held.append(complete)

    def _write_one(self, request: WriteTxnMarkersRequest) -> Callable[[TopicPartition], Errors]:
        only = request.markers[0]

        def write(topic_partition: TopicPartition) -> Errors:
            error = self.marker_errors.get(topic_partition, Errors.NONE)
            if error is Errors.NONE:
                marker = (only.producer_id, only.producer_epoch, only.coordinator_epoch, only.transaction_result)
                self.written.append((topic_partition, *marker))
            return error

        return write

    def _send(self, broker_id: int, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
        self.sent.append(broker_id)
        return response_to(request, lambda _topic_partition: Errors.NONE)

    def release_markers(self) -> None:
        """Complete the waiting requests for markers, and hold no others."""
        held, self.held = self.held or [], None
        for complete in held:
            complete()

    def put(self, state: TransactionState, **changes: Any) -> TransactionMetadata:
        """An id in a state, as if it had been read from the log."""
        return self.manager.put_if_absent(metadata_of(TXN_ID, state, self.time.milliseconds(), **changes))[1]

    def metadata(self, transactional_id: str = TXN_ID) -> TransactionMetadata:
        """The id, which must exist."""
        metadata = self.manager.get(transactional_id)[1]
        assert metadata is not None
        return metadata

    @property
    def state(self) -> TransactionState:
        """The state of the only id."""
        return self.metadata().state

    def init(
        self, expected: tuple[int, int] | None = None, transactional_id: str = TXN_ID, timeout_ms: int = TIMEOUT_MS
    ) -> InitProducerIdResult | None:
        """Send InitProducerId; None if there is no response yet."""
        results: list[InitProducerIdResult] = []
        named = None if expected is None else ProducerIdAndEpoch(*expected)
        self.coordinator.handle_init_producer_id(transactional_id, timeout_ms, named, results.append)
        return results[0] if results else None

    def start(self) -> ProducerIdAndEpoch:
        """InitProducerId, which must succeed."""
        result = self.init()
        assert result is not None
        assert result.error is Errors.NONE
        return result.producer

    def add(
        self,
        producer: tuple[int, int],
        partitions: Collection[TopicPartition],
        transactional_id: str = TXN_ID,
        client_version: int = 0,
    ) -> Errors | None:
        """Send AddPartitionsToTxn; None if there is no response yet."""
        errors: list[Errors] = []
        self.coordinator.handle_add_partitions(
            transactional_id, ProducerIdAndEpoch(*producer), partitions, errors.append, client_version
        )
        return errors[0] if errors else None

    def end(self, producer: tuple[int, int], *, commit: bool, transactional_id: str = TXN_ID) -> Errors | None:
        """Send EndTxn; None if there is no response yet."""
        errors: list[Errors] = []
        self.coordinator.handle_end_transaction(transactional_id, ProducerIdAndEpoch(*producer), commit, errors.append)
        return errors[0] if errors else None

    def end_and_bump(self, producer: tuple[int, int], *, commit: bool) -> EndTxnResult | None:
        """Send EndTxn 5; None if there is no response yet."""
        results: list[EndTxnResult] = []
        self.coordinator.handle_bumped_end(TXN_ID, ProducerIdAndEpoch(*producer), commit, results.append)
        return results[0] if results else None

    def logged(self) -> list[tuple[str, TransactionState | None]]:
        """The ids and states in the log, in order of each partition; None for a tombstone."""
        return [
            (
                transaction_log.read_key(record.key or b"") or "",
                None if record.value is None else transaction_log.read_value(record.value).state,
            )
            for log in self.log.logs.values()
            for record in log.records()
        ]

    def restart(self, epoch: int = 1) -> Transactions:
        """As after a kill of the broker: another coordinator with the same log and clock."""
        log = MemoryOffsetsLog()
        log.logs = self.log.logs
        other = Transactions(log, self.time, loaded=False)
        other.transaction_version = self.transaction_version
        other.next_producer_id = self.next_producer_id
        other.leaders, other.marker_errors = self.leaders, self.marker_errors
        other.elect(epoch)
        return other
