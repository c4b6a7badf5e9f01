"""Verifies that partitions are part of a transaction before its first batch is appended to them, or makes them part of
it (KIP-890).

Kafka 3.6: core/.../server/ReplicaManager.scala (maybeStartTransactionVerificationForPartitions) · book 10.3
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.log.producers.verification_state_entry import VerificationGuard
from kafka_lite.record.record import NO_SEQUENCE
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.transactions.add_partitions_to_txn_manager import (
    AddPartitionsToTxnManager,
    PartitionErrors,
    TransactionSupportedOperation,
)

Guards = Mapping[TopicPartition, VerificationGuard]


class TransactionVerification:
    """Keeps late batches from beginning transactions that no coordinator will end.

    ::

        producer               partition                                coordinator
          │ first batch ─────────▶ │ no transaction open: guard             │
          │                        │ verify_only ─────────────────────────▶ │ Ongoing, with this partition?
          │                        │ ◀───────────────────────── yes, or an error
          │ ◀───────────── append with the guard, or an error               │
          │ next batch ──────────▶ │ open: append                           │

    A batch can be late: a retry overtakes it on another connection, and the transaction ends meanwhile. Without the
    question it would begin another transaction in the log, which the coordinator does not know and never ends: readers
    of committed records would wait at its first offset forever.

    A producer of the second version has not added the partition: this broker asks the coordinator to add it. Its epoch
    rises with every transaction, so a late batch has an epoch of the past. The producer may begin its next transaction
    while the coordinator writes the markers of the last one. Until they are written the coordinator is asked again,
    every ``retry_backoff_ms`` for ``retry_backoff_max_ms``: the producer itself would wait for longer.
    """

    def __init__(
        self,
        replica_manager: ReplicaManager,
        config: ProducerStateManagerConfig,
        manager: AddPartitionsToTxnManager,
        scheduler: Scheduler,
        time: Time,
        retry_backoff_ms: int = 20,
        retry_backoff_max_ms: int = 100,
    ) -> None:
        self._replicas = replica_manager
        self._config = config
        self._manager = manager
        self._scheduler = scheduler
        self._time = time
        self._retry_backoff_ms = retry_backoff_ms
        self._retry_backoff_max_ms = retry_backoff_max_ms

    def verify(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        base_sequences: Mapping[TopicPartition, int],
        operation: TransactionSupportedOperation,
        respond: Callable[[PartitionErrors, Guards], None],
    ) -> None:
        """Verify, or add, the partitions to which a request wants to append, each with its batch's first sequence.

        Calls ``respond`` once, now or in another thread, with the errors of those that must not be appended to, and the
        guards to append with.
        """
        if not operation.supports_epoch_bump:
            self._ask(transactional_id, producer, base_sequences, operation, respond)
            return
        end_ms = self._time.hi_res_ms() + self._retry_backoff_max_ms

        def respond_or_retry(errors: PartitionErrors, guards: Guards) -> None:
            is_busy = Errors.CONCURRENT_TRANSACTIONS in errors.values()
            if is_busy and self._time.hi_res_ms() < end_ms:
                self._scheduler.schedule("retry-add-partitions-to-txn", ask, self._retry_backoff_ms)
            else:
                respond(errors, guards)

        def ask() -> None:
            self._ask(transactional_id, producer, base_sequences, operation, respond_or_retry)

        ask()

    def _ask(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        base_sequences: Mapping[TopicPartition, int],
        operation: TransactionSupportedOperation,
        respond: Callable[[PartitionErrors, Guards], None],
    ) -> None:
        adds = operation.supports_epoch_bump
        errors: dict[TopicPartition, Errors] = {}
        guards: dict[TopicPartition, VerificationGuard] = {}
        if adds or self._config.transaction_verification_enabled:
            for topic_partition, sequence in base_sequences.items():
                try:
                    _, _, log = self._replicas.get_leader_log(topic_partition)
                    guard = log.derived_state.maybe_start_transaction_verification(
                        producer.producer_id, sequence, producer.epoch, adds
                    )
                except ApiError as failure:
                    errors[topic_partition] = failure.error
                    continue
                if guard is not None:
                    guards[topic_partition] = guard
        if not guards:
            respond(errors, guards)
            return
        self._manager.add_or_verify(
            transactional_id, producer, guards, operation, lambda failed: respond(errors | dict(failed), guards)
        )

    def verify_offsets(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        topic_partition: TopicPartition,
        operation: TransactionSupportedOperation,
        respond: Callable[[Errors, VerificationGuard | None], None],
    ) -> None:
        """Verify the partition of ``__consumer_offsets`` to which offsets are committed in a transaction."""
        self.verify(
            transactional_id,
            producer,
            {topic_partition: NO_SEQUENCE},
            operation,
            lambda errors, guards: respond(errors.get(topic_partition, Errors.NONE), guards.get(topic_partition)),
        )
