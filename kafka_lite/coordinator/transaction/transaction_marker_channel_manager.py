"""Sends the markers of decided transactions to the leaders of their partitions.

Kafka 0.11: core/.../coordinator/transaction/TransactionMarkerChannelManager.scala,
TransactionMarkerRequestCompletionHandler.scala · book 10.3
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

from kafka_lite.clients.broker_senders import BrokerSenders
from kafka_lite.common.errors import Errors
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.marker_sender import MarkerSender, SendMarkers
from kafka_lite.coordinator.transaction.pending_completion import Markers, PendingCompletion
from kafka_lite.coordinator.transaction.transaction_state_manager import TransactionStateManager
from kafka_lite.protocol.messages.api_27_write_txn_markers import WriteTxnMarkersRequest, WriteTxnMarkersResponse

logger = logging.getLogger(__name__)

RETRY_BACKOFF_MS = 100
NO_LEADER = -1

NEEDS_NO_MARKER = frozenset({Errors.NONE, Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT, Errors.UNSUPPORTED_VERSION})
"""The marker is written, or the partition cannot have one: its log is in an old format."""
FENCED = frozenset({Errors.INVALID_PRODUCER_EPOCH, Errors.TRANSACTION_COORDINATOR_FENCED})
"""A newer coordinator has ended the transaction. After any other error the marker is sent again."""

LeaderOf = Callable[[TopicPartition], int | None]
"""The broker id of a partition's leader; -1 if it has none at the moment, None if the partition does not exist."""
WriteMarkers = Callable[[WriteTxnMarkersRequest, Callable[[WriteTxnMarkersResponse], None]], None]
"""Writes markers into logs of this broker, and then calls back."""


class TransactionMarkerChannelManager:
    """Writes the markers of a decided transaction into all its partitions, then ends it.

    ::

        decided ──▶ leader? ─┬─ this broker ──▶ WriteMarkers ─────────┬─▶ written: the partition leaves the transaction
                       ▲     └─ another ──▶ MarkerSender of that broker ┘      │
                       └──── otherwise, after a pause ◀───────────────────────┴─▶ none is left: CompleteCommit or
                                                                                  CompleteAbort goes to the log

    This broker's own partitions need no hand-over to another thread. So if there are no others, and no followers, the
    transaction has ended before the producer gets the response to EndTxn, and it can begin the next one at once.
    """

    def __init__(
        self,
        broker_id: int,
        leader_of: LeaderOf,
        write_here: WriteMarkers,
        send: SendMarkers,
        abort: Callable[[int], None],
        manager: TransactionStateManager,
        scheduler: Scheduler,
    ) -> None:
        self._broker_id = broker_id
        self._leader_of = leader_of
        self._write_here = write_here
        self._senders = BrokerSenders(lambda leader: MarkerSender(leader, send, abort, self._on_response))
        self._manager = manager
        self._scheduler = scheduler
        self._lock = threading.Lock()
        self._without_leader = 0
        self._to_retry = 0

    @property
    def markers_without_leader(self) -> int:
        """How many transactions have markers for partitions without a leader."""
        return self._without_leader

    @property
    def completions_to_retry(self) -> int:
        """How many transactions have all their markers, but their end could not be appended."""
        return self._to_retry

    def shutdown(self) -> None:
        """Stop sending. The next coordinator finds the decisions in the log and sends the remaining markers."""
        self._senders.shutdown()

    def add(self, completion: PendingCompletion, partitions: Collection[TopicPartition]) -> None:
        """Write the markers of a transaction, then its end."""
        self._route(completion, partitions)
        self._maybe_finish(completion)

    # ── markers ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _route(self, completion: PendingCompletion, partitions: Iterable[TopicPartition]) -> None:
        by_leader: dict[int | None, list[TopicPartition]] = defaultdict(list)
        for topic_partition in sorted(partitions):
            by_leader[self._leader_of(topic_partition)].append(topic_partition)
        for leader, led in by_leader.items():
            if leader is None:
                names = ", ".join(map(str, led))
                logger.info("%s does not exist: no marker of %s", names, completion.metadata.transactional_id)
                completion.remove(led)
            elif leader == NO_LEADER:
                self._wait_for_leader(completion, led)
            else:
                self._deliver(leader, Markers(completion, tuple(led)))

    def _deliver(self, leader: int, markers: Markers) -> None:
        if leader != self._broker_id:
            sender = self._senders.get(leader)
            if sender is not None:
                sender.put(markers)
            return
        request = WriteTxnMarkersRequest(markers=[markers.to_request_part()])
        self._write_here(request, lambda response: self._on_response([markers], response))

    def _wait_for_leader(self, completion: PendingCompletion, partitions: Collection[TopicPartition]) -> None:
        with self._lock:
            self._without_leader += 1

        def route_again() -> None:
            with self._lock:
                self._without_leader -= 1
            self._route_again(completion, partitions)

        self._scheduler.schedule("txn-markers", route_again, RETRY_BACKOFF_MS)

    def _route_again(self, completion: PendingCompletion, partitions: Collection[TopicPartition]) -> None:
        if not self._senders.is_closed and completion.is_current(self._manager):
            self._route(completion, partitions)
            self._maybe_finish(completion)

    def _on_response(self, sent: Collection[Markers], response: WriteTxnMarkersResponse | None) -> None:
        """``response`` is None if there was none: the broker may be down, or not have it any more."""
        errors = {} if response is None else _errors(response)
        for markers in sent:
            of_producer = errors.get(markers.producer_id, {})
            self._on_written(markers, {tp: of_producer.get(tp) for tp in markers.partitions})

    def _on_written(self, markers: Markers, errors: dict[TopicPartition, Errors | None]) -> None:
        completion = markers.completion
        if any(error in FENCED for error in errors.values()):
            logger.info("Markers of %s are fenced by a newer coordinator", completion.metadata.transactional_id)
            return
        completion.remove(tp for tp, error in errors.items() if error in NEEDS_NO_MARKER)
        left = [tp for tp, error in errors.items() if error not in NEEDS_NO_MARKER]
        if left:
            retry = lambda: self._route_again(completion, left)  # noqa: E731
            self._scheduler.schedule("txn-markers", retry, RETRY_BACKOFF_MS)
        self._maybe_finish(completion)

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _maybe_finish(self, completion: PendingCompletion) -> None:
        if completion.may_finish():
            self._finish(completion)

    def _finish(self, completion: PendingCompletion) -> None:
        """Append the end. After a temporary error try again: the transaction is decided, and its markers are there."""

        def on_appended(error: Errors) -> None:
            if error is Errors.COORDINATOR_NOT_AVAILABLE:
                with self._lock:
                    self._to_retry += 1
                self._scheduler.schedule("txn-completion", finish_again, RETRY_BACKOFF_MS)

        def finish_again() -> None:
            with self._lock:
                self._to_retry -= 1
            if not self._senders.is_closed:
                self._finish(completion)

        self._manager.append(
            completion.metadata,
            completion.coordinator_epoch,
            completion.transit,
            on_appended,
            stay_pending_after=(Errors.COORDINATOR_NOT_AVAILABLE,),
        )


def _errors(response: WriteTxnMarkersResponse) -> dict[int, dict[TopicPartition, Errors]]:
    """The error of each partition, by producer id."""
    errors: dict[int, dict[TopicPartition, Errors]] = defaultdict(dict)
    for marker in response.markers:
        for topic in marker.topics:
            for partition in topic.partitions:
                topic_partition = TopicPartition(topic.name, partition.partition_index)
                errors[marker.producer_id][topic_partition] = Errors.for_code(partition.error_code)
    return errors
