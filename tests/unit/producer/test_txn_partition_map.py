"""The sequence numbers of an idempotent producer: who gets which, and when they may begin again."""

from __future__ import annotations

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.txn_partition_map import TxnPartitionMap
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record_batch import NO_SEQUENCE

P, Q = TopicPartition("t", 0), TopicPartition("t", 1)
LAST = 2**31 - 1


def batch_of(partition: TopicPartition = P, records: int = 1) -> ProducerBatch:
    batch = ProducerBatch(partition, bytearray(1000), 2, CompressionType.NONE, created_ms=0)
    for _ in range(records):
        assert batch.try_append(0, b"k", b"v", (), None)
    return batch


def sent(numbers: TxnPartitionMap, partition: TopicPartition = P, records: int = 1) -> ProducerBatch:
    """A batch that has a number and is in a request without a response."""
    batch = batch_of(partition, records)
    numbers.number(batch, 7, 0, is_transactional=False)
    batch.in_flight = True
    return batch


def acknowledge(numbers: TxnPartitionMap, batch: ProducerBatch) -> None:
    batch.in_flight = False
    numbers.completed(batch)


def refuse(numbers: TxnPartitionMap, batch: ProducerBatch) -> None:
    batch.in_flight = False
    numbers.failed(batch, broker_has_refused=True)


def test_each_partition_counts_its_records() -> None:
    numbers = TxnPartitionMap()
    assert [sent(numbers, P, n).base_sequence for n in (2, 3, 1)] == [0, 2, 5]
    assert sent(numbers, Q).base_sequence == 0


def test_numbers_begin_again_behind_the_last_one() -> None:
    numbers = TxnPartitionMap()
    numbers.entry(P).next_sequence = LAST - 1
    batches = [sent(numbers, P, 3), sent(numbers, P)]
    assert [batch.base_sequence for batch in batches] == [LAST - 1, 1]
    assert [numbers.order_of(batch) for batch in batches] == [0, 1]  # by number the second would be sent first
    acknowledge(numbers, batches[0])
    assert numbers.entry(P).last_acked_sequence == 0


def test_until_the_broker_knows_the_producer_one_batch_is_sent_at_a_time() -> None:
    numbers = TxnPartitionMap()
    assert numbers.may_send_new(P)
    first = sent(numbers)
    assert not numbers.may_send_new(P)
    assert numbers.may_send_new(Q)
    acknowledge(numbers, first)
    second = sent(numbers)
    assert numbers.may_send_new(P)
    assert numbers.is_oldest(second)
    assert not numbers.is_oldest(sent(numbers))


def test_the_parts_of_a_batch_have_its_numbers_and_its_place() -> None:
    numbers = TxnPartitionMap()
    first, split, last = sent(numbers), sent(numbers, P, 5), sent(numbers)
    parts = [batch_of(P, 2), batch_of(P, 3)]
    numbers.split(split, parts)
    assert [part.base_sequence for part in parts] == [1, 3]
    assert [(part.producer_id, part.producer_epoch) for part in parts] == [(7, 0), (7, 0)]
    assert [numbers.order_of(batch) for batch in (first, *parts, last)] == [0, 1, 2, 3]


def test_a_batch_without_a_number_gives_its_parts_none() -> None:
    numbers = TxnPartitionMap()
    parts = [batch_of(), batch_of()]
    numbers.split(batch_of(P, 2), parts)
    assert [part.base_sequence for part in parts] == [NO_SEQUENCE, NO_SEQUENCE]


def test_a_batch_that_was_given_up_stops_its_partition_until_the_others_are_done() -> None:
    numbers = TxnPartitionMap()
    acknowledge(numbers, sent(numbers))
    given_up, following = sent(numbers), sent(numbers)
    numbers.failed(given_up, broker_has_refused=False)
    assert not numbers.may_send_new(P)
    assert numbers.may_send_new(Q)
    numbers.resolve()
    assert not numbers.may_send_new(P)  # the other batch is in flight
    acknowledge(numbers, following)
    numbers.resolve()
    assert numbers.may_send_new(P)  # it was appended, or else the following one would have been refused
    assert not numbers.reset_is_due


def test_a_last_batch_that_was_given_up_needs_a_reset() -> None:
    numbers = TxnPartitionMap()
    acknowledge(numbers, sent(numbers))
    numbers.failed(sent(numbers), broker_has_refused=False)
    assert not numbers.reset_is_due
    numbers.resolve()
    assert numbers.reset_is_due
    assert not numbers.may_send_new(Q)  # under a new id soon


@pytest.mark.parametrize("partition", [P, Q])
def test_a_reset_waits_for_responses(partition: TopicPartition) -> None:
    numbers = TxnPartitionMap()
    refused, other = sent(numbers), sent(numbers, partition)
    refuse(numbers, refused)
    assert numbers.reset_is_due
    assert not numbers.may_reset
    acknowledge(numbers, other)
    assert numbers.may_reset


def test_a_reset_waits_for_retries_of_other_partitions_only() -> None:
    numbers = TxnPartitionMap()
    refused, retried = sent(numbers), sent(numbers)
    refuse(numbers, refused)
    retried.in_flight = False
    assert numbers.may_reset  # the broker refuses it for the number that is missing
    elsewhere = sent(numbers, Q)
    elsewhere.in_flight = False
    assert not numbers.may_reset  # it may have been appended, and would be appended once more


def test_after_a_reset_numbers_begin_at_zero_also_those_of_retries() -> None:
    numbers = TxnPartitionMap()
    refused, retried = sent(numbers), sent(numbers)
    refuse(numbers, refused)
    retried.in_flight = False
    numbers.reset()
    assert not retried.has_sequence
    assert not numbers.reset_is_due
    numbers.number(retried, 8, 0, is_transactional=False)
    assert (retried.producer_id, retried.base_sequence) == (8, 0)


def test_the_numbers_of_refused_batches_can_be_given_to_the_next_ones() -> None:
    numbers = TxnPartitionMap()
    acknowledge(numbers, sent(numbers, P, 3))
    refuse(numbers, sent(numbers))
    numbers.reuse_refused()
    assert not numbers.reset_is_due
    assert sent(numbers).base_sequence == 3
