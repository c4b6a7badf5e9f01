"""WriteTxnMarkers: a transaction coordinator has the ends of transactions written into the logs of this broker.

Kafka 0.11: core/.../server/KafkaApis.scala (handleWriteTxnMarkersRequest) · book 10.3
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Protocol

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import Time
from kafka_lite.common.topic_names import GROUP_METADATA_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages.api_27_write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.produce_status import PartitionResponse
from kafka_lite.server.replica_manager import ReplicaManager

logger = logging.getLogger(__name__)

MarkersCallback = Callable[[WriteTxnMarkersResponse], None]
PartitionErrors = Mapping[TopicPartition, Errors]


class TxnCompletion(Protocol):
    """The group manager's part: offsets that a transaction has committed or aborted."""

    def __call__(self, producer_id: int, partitions: Collection[int], *, commit: bool) -> None:
        """The marker of a producer is in these partitions of ``__consumer_offsets``."""
        ...


class TxnMarkerApis:
    """Appends one control batch per transaction and partition, with acks=all."""

    def __init__(
        self, replica_manager: ReplicaManager, on_txn_completed: TxnCompletion, timeout_ms: int, time: Time
    ) -> None:
        self._replicas = replica_manager
        self._on_txn_completed = on_txn_completed
        self._timeout_ms = timeout_ms
        self._time = time

    def handle_write_txn_markers(self, _request: Request, body: WriteTxnMarkersRequest, respond: Respond) -> None:
        """Respond once all markers are replicated, or refused."""
        self.write(body, respond)

    def write(self, body: WriteTxnMarkersRequest, respond: MarkersCallback) -> None:
        """The same for a coordinator on this broker."""
        if not body.markers:
            respond(WriteTxnMarkersResponse())
            return
        results = _Results(body.markers, respond)
        for position, marker in enumerate(body.markers):
            self._write_marker(marker, lambda errors, at=position: results.add(at, errors))  # type: ignore[misc]

    def _write_marker(self, marker: WritableTxnMarker, on_written: Callable[[PartitionErrors], None]) -> None:
        refused = {tp: error for tp in _partitions(marker) if (error := self._check(tp)) is not Errors.NONE}
        written = [tp for tp in _partitions(marker) if tp not in refused]
        if not written:  # most of the work is that of the batch
            on_written(refused)
            return
        kind = ControlRecordType.COMMIT if marker.transaction_result else ControlRecordType.ABORT
        batch = EndTransactionMarker(kind, marker.coordinator_epoch).to_batch(
            marker.producer_id, marker.producer_epoch, self._time.milliseconds()
        )
        entries = {tp: bytearray(batch) for tp in written}

        def on_appended(responses: dict[TopicPartition, PartitionResponse]) -> None:
            errors = {tp: response.error for tp, response in responses.items()}
            on_written(refused | self._complete_offsets(marker, errors))

        self._replicas.append_records(self._timeout_ms, -1, True, entries, on_appended, AppendOrigin.COORDINATOR)

    def _check(self, topic_partition: TopicPartition) -> Errors:
        """NONE if a marker can be appended to the partition's log."""
        try:
            _, _, log = self._replicas.get_leader_log(topic_partition)
        except ApiError as failure:
            return failure.error
        return Errors.NONE if log.config.magic >= MAGIC_V2 else Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT

    def _complete_offsets(
        self, marker: WritableTxnMarker, errors: dict[TopicPartition, Errors]
    ) -> dict[TopicPartition, Errors]:
        """Let the group coordinator commit or drop the transaction's offsets, whose markers are replicated."""
        ended = [tp for tp, e in errors.items() if tp.topic == GROUP_METADATA_TOPIC_NAME and e is Errors.NONE]
        if ended:
            partitions = [topic_partition.partition for topic_partition in ended]
            self._on_txn_completed(marker.producer_id, partitions, commit=marker.transaction_result)
        return errors


class _Results:
    """Collects the results of a request's markers, which arrive in any thread, and responds after the last one."""

    def __init__(self, markers: Collection[WritableTxnMarker], respond: MarkersCallback) -> None:
        self._markers = markers
        self._respond = respond
        self._lock = threading.Lock()
        self._errors: dict[int, PartitionErrors] = {}

    def add(self, position: int, errors: PartitionErrors) -> None:
        """Add the errors of the marker at a position of the request."""
        with self._lock:
            self._errors[position] = errors
            is_complete = len(self._errors) == len(self._markers)
        if is_complete:
            self._respond(self._response())

    def _response(self) -> WriteTxnMarkersResponse:
        return WriteTxnMarkersResponse(
            markers=[
                WritableTxnMarkerResult(
                    producer_id=marker.producer_id,
                    topics=[
                        WritableTxnMarkerTopicResult(
                            name=topic.name,
                            partitions=[
                                WritableTxnMarkerPartitionResult(
                                    partition_index=index,
                                    error_code=self._errors[position][TopicPartition(topic.name, index)].code,
                                )
                                for index in topic.partition_indexes
                            ],
                        )
                        for topic in marker.topics
                    ],
                )
                for position, marker in enumerate(self._markers)
            ]
        )


def _partitions(marker: WritableTxnMarker) -> Iterator[TopicPartition]:
    for topic in marker.topics:
        for index in topic.partition_indexes:
            yield TopicPartition(topic.name, index)
