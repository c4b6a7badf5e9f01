"""A transaction coordinator without a broker, for the labs' tests: a mock clock, a log in a folder, no network.

Its modules are imported when a test makes one, after those that the learner replaces have been installed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_names import TRANSACTION_STATE_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction import transaction_log
from kafka_lite.coordinator.transaction.transaction_config import TransactionConfig
from kafka_lite.coordinator.transaction.transaction_coordinator import InitProducerIdResult, TransactionCoordinator
from kafka_lite.coordinator.transaction.transaction_marker_channel_manager import TransactionMarkerChannelManager
from kafka_lite.coordinator.transaction.transaction_metadata import (
    TransactionMetadata,
    TxnTransitMetadata,
    new_transactional_id,
)
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from kafka_lite.coordinator.transaction.transaction_state_manager import TransactionStateManager
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.producers.verification_state_entry import VerificationGuard
from kafka_lite.protocol.messages.api_27_write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from kafka_lite.record.records import batches

TXN_ID = "transfers"
TIMEOUT_MS = 60_000
FIRST_PRODUCER_ID = 1000
A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
_STATE_LOG = TopicPartition(TRANSACTION_STATE_TOPIC_NAME, 0)


class Marker(NamedTuple):
    """A marker that a partition has got."""

    partition: TopicPartition
    producer_epoch: int
    commit: bool


class _Appended(NamedTuple):
    error: Errors
    base_offset: int


def metadata_of(transactional_id: str, state: TransactionState, now_ms: int, **changes: Any) -> TransactionMetadata:
    """An id in a state, with producer id 7, epoch 3 and a timeout of ``TIMEOUT_MS``; ``changes`` are other fields."""
    fields = vars(new_transactional_id(7, TIMEOUT_MS, now_ms)) | {"producer_epoch": 3, "state": state}
    return TransactionMetadata(transactional_id, TxnTransitMetadata(**(fields | changes)))


def response_to(
    request: WriteTxnMarkersRequest, error_of: Callable[[TopicPartition], Errors]
) -> WriteTxnMarkersResponse:
    """A response to a request for markers, with an error or NONE for each partition."""
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(
                                partition_index=index, error_code=error_of(TopicPartition(topic.name, index)).code
                            )
                            for index in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in request.markers
        ]
    )


class TransactionStateLog:
    """The only partition of ``__transaction_state``. While ``held`` is a list, responses to appends wait in it."""

    def __init__(self, folder: Path, time: MockTime) -> None:
        self.log = Log(folder, LogConfig({"retention.ms": "-1"}), 0, MockScheduler(time), time)
        self.error = Errors.NONE
        """The error of the next appends."""
        self.held: list[Callable[[], None]] | None = None

    def append_records(
        self,
        _timeout_ms: int,
        _required_acks: int,
        _internal_topics_allowed: bool,
        entries: Mapping[TopicPartition, Buffer],
        respond: Callable[[Mapping[TopicPartition, Any]], None],
        origin: AppendOrigin = AppendOrigin.CLIENT,
        _verification_guards: Mapping[TopicPartition, VerificationGuard] | None = None,
    ) -> None:
        """Append, or fail with ``error``."""
        results = {}
        for topic_partition, records in entries.items():
            offset = -1
            if self.error is Errors.NONE:
                offset = self.log.append_as_leader(records, 0, origin).first_offset
            results[topic_partition] = _Appended(self.error, offset)
        if self.held is None:
            respond(results)
        else:
            self.held.append(lambda: respond(results))

    def release(self) -> None:
        """Send the responses that wait, and hold no others."""
        held, self.held = self.held or [], None
        for send in held:
            send()

    def get_leader_log(self, _topic_partition: TopicPartition, _leader_epoch: int = -1) -> Any:
        """This log, which the broker leads alone."""
        alone = SimpleNamespace(high_watermark=LogOffsetMetadata(self.log.log_end_offset))
        return None, alone, self.log

    def states(self) -> list[str]:
        """The states in the log, in order."""
        records = self.log.read(0, 1 << 20).records
        data = records if isinstance(records, Buffer) else records.to_bytes()
        values = [record.value for batch in batches(data) for record in batch.records()]
        return [transaction_log.read_value(value).state.title for value in values if value is not None]


class LabCoordinator:
    """A coordinator of one id. Its broker leads the partitions of the topic, too."""

    def __init__(
        self, folder: Path, *, state_log: TransactionStateLog | None = None, epoch: int = 0, first_id: int | None = None
    ) -> None:
        self.time = MockTime()
        self.state_log = state_log or TransactionStateLog(folder / f"{_STATE_LOG}", self.time)
        self._folder = folder
        scheduler = MockScheduler(self.time)
        self.manager = TransactionStateManager(
            TransactionConfig(topic_num_partitions=1), self.state_log, scheduler, self.time
        )
        self.markers: list[Marker] = []
        self.is_holding_markers = False
        """If true, no marker is written."""
        self._next_id = FIRST_PRODUCER_ID if first_id is None else first_id
        channel = TransactionMarkerChannelManager(
            0, lambda _: 0, self._write, _send_nothing, lambda _: None, self.manager, scheduler
        )
        self.coordinator = TransactionCoordinator(self.manager, channel, self._new_id, scheduler, self.time)
        self.coordinator.startup(1)
        self.coordinator.on_election(0, epoch)
        self.time.sleep(0)

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _write(self, request: WriteTxnMarkersRequest, respond: Callable[[WriteTxnMarkersResponse], None]) -> None:
        if self.is_holding_markers:
            return
        for marker in request.markers:
            for topic in marker.topics:
                for index in topic.partition_indexes:
                    partition = TopicPartition(topic.name, index)
                    self.markers.append(Marker(partition, marker.producer_epoch, marker.transaction_result))
        respond(response_to(request, lambda _topic_partition: Errors.NONE))

    def restart(self) -> LabCoordinator:
        """The next coordinator, after a crash of this one: it has only the log."""
        return LabCoordinator(self._folder, state_log=self.state_log, epoch=1, first_id=self._next_id)

    def put(self, state: TransactionState, **changes: Any) -> TransactionMetadata:
        """An id in a state, as if it had been read from the log: producer id 7 with epoch 3."""
        return self.manager.put_if_absent(metadata_of(TXN_ID, state, self.time.milliseconds(), **changes))[1]

    @property
    def metadata(self) -> TransactionMetadata:
        """The id, which must exist."""
        metadata = self.manager.get(TXN_ID)[1]
        assert metadata is not None, f"the coordinator does not know {TXN_ID}"
        return metadata

    @property
    def state(self) -> str:
        """The state of the id."""
        return self.metadata.state.title

    def init(self, expected: tuple[int, int] | None = None) -> InitProducerIdResult:
        """Send InitProducerId."""
        results: list[InitProducerIdResult] = []
        named = None if expected is None else ProducerIdAndEpoch(*expected)
        self.coordinator.handle_init_producer_id(TXN_ID, TIMEOUT_MS, named, results.append)
        assert results, "InitProducerId has got no response"
        return results[0]

    def add(self, producer: tuple[int, int], *partitions: TopicPartition) -> str:
        """Send AddPartitionsToTxn; returns the name of the error, or ``no response``."""
        return self._send(self.coordinator.handle_add_partitions, producer, partitions)

    def end(self, producer: tuple[int, int], *, commit: bool) -> str:
        """Send EndTxn; returns the name of the error, or ``no response``."""
        return self._send(self.coordinator.handle_end_transaction, producer, commit)

    @staticmethod
    def _send(handle: Callable[..., None], producer: tuple[int, int], what: Collection[TopicPartition] | bool) -> str:
        errors: list[Errors] = []
        handle(TXN_ID, ProducerIdAndEpoch(*producer), what, errors.append)
        return errors[0].name if errors else "no response"


def _send_nothing(_broker_id: int, _request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    raise AssertionError("markers were sent to another broker: this one leads all partitions")
