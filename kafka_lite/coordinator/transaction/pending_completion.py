"""A transaction between its decision and its end, and its markers for one broker.

Kafka 0.11: core/.../coordinator/transaction/TransactionMarkerChannelManager.scala (PendingCompleteTxn, TxnMarkerEntry)
· book 10.3
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_metadata import TransactionMetadata, TxnTransitMetadata
from kafka_lite.coordinator.transaction.transaction_state_manager import TransactionStateManager
from kafka_lite.protocol.messages.api_27_write_txn_markers import WritableTxnMarker, WritableTxnMarkerTopic


@dataclass(eq=False)
class PendingCompletion:
    """A decided transaction whose markers are being written. ``transit``, its end, is already prepared."""

    metadata: TransactionMetadata
    coordinator_epoch: int
    commit: bool
    transit: TxnTransitMetadata
    is_finishing: bool = False
    """Whether all markers are written, and the end is being appended."""

    def __post_init__(self) -> None:
        current = self.metadata.current
        self.producer = ProducerIdAndEpoch(current.producer_id, current.producer_epoch)
        """As decided. ``transit`` may have another id, which the producer gets after this transaction."""

    def remove(self, partitions: Iterable[TopicPartition]) -> None:
        """Take out partitions that need no marker any more."""
        with self.metadata.lock:
            self.metadata.remove_partitions(partitions)

    def may_finish(self) -> bool:
        """Whether no partition is left. True for one caller only."""
        with self.metadata.lock:
            if self.metadata.current.topic_partitions or self.is_finishing:
                return False
            self.is_finishing = True
            return True

    def is_current(self, manager: TransactionStateManager) -> bool:
        """Whether this broker still coordinates the transaction."""
        return manager.is_current(self.metadata, self.coordinator_epoch)


@dataclass(frozen=True)
class Markers:
    """The markers of one transaction for partitions that one broker leads."""

    completion: PendingCompletion
    partitions: tuple[TopicPartition, ...]

    @property
    def producer_id(self) -> int:
        """The producer whose transaction they end."""
        return self.completion.producer.producer_id

    def to_request_part(self) -> WritableTxnMarker:
        """Their part of a request."""
        topics: dict[str, WritableTxnMarkerTopic] = {}
        for topic, partition in self.partitions:
            topics.setdefault(topic, WritableTxnMarkerTopic(name=topic)).partition_indexes.append(partition)
        return WritableTxnMarker(
            producer_id=self.producer_id,
            producer_epoch=self.completion.producer.epoch,
            transaction_result=self.completion.commit,
            topics=list(topics.values()),
            coordinator_epoch=self.completion.coordinator_epoch,
        )
