"""Asks the transaction coordinators whether partitions are part of a transaction, or to make them part of it.

Kafka 3.6: core/.../server/AddPartitionsToTxnManager.scala · book 10.3
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum, auto
from typing import NamedTuple

from kafka_lite.clients.broker_senders import BrokerRequests, BrokerSenders
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.api_24_add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

logger = logging.getLogger(__name__)

FIRST_VERSION_OF_BROKERS, LAST_VERSION = 4, 5


class TransactionSupportedOperation(Enum):
    """The part that a client leaves to the partition's leader, by the version of its request."""

    DEFAULT_ERROR = auto()
    """Verify only. The client has added the partition, and does not know TRANSACTION_ABORTABLE."""
    GENERIC_ERROR_SUPPORTED = auto()
    """Verify only. The client knows TRANSACTION_ABORTABLE."""
    ADD_PARTITION = auto()
    """Add the partition (KIP-890, part 2). The epoch of such a producer is raised with every transaction."""

    @property
    def supports_epoch_bump(self) -> bool:
        """Whether the partition is added, and not only verified."""
        return self is TransactionSupportedOperation.ADD_PARTITION

    @staticmethod
    def of_produce(version: int) -> TransactionSupportedOperation:
        """That of a Produce request."""
        return _of(version, FIRST_PRODUCE_WITH_ABORTABLE)

    @staticmethod
    def of_txn_offset_commit(version: int) -> TransactionSupportedOperation:
        """That of a TxnOffsetCommit request."""
        return _of(version, FIRST_TXN_OFFSET_COMMIT_WITH_ABORTABLE)


FIRST_PRODUCE_WITH_ABORTABLE, FIRST_TXN_OFFSET_COMMIT_WITH_ABORTABLE = 11, 4


def _of(version: int, first_with_abortable: int) -> TransactionSupportedOperation:
    if version > first_with_abortable:
        return TransactionSupportedOperation.ADD_PARTITION
    if version == first_with_abortable:
        return TransactionSupportedOperation.GENERIC_ERROR_SUPPORTED
    return TransactionSupportedOperation.DEFAULT_ERROR


PartitionErrors = Mapping[TopicPartition, Errors]
"""The partitions that could not be verified."""
VerifyHere = Callable[[str, ProducerIdAndEpoch, Collection[TopicPartition]], PartitionErrors]
"""Asks this broker's coordinator."""
AddHere = Callable[[str, ProducerIdAndEpoch, Collection[TopicPartition], Callable[[Errors], None]], None]
"""Has this broker's coordinator add the partitions, and then calls back."""


class Verification(NamedTuple):
    """Partitions of one transaction, of which the coordinator is asked whether it has them, or which it is to add."""

    transactional_id: str
    producer: ProducerIdAndEpoch
    partitions: Collection[TopicPartition]
    operation: TransactionSupportedOperation
    respond: Callable[[PartitionErrors], None]
    start_ms: float


class AddPartitionsToTxnManager:
    """Asks this broker's own coordinator directly, and the others by AddPartitionsToTxn (``verify_only``, or not).

    ::

        add_or_verify ─ coordinator? ─┬─ this broker ──▶ VerifyHere, AddHere ──────────────────┬─▶ respond
                                      ├─ another ──▶ VerificationSender of that broker ─ wire ─┘
                                      └─ none ──▶ COORDINATOR_NOT_AVAILABLE
    """

    def __init__(
        self,
        broker_id: int,
        coordinator_of: Callable[[str], int | None],
        verify_here: VerifyHere,
        add_here: AddHere,
        brokers: BrokerRequests,
        registry: MetricsRegistry,
        time: Time,
    ) -> None:
        """``coordinator_of`` returns the broker id of an id's coordinator; None if none is available."""
        self._broker_id = broker_id
        self._coordinator_of = coordinator_of
        self._verify_here = verify_here
        self._add_here = add_here
        self._time = time
        beans = KafkaMetricsGroup(registry, time, "kafka.server", "AddPartitionsToTxnManager")
        self._failures = beans.new_meter("VerificationFailureRate", "failures")
        self._times = beans.new_histogram("VerificationTimeMs")
        self._senders = BrokerSenders(lambda coordinator: VerificationSender(coordinator, brokers, self._complete))

    def shutdown(self) -> None:
        """Stop. Pending verifications are not completed: their clients' connections close, too."""
        self._senders.shutdown()

    def add_or_verify(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
        operation: TransactionSupportedOperation,
        respond: Callable[[PartitionErrors], None],
    ) -> None:
        """Call ``respond`` once with the errors of partitions that are not part of the transaction: now, or in another
        thread."""
        start_ms = self._time.hi_res_ms()
        verification = Verification(transactional_id, producer, partitions, operation, respond, start_ms)
        coordinator = self._coordinator_of(transactional_id)
        if coordinator == self._broker_id:
            self._ask_here(verification)
            return
        sender = None if coordinator is None else self._senders.get(coordinator)
        if sender is None:
            self._complete(verification, dict.fromkeys(partitions, Errors.COORDINATOR_NOT_AVAILABLE))
        else:
            sender.put(verification)

    def _ask_here(self, asked: Verification) -> None:
        if asked.operation.supports_epoch_bump:

            def complete(error: Errors) -> None:
                self._complete(asked, dict.fromkeys(asked.partitions, error))

            self._add_here(asked.transactional_id, asked.producer, asked.partitions, complete)
        else:
            self._complete(asked, self._verify_here(asked.transactional_id, asked.producer, asked.partitions))

    def _complete(self, verification: Verification, errors: PartitionErrors) -> None:
        failed = {
            topic_partition: _for_client(error, verification.operation)
            for topic_partition, error in errors.items()
            if error is not Errors.NONE
        }
        if failed:
            self._failures.mark(len(failed))
        self._times.update(self._time.hi_res_ms() - verification.start_ms)
        verification.respond(failed)


class VerificationSender(ShutdownableThread):
    """Sends what is to be verified by one other broker: all that is waiting in one request, one request at a time."""

    def __init__(
        self, broker_id: int, brokers: BrokerRequests, complete: Callable[[Verification, PartitionErrors], None]
    ) -> None:
        super().__init__(f"AddPartitionsToTxnSenderThread-{broker_id}")
        self._broker_id = broker_id
        self._brokers = brokers
        self._complete = complete
        self._changed = threading.Condition(threading.Lock())
        self._waiting: dict[str, Verification] = {}
        """By transactional id."""
        self._version: int | None = None
        """The version of the requests; -1 if the broker has none for verification, None if it is not known."""

    def put(self, verification: Verification) -> None:
        """Send it with the next request.

        If one of the same id is waiting, its client has given up waiting for the response, or it is a zombie: the one
        with the older epoch is refused; of the same epoch, the newer one is sent.
        """
        refused = None
        with self._changed:
            waiting = self._waiting.get(verification.transactional_id)
            if waiting is not None and waiting.producer.epoch > verification.producer.epoch:
                refused, error = verification, Errors.INVALID_PRODUCER_EPOCH
            else:
                self._waiting[verification.transactional_id] = verification
                self._changed.notify()
                if waiting is not None:
                    is_retry = waiting.producer.epoch == verification.producer.epoch
                    refused = waiting
                    error = Errors.NETWORK_EXCEPTION if is_retry else Errors.INVALID_PRODUCER_EPOCH
        if refused is not None:
            self._complete(refused, dict.fromkeys(refused.partitions, error))

    def wake_up(self) -> None:
        """Interrupt the wait for verifications, or for a response."""
        with self._changed:
            self._changed.notify()
        self._brokers.abort(self._broker_id)

    def do_work(self) -> None:
        """Wait for verifications, send all that are there, and complete them."""
        with self._changed:
            while self.is_running and not self._waiting:
                self._changed.wait()
            sent, self._waiting = self._waiting, {}
        if not self.is_running:
            return
        errors = self._ask(sent)
        for verification in sent.values():
            try:
                self._complete(verification, errors[verification.transactional_id])
            except Exception:  # an append of ours; the other clients must get their responses
                logger.exception("Error after verifying a transaction of %s", verification.transactional_id)

    def _ask(self, sent: Mapping[str, Verification]) -> dict[str, PartitionErrors]:
        """The errors of each id's partitions."""
        try:
            if self._version is None:
                self._version = self._find_version()
            if self._version < FIRST_VERSION_OF_BROKERS:
                logger.info("Broker %d does not verify transactions: appending without", self._broker_id)
                return {key: _without_verification(verification) for key, verification in sent.items()}
            request = AddPartitionsToTxnRequest(transactions=[_to_request(each) for each in sent.values()])
            response = self._brokers.exchange(self._broker_id, request, self._version)
        except (OSError, KafkaError) as failure:
            logger.info("Verifying transactions with broker %d failed: %r", self._broker_id, failure)
            self._version = None  # another Kafka may run there after a restart
            return _failed(sent, Errors.NETWORK_EXCEPTION)
        assert isinstance(response, AddPartitionsToTxnResponse)
        if response.error_code != Errors.NONE.code:
            return _failed(sent, Errors.for_code(response.error_code))
        return _failed(sent, Errors.UNKNOWN_SERVER_ERROR) | _errors(response)

    def _find_version(self) -> int:
        response = self._brokers.exchange(self._broker_id, ApiVersionsRequest(), 0)
        assert isinstance(response, ApiVersionsResponse)
        served = {api.api_key: api.max_version for api in response.api_keys}
        last = min(served.get(ApiKey.ADD_PARTITIONS_TO_TXN, -1), LAST_VERSION)
        return last if last >= FIRST_VERSION_OF_BROKERS else -1


def _without_verification(verification: Verification) -> PartitionErrors:
    """The partition may be appended to if it is only not verified, but not if its coordinator does not know of it."""
    if not verification.operation.supports_epoch_bump:
        return {}
    return dict.fromkeys(verification.partitions, Errors.UNSUPPORTED_VERSION)


def _for_client(error: Errors, operation: TransactionSupportedOperation) -> Errors:
    """The error that a producer expects for a batch that is not verified."""
    knows_abortable = operation is not TransactionSupportedOperation.DEFAULT_ERROR
    if error is Errors.PRODUCER_FENCED:
        return Errors.INVALID_PRODUCER_EPOCH
    if error is Errors.CLUSTER_AUTHORIZATION_FAILED or (error is Errors.TRANSACTION_ABORTABLE and not knows_abortable):
        return Errors.INVALID_TXN_STATE
    return error


def _to_request(verification: Verification) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        transactional_id=verification.transactional_id,
        producer_id=verification.producer.producer_id,
        producer_epoch=verification.producer.epoch,
        verify_only=not verification.operation.supports_epoch_bump,
        topics=_by_topic(verification.partitions),
    )


def _by_topic(partitions: Iterable[TopicPartition]) -> list[AddPartitionsToTxnTopic]:
    topics: dict[str, AddPartitionsToTxnTopic] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, AddPartitionsToTxnTopic(name=topic)).partitions.append(partition)
    return list(topics.values())


def _failed(sent: Mapping[str, Verification], error: Errors) -> dict[str, PartitionErrors]:
    return {key: dict.fromkeys(verification.partitions, error) for key, verification in sent.items()}


def _errors(response: AddPartitionsToTxnResponse) -> dict[str, PartitionErrors]:
    return {
        transaction.transactional_id: {
            TopicPartition(topic.name, result.partition_index): Errors.for_code(result.partition_error_code)
            for topic in transaction.topic_results
            for result in topic.results_by_partition
        }
        for transaction in response.results_by_transaction
    }
