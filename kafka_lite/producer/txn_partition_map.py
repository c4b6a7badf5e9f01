"""The sequence numbers of a producer's batches, by which a broker recognizes duplicates.

Kafka 3.6: clients/.../producer/internals/TxnPartitionMap.java, TxnPartitionEntry.java · book 10.3
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.record.default_record_batch import increment_sequence
from kafka_lite.record.record import NO_SEQUENCE

logger = logging.getLogger(__name__)


@dataclass
class TxnPartitionEntry:
    """The sequence numbers of one partition."""

    next_sequence: int = 0
    """The number of the next new batch."""
    last_acked_sequence: int = NO_SEQUENCE
    """The last number that the broker has acknowledged."""
    in_flight: list[ProducerBatch] = field(default_factory=list)
    """Numbered batches without an outcome, in order of their numbers. Some of them wait for a retry."""
    unresolved: bool = False
    """Whether a numbered batch was given up, and it is unknown whether the broker has appended it."""
    needs_reset: bool = False
    """Whether the broker misses a number for good."""


class TxnPartitionMap:
    """Numbers the batches of each partition. Only used in the sender's thread, also via the accumulator.

    A broker appends a producer's batch only if its first number follows the last one of the partition. For a duplicate,
    it responds as if it had just appended it. So batches must be numbered in the order in which they are sent, keep
    their numbers in retries, and be retried in that order:

    * a retried batch goes before all new ones of its partition (``RecordAccumulator`` sorts by number), and
    * only the *oldest* batch in flight may be retried.

    When a batch is given up, the broker may or may not have appended it. New batches of the partition then wait until
    those in flight have completed. If the broker has acknowledged the last number by then, it has the batch. Otherwise,
    or if the broker itself reports missing numbers, the partition needs a reset: numbers start at 0 again, under a new
    producer id or epoch.
    """

    def __init__(self) -> None:
        self._partitions: dict[TopicPartition, TxnPartitionEntry] = {}

    def entry(self, partition: TopicPartition) -> TxnPartitionEntry:
        """The partition's numbers."""
        return self._partitions.setdefault(partition, TxnPartitionEntry())

    def may_send_new(self, partition: TopicPartition) -> bool:
        """Whether another batch of the partition may be numbered and sent."""
        entry = self.entry(partition)
        # A broker that does not know the producer accepts any number as the first. If several batches were in flight
        # and the first one was refused, the second would be appended in its place.
        is_known = entry.last_acked_sequence != NO_SEQUENCE or not entry.in_flight
        return is_known and not entry.unresolved and not self.reset_is_due

    def is_oldest(self, batch: ProducerBatch) -> bool:
        """Whether the batch is the oldest in flight of its partition."""
        return self.entry(batch.topic_partition).in_flight[0] is batch

    def number(self, batch: ProducerBatch, producer_id: int, producer_epoch: int, *, is_transactional: bool) -> None:
        """Give a new batch its sequence number."""
        entry = self.entry(batch.topic_partition)
        batch.set_producer_state(producer_id, producer_epoch, entry.next_sequence, is_transactional)
        entry.next_sequence = increment_sequence(entry.next_sequence, batch.record_count)
        entry.in_flight.append(batch)

    def split(self, batch: ProducerBatch, parts: Sequence[ProducerBatch]) -> None:
        """Distribute a batch's numbers over its parts, which take its place among those in flight."""
        if not batch.has_sequence:
            return
        in_flight = self.entry(batch.topic_partition).in_flight
        place, sequence = in_flight.index(batch), batch.base_sequence
        for part in parts:
            part.set_producer_state(batch.producer_id, batch.producer_epoch, sequence, batch.is_transactional)
            sequence = increment_sequence(sequence, part.record_count)
        in_flight[place : place + 1] = parts

    def order_of(self, batch: ProducerBatch) -> int:
        """The sort key of retried batches: their position among those in flight, because numbers may wrap."""
        return self.entry(batch.topic_partition).in_flight.index(batch)

    # ── outcomes ──────────────────────────────────────────────────────────────────────────────────────────────────

    def completed(self, batch: ProducerBatch) -> None:
        """The broker has appended the batch."""
        entry = self.entry(batch.topic_partition)
        entry.last_acked_sequence = increment_sequence(batch.base_sequence, batch.record_count - 1)
        _forget(entry, batch)

    def failed(self, batch: ProducerBatch, *, broker_has_refused: bool) -> None:
        """The batch was given up. ``broker_has_refused``: it was certainly not appended, so its number is missing."""
        entry = self.entry(batch.topic_partition)
        _forget(entry, batch)
        if broker_has_refused:
            entry.needs_reset = True
        else:
            entry.unresolved = True

    # ── a reset ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def reset_is_due(self) -> bool:
        """Whether a broker misses a number for good."""
        return any(entry.needs_reset for entry in self._partitions.values())

    def resolve(self) -> None:
        """Find out whether batches that were given up have been appended, where nothing is in flight any more."""
        for partition, entry in self._partitions.items():
            if entry.unresolved and not entry.in_flight:
                entry.unresolved = False
                if entry.next_sequence != increment_sequence(entry.last_acked_sequence, 1):
                    logger.info("%s: the last batch may or may not have been appended", partition)
                    entry.needs_reset = True

    @property
    def may_reset(self) -> bool:
        """Whether no batch of other partitions is in flight: under a new id, it would be no duplicate any more."""
        for entry in self._partitions.values():
            if any(batch.in_flight for batch in entry.in_flight):
                return False  # its response is outstanding
            if entry.in_flight and not entry.needs_reset:
                return False
        return True

    def reset(self) -> None:
        """Start again at 0. Batches that wait for a retry get new numbers."""
        for entry in self._partitions.values():
            for batch in entry.in_flight:
                batch.reset_producer_state()
        self._partitions.clear()

    def reuse_refused(self) -> None:
        """Give the numbers of refused batches to the next ones. Nothing may be in flight."""
        for entry in self._partitions.values():
            entry.next_sequence = increment_sequence(entry.last_acked_sequence, 1)
            entry.needs_reset = False


def _forget(entry: TxnPartitionEntry, batch: ProducerBatch) -> None:
    if batch in entry.in_flight:
        entry.in_flight.remove(batch)
