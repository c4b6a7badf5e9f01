"""Verifies that partitions are part of a transaction before its first batch is appended to them (KIP-890).

Kafka 3.6: core/.../server/ReplicaManager.scala (maybeStartTransactionVerificationForPartitions) · book 10.3
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.log.producers.verification_state_entry import VerificationGuard
from kafka_lite.record.record import NO_SEQUENCE
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.transactions.add_partitions_to_txn_manager import AddPartitionsToTxnManager, PartitionErrors

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
    """

    def __init__(
        self, replica_manager: ReplicaManager, config: ProducerStateManagerConfig, manager: AddPartitionsToTxnManager
    ) -> None:
        self._replicas = replica_manager
        self._config = config
        self._manager = manager

    def verify(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        base_sequences: Mapping[TopicPartition, int],
        knows_abortable: bool,
        respond: Callable[[PartitionErrors, Guards], None],
    ) -> None:
        """Verify the partitions to which a request wants to append, each with its batch's first sequence number.

        Calls ``respond`` once, now or in another thread, with the errors of those that must not be appended to, and the
        guards to append with. ``knows_abortable``: whether the client knows TRANSACTION_ABORTABLE.
        """
        errors: dict[TopicPartition, Errors] = {}
        guards: dict[TopicPartition, VerificationGuard] = {}
        if self._config.transaction_verification_enabled:
            for topic_partition, sequence in base_sequences.items():
                try:
                    _, _, log = self._replicas.get_leader_log(topic_partition)
                except ApiError as failure:
                    errors[topic_partition] = failure.error
                    continue
                guard = log.derived_state.maybe_start_transaction_verification(
                    producer.producer_id, sequence, producer.epoch
                )
                if guard is not None:
                    guards[topic_partition] = guard
        if not guards:
            respond(errors, guards)
            return
        self._manager.verify_transaction(
            transactional_id, producer, guards, knows_abortable, lambda failed: respond(errors | dict(failed), guards)
        )

    def verify_offsets(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        topic_partition: TopicPartition,
        knows_abortable: bool,
        respond: Callable[[Errors, VerificationGuard | None], None],
    ) -> None:
        """Verify the partition of ``__consumer_offsets`` to which offsets are committed in a transaction."""
        self.verify(
            transactional_id,
            producer,
            {topic_partition: NO_SEQUENCE},
            knows_abortable,
            lambda errors, guards: respond(errors.get(topic_partition, Errors.NONE), guards.get(topic_partition)),
        )
