"""The thread that sends batches from the accumulator to the leaders, and completes or retries them.

Kafka 0.10.2: clients/.../producer/internals/Sender.java · book 2.1.2
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import cast

from kafka_lite.clients.api_versions import ApiVersions
from kafka_lite.clients.client_request import ClientResponse, RequestBuilder
from kafka_lite.clients.cluster import Node
from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.network_client import NetworkClient
from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.producer.buffer_pool import ProducerClosedError
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.record_accumulator import RecordAccumulator
from kafka_lite.producer.sender_metrics import SenderMetrics
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.producer.transactional_requests import TransactionalRequests
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.conversion import down_convert
from kafka_lite.record.record import MAGIC_V0, MAGIC_V1, MAGIC_V2, NO_TIMESTAMP

logger = logging.getLogger(__name__)

INVALID_METADATA = frozenset({
    Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.NOT_LEADER_OR_FOLLOWER, Errors.LEADER_NOT_AVAILABLE,
    Errors.NETWORK_EXCEPTION, Errors.KAFKA_STORAGE_ERROR, Errors.FENCED_LEADER_EPOCH,
})  # fmt: skip
"""Errors that suggest that another broker leads the partition by now."""

PERHAPS_APPENDED = frozenset({
    Errors.NETWORK_EXCEPTION, Errors.REQUEST_TIMED_OUT, Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    Errors.KAFKA_STORAGE_ERROR, Errors.UNKNOWN_SERVER_ERROR,
})  # fmt: skip
"""Errors after which the leader may have appended the batch all the same, and later batches as well."""

PRODUCE_VERSIONS = {MAGIC_V0: (0, 1), MAGIC_V1: (2, 2), MAGIC_V2: (3, 11)}
"""The versions of Produce for each message format."""
ZSTD_VERSIONS = (7, 11)
TRANSACTION_V2_VERSION = 12
"""The version with which the leader adds partitions to the transaction (KIP-890). Those before leave that to us."""


class Sender(ShutdownableThread):
    """Each turn: find leaders with ready batches, connect to them, and send one request to each.

    ::

        RecordAccumulator ─ ready ─▶ leaders ─ client.ready ─▶ connected ─ drain ─▶ {node: [batch, …]}
                  ▲                                                                      │ one ProduceRequest per node
                  └── reenqueue ◀── retriable error ◀── response, per partition ◀── NetworkClient.poll
                                    callbacks, deallocate ◀── success, or an error for good
    """

    def __init__(
        self,
        name: str,
        client: NetworkClient,
        metadata: Metadata,
        accumulator: RecordAccumulator,
        *,
        acks: int,
        retries: int,
        max_request_size_bytes: int,
        request_timeout_ms: float,
        retry_backoff_ms: float,
        delivery_timeout_ms: float,
        guarantee_message_order: bool,
        api_versions: ApiVersions,
        compression: CompressionType = CompressionType.NONE,
        transaction_manager: TransactionManager | None = None,
        metrics: SenderMetrics | None = None,
        time: Time = SYSTEM_TIME,
    ) -> None:
        super().__init__(name)
        self._client = client
        self._metadata = metadata
        self._accumulator = accumulator
        self._acks = acks
        self._retries = retries
        self._max_request_size_bytes = max_request_size_bytes
        self._request_timeout_ms = request_timeout_ms
        self._retry_backoff_ms = retry_backoff_ms
        self._delivery_timeout_ms = delivery_timeout_ms
        self._guarantee_message_order = guarantee_message_order
        self._api_versions = api_versions
        self._compression = compression
        self._transactions = transaction_manager
        self._transactional_requests = (
            None
            if transaction_manager is None
            else TransactionalRequests(transaction_manager, client, retry_backoff_ms)
        )
        self._metrics = metrics or SenderMetrics(Metrics(time=time), time=time)
        self._time = time
        self._in_flight: dict[ProducerBatch, None] = {}
        self._force_close = False

    # ── the loop ──────────────────────────────────────────────────────────────────────────────────────────────────

    def do_work(self) -> None:
        """One turn. An exception in it is a bug, and must not end the producer's only thread."""
        try:
            self.run_once()
        except Exception:
            logger.exception("Uncaught error in kafka producer I/O thread")
            self._time.sleep(10)  # so that a bug does not fill the disk with logs

    def wake_up(self) -> None:
        """Wake up the thread, because there is something to do."""
        self._client.wakeup()

    def force_close(self) -> None:
        """End at once, without sending what is left."""
        self._force_close = True
        self.initiate_shutdown()
        self.wake_up()

    def on_exit(self) -> None:
        """Send what is left, abort an open transaction, then close; or give it up if closed by force."""
        try:
            while not self._force_close and (
                self._accumulator.has_undrained or self._in_flight or self._awaits_responses
            ):
                self.do_work()
            if self._transactions is not None:
                self._end_transaction(self._transactions)
            self._metadata.fail(ProducerClosedError("Producer closed while waiting for metadata"))
            self._accumulator.abort_incomplete_batches(ProducerClosedError("Producer is closed forcefully."))
        finally:
            self._client.close()

    def _end_transaction(self, manager: TransactionManager) -> None:
        while not self._force_close and (manager.has_ongoing_transaction or manager.has_pending_call):
            if manager.has_ongoing_transaction and not manager.is_completing:
                logger.info("Aborting incomplete transaction due to shutdown")
                manager.abort_on_close()
            self.do_work()
        manager.fail_calls(ProducerClosedError("The producer is closed"))

    @property
    def _awaits_responses(self) -> bool:
        return self._accumulator.has_incomplete and self._client.in_flight_request_count() > 0

    def run_once(self) -> None:
        """Send what is ready, and handle responses."""
        now_ms = self._time.hi_res_ms()
        timeout_ms = min(self._send_transactional_request(now_ms), self._send_producer_data(now_ms))
        self._client.poll(timeout_ms, now_ms)
        error = self._metadata.authentication_error
        if error is not None and self._transactions is not None:
            self._transactions.fail_calls(error)

    # ── batches ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _send_producer_data(self, now_ms: float) -> float:
        """Send what is ready; returns how long the next turn may wait, ms."""
        cluster = self._metadata.fetch()
        result = self._accumulator.ready(cluster, now_ms)
        if result.unknown_leader_topics:
            for topic in result.unknown_leader_topics:
                self._metadata.add(topic)  # it may have expired as unused
            self._metadata.request_update()
        nodes, not_ready_ms = self._connected(sorted(result.ready_nodes, key=lambda node: node.id), now_ms)
        drained = self._accumulator.drain(cluster, nodes, self._max_request_size_bytes, now_ms)
        if self._guarantee_message_order:
            for batches in drained.values():
                for batch in batches:
                    self._accumulator.mute_partition(batch.topic_partition)
        self._expire(now_ms)
        self._send_produce_requests(drained, now_ms)
        if any(drained.values()):
            return 0  # there may be more for those nodes
        return min(result.next_ready_check_delay_ms, not_ready_ms, self._next_expiry_ms(now_ms))

    def _connected(self, nodes: Iterable[Node], now_ms: float) -> tuple[list[Node], float]:
        """The nodes that are ready, and the shortest backoff of the others, ms."""
        connected, not_ready_ms = [], math.inf
        for node in nodes:
            if self._client.ready(node, now_ms):
                connected.append(node)
            else:
                not_ready_ms = min(not_ready_ms, self._client.connection_delay_ms(node, now_ms))
        return connected, not_ready_ms

    def _next_expiry_ms(self, now_ms: float) -> float:
        # Batches that were given up only wait for their responses.
        oldest = min((batch.created_ms for batch in self._in_flight if not batch.is_done), default=math.inf)
        in_flight_ms = max(0.0, oldest + self._delivery_timeout_ms - now_ms)
        return min(self._accumulator.next_expiry_ms(now_ms), in_flight_ms)

    def _expire(self, now_ms: float) -> None:
        """Give up batches after ``delivery.timeout.ms``, whether they are queued or in flight.

        The accumulator removes those that are queued. One in flight stays there until its request has ended.
        """
        for batch in self._accumulator.expired_batches(now_ms):
            self._give_up(batch, now_ms)
        for batch in self._in_flight:
            if batch.has_reached_delivery_timeout(self._delivery_timeout_ms, now_ms):
                self._give_up(batch, now_ms)

    def _give_up(self, batch: ProducerBatch, now_ms: float) -> None:
        """Fail a batch that took too long with its ``expired_error``; a no-op for one that was given up before.

        The metrics count its records as failed. If it is in flight, it may still be appended: the transaction manager
        learns of its end, and the accumulator gets its memory, with the response (``_forget``). Otherwise both happen
        here: the manager's ``failed`` comes first, and no broker has refused the batch.
        """
        error = batch.expired_error(now_ms)
        if self._transactions is not None and not batch.in_flight:
            self._transactions.failed(batch, error, broker_has_refused=False)
        if batch.abort(error):
            self._metrics.failed(batch.topic_partition.topic, batch.record_count)
            if not batch.in_flight:
                # The memory of a batch in flight is in use until its request has completed.
                self._accumulator.deallocate(batch)

    def _send_produce_requests(self, drained: dict[int, list[ProducerBatch]], now_ms: float) -> None:
        for node_id, batches in drained.items():
            if batches:
                self._send_produce_request(node_id, batches, now_ms)

    def _send_produce_request(self, node_id: int, batches: list[ProducerBatch], now_ms: float) -> None:
        """Send one request to a broker, in the newest format that all its batches allow."""
        magic = min(self._api_versions.max_usable_produce_magic, *(batch.magic for batch in batches))
        try:
            request = produce_request(batches, magic, self._acks, self._request_timeout_ms, self._transactional_id)
        except Exception as error:
            logger.exception("Failed to convert batches for node %d to message format v%d", node_id, magic)
            outcome = outcome_of(Errors.UNKNOWN_SERVER_ERROR, f"not sent: {error}")
            for batch in batches:
                batch.in_flight = False
            self._complete_all(batches, outcome, now_ms)
            return
        by_partition = {batch.topic_partition: batch for batch in batches}
        self._in_flight.update(dict.fromkeys(batches))
        oldest, latest = ZSTD_VERSIONS if self._compression is CompressionType.ZSTD else PRODUCE_VERSIONS[magic]
        if self._transactions is not None and self._transactions.is_v2:
            oldest = latest = TRANSACTION_V2_VERSION
        builder = RequestBuilder.of(request, oldest, latest)
        callback = partial(self._handle_produce_response, by_partition)
        client_request = self._client.new_client_request(str(node_id), builder, now_ms, self._acks != 0, callback)
        self._client.send(client_request, now_ms)
        self._metrics.request_sent(batches, now_ms)

    # ── responses ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _handle_produce_response(self, batches: dict[TopicPartition, ProducerBatch], response: ClientResponse) -> None:
        now_ms = response.received_time_ms
        for batch in batches.values():
            batch.in_flight = False
            self._in_flight.pop(batch, None)
        if response.was_disconnected:
            outcome = outcome_of(Errors.NETWORK_EXCEPTION, f"Disconnected from node {response.destination}")
            self._complete_all(batches.values(), outcome, now_ms)
        elif response.version_mismatch is not None:
            outcome = outcome_of(Errors.UNSUPPORTED_VERSION, str(response.version_mismatch))
            self._complete_all(batches.values(), outcome, now_ms)
        elif response.response is None:
            self._metrics.response_received(response.destination, response.request_latency_ms, 0, now_ms)
            self._complete_all(batches.values(), outcome_of(Errors.NONE), now_ms)  # acks=0: the broker does not respond
        else:
            result = cast(ProduceResponse, response.response)
            latency_ms, throttle_time_ms = response.request_latency_ms, result.throttle_time_ms
            self._metrics.response_received(response.destination, latency_ms, throttle_time_ms, now_ms)
            self._handle_partitions(batches, result, now_ms)

    def _complete_all(self, batches: Iterable[ProducerBatch], outcome: PartitionProduceResponse, now_ms: float) -> None:
        for batch in batches:
            self._complete_batch(batch, outcome, now_ms)

    def _handle_partitions(
        self, batches: dict[TopicPartition, ProducerBatch], response: ProduceResponse, now_ms: float
    ) -> None:
        left = dict(batches)
        for topic in response.responses:
            for each in topic.partition_responses:
                batch = left.pop(TopicPartition(topic.name, each.index), None)
                if batch is not None:
                    self._complete_batch(batch, each, now_ms)
        outcome = outcome_of(Errors.UNKNOWN_SERVER_ERROR, "the broker's response does not contain the partition")
        self._complete_all(left.values(), outcome, now_ms)

    def _complete_batch(self, batch: ProducerBatch, outcome: PartitionProduceResponse, now_ms: float) -> None:
        """End one batch, or send it once more.

        It succeeds without an error, and as a duplicate if it has a sequence number: an earlier attempt was appended.
        With an error, a batch that was given up in flight is forgotten, one of several records that is too large is
        split, one that can be retried goes back (counted as retried), and any other fails. In each case an error of
        ``INVALID_METADATA`` requests an update, and the next batch may be drained if the order is guaranteed.
        """
        error = Errors.for_code(outcome.error_code)
        if error is Errors.NONE or (error is Errors.DUPLICATE_SEQUENCE_NUMBER and batch.has_sequence):
            self._succeed(batch, outcome)
        elif batch.is_done:
            self._forget(batch, error)  # it was given up, and only its memory was still in use
        elif error is Errors.MESSAGE_TOO_LARGE and batch.record_count > 1:
            self._split(batch)
        elif self._can_retry(batch, error, now_ms):
            logger.warning(
                "Got error produce response on %s, retrying (%s attempts left). Error: %s",
                batch.topic_partition, self._retries - batch.attempts - 1, outcome.error_message or error.name,
            )  # fmt: skip
            self._accumulator.reenqueue(batch, now_ms)
            self._metrics.retried(batch.topic_partition.topic, batch.record_count)
        else:
            self._fail(batch, error, outcome)
        if error in INVALID_METADATA:
            self._metadata.request_update()
        if self._guarantee_message_order:
            self._accumulator.unmute_partition(batch.topic_partition)

    def _can_retry(self, batch: ProducerBatch, error: Errors, now_ms: float) -> bool:
        """Whether a batch that has failed with ``error`` may be sent once more.

        In time and with ``retries`` left: if the error is retriable, or if a transaction manager says that this batch
        can be retried after it.
        """
        if batch.has_reached_delivery_timeout(self._delivery_timeout_ms, now_ms) or batch.attempts >= self._retries:
            return False
        return error.retriable or (self._transactions is not None and self._transactions.can_retry(batch, error))

    def _split(self, batch: ProducerBatch) -> None:
        parts = self._accumulator.split_and_reenqueue(batch)
        self._metrics.split()
        logger.warning("Batch for %s was too large for the broker: split into %d", batch.topic_partition, parts)

    def _succeed(self, batch: ProducerBatch, outcome: PartitionProduceResponse) -> None:
        if self._transactions is not None:
            self._transactions.completed(batch)
        batch.complete(outcome.base_offset, outcome.log_append_time_ms)
        self._accumulator.deallocate(batch)

    def _forget(self, batch: ProducerBatch, error: Errors) -> None:
        if self._transactions is not None:
            # An earlier attempt may have appended the batch, whatever the outcome of this one.
            has_refused = error not in PERHAPS_APPENDED and batch.attempts == 0
            exception = error.exception(f"{batch.topic_partition}: {error.message}")
            self._transactions.failed(batch, exception, broker_has_refused=has_refused)
        self._accumulator.deallocate(batch)

    def _fail(self, batch: ProducerBatch, error: Errors, outcome: PartitionProduceResponse) -> None:
        if batch.fail(errors_of_records(error, outcome, batch)):
            self._metrics.failed(batch.topic_partition.topic, batch.record_count)
        self._forget(batch, error)

    # ── transactions and the producer id ──────────────────────────────────────────────────────────────────────────

    @property
    def _transactional_id(self) -> str | None:
        return None if self._transactions is None else self._transactions.transactional_id

    def _send_transactional_request(self, now_ms: float) -> float:
        """Send what the producer id or the transaction needs; returns how long the next turn may wait, ms."""
        if self._transactions is None or self._transactional_requests is None:
            return math.inf
        self._transactions.maybe_resolve()
        error = self._transactions.error_of_new_batches()
        if error is not None:
            self._fail_undrained(error, self._transactions.has_fatal_error)
        return self._transactional_requests.maybe_send(self._accumulator.has_incomplete, now_ms)

    def _fail_undrained(self, error: Exception, is_fatal: bool) -> None:
        """Fail what was not sent. The outcome of a retried batch must be known before its transaction is aborted."""
        taken = self._accumulator.take_undrained() if is_fatal else self._accumulator.take_unnumbered()
        for batch in taken:
            batch.abort(error)
            self._accumulator.deallocate(batch)


def produce_request(
    batches: Sequence[ProducerBatch], magic: int, acks: int, timeout_ms: float, transactional_id: str | None = None
) -> ProduceRequest:
    """The batches by topic and partition, converted down if they are newer than ``magic``."""
    topics: dict[str, list[PartitionProduceData]] = {}
    for batch in batches:
        records: Buffer = batch.records
        if batch.magic > magic:
            records = down_convert(records, magic)
        data = PartitionProduceData(index=batch.topic_partition.partition, records=records)
        topics.setdefault(batch.topic_partition.topic, []).append(data)
    topic_data = [TopicProduceData(name=name, partition_data=data) for name, data in topics.items()]
    request = ProduceRequest(acks=acks, timeout_ms=int(timeout_ms), topic_data=topic_data)
    if transactional_id is not None:
        request.transactional_id = transactional_id
    return request


def outcome_of(error: Errors, message: str | None = None) -> PartitionProduceResponse:
    """An outcome without a broker's response."""
    return PartitionProduceResponse(
        error_code=error.code, base_offset=-1, log_append_time_ms=NO_TIMESTAMP, error_message=message
    )


def errors_of_records(
    error: Errors, outcome: PartitionProduceResponse, batch: ProducerBatch
) -> Callable[[int], Exception]:
    """The error of each record. The broker may have said which records it refused (KIP-467)."""
    text = f"{batch.topic_partition}: {outcome.error_message or error.message}"
    refused = {each.batch_index: each.batch_index_error_message for each in outcome.record_errors}
    if not refused or batch.record_count == 1:
        only = next(iter(refused.values()), None)
        return lambda _place: error.exception(only or text)

    def error_of(place: int) -> Exception:
        if place in refused:
            return error.exception(refused[place] or text)
        return error.exception(
            f"{batch.topic_partition}: the batch was rejected because of the records at {sorted(refused)}"
        )

    return error_of
