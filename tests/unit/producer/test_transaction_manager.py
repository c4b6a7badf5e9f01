"""The producer's id, and the sequence numbers of its batches."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.producer.transaction_state import State
from kafka_lite.producer.txn_requests import InitProducerId
from kafka_lite.record.compression import CompressionType

LOST = Errors.REQUEST_TIMED_OUT.exception()
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def batch(partition: TopicPartition = T0, records: int = 3) -> ProducerBatch:
    made = ProducerBatch(partition, bytearray(1000), 2, CompressionType.NONE, 0)
    for _ in range(records):
        made.try_append(0, None, b"v", (), None)
    return made


def ready() -> TransactionManager:
    manager = TransactionManager()
    manager.initializing()
    manager.initialized(7, 0)
    return manager


def sent(manager: TransactionManager, partition: TopicPartition = T0) -> ProducerBatch:
    """A numbered batch in flight."""
    made = batch(partition)
    assert manager.may_send(made)
    manager.number(made)
    made.in_flight = True
    return made


def acknowledged(manager: TransactionManager, made: ProducerBatch) -> None:
    made.in_flight = False
    manager.completed(made)


def back(made: ProducerBatch) -> None:
    """Fail an attempt of the batch."""
    made.reenqueued(0)


def test_nothing_is_sent_without_a_producer_id() -> None:
    manager = TransactionManager()
    assert manager.next_request(False) == InitProducerId()
    assert not manager.may_send(batch())
    manager.initializing()
    assert manager.next_request(False) is None
    manager.initialization_failed()
    assert manager.next_request(False) == InitProducerId()


def test_numbers_are_consecutive_per_partition() -> None:
    manager = ready()
    first = sent(manager)
    assert (first.producer_id, first.base_sequence) == (7, 0)
    acknowledged(manager, first)
    assert [sent(manager).base_sequence for _ in range(3)] == [3, 6, 9]
    assert sent(manager, T1).base_sequence == 0


def test_only_one_batch_is_in_flight_until_the_broker_knows_the_producer() -> None:
    manager = ready()
    first = sent(manager)
    assert not manager.may_send(batch())
    assert manager.may_send(batch(T1))
    acknowledged(manager, first)
    assert manager.may_send(batch())


def test_only_the_oldest_batch_may_be_retried() -> None:
    manager = ready()
    acknowledged(manager, sent(manager))
    one, other = sent(manager), sent(manager)
    back(other)
    assert not manager.may_send(other)
    back(one)
    assert manager.may_send(one)
    number = one.base_sequence
    manager.number(one)
    assert one.base_sequence == number
    acknowledged(manager, one)
    assert manager.may_send(other)
    assert manager.sequences.order_of(other) == 0


def test_missing_numbers_that_are_in_flight_are_retriable() -> None:
    manager = ready()
    acknowledged(manager, sent(manager))
    one, other = sent(manager), sent(manager)
    back(other)
    assert manager.can_retry(other, Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
    manager.maybe_resolve()
    assert manager.state is State.READY, "an earlier batch is in flight"
    assert manager.may_send(one) is True


def test_missing_numbers_that_were_lost_reset_the_producer_id() -> None:
    """The broker has lost data. This partition's batches get the new id, too: they are certainly not stored."""
    manager = ready()
    acknowledged(manager, sent(manager))
    one, other = sent(manager), sent(manager)
    elsewhere = sent(manager, T1)
    back(one)
    assert manager.can_retry(one, Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
    manager.maybe_resolve()
    assert manager.state is State.READY, "others are in flight"
    back(other)
    manager.maybe_resolve()
    assert manager.state is State.READY, "another partition's batch may have been appended under the old id"
    assert not manager.may_send(batch(T1))
    acknowledged(manager, elsewhere)
    manager.maybe_resolve()
    assert manager.next_request(False) == InitProducerId()
    assert not one.has_sequence
    assert not other.has_sequence
    manager.initializing()
    manager.initialized(8, 0)
    assert manager.may_send(one)
    manager.number(one)
    assert (one.producer_id, one.base_sequence) == (8, 0)


def test_other_errors_are_not_decided_here() -> None:
    manager = ready()
    assert not manager.can_retry(sent(manager), Errors.MESSAGE_TOO_LARGE)
    assert not manager.can_retry(batch(), Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)


def test_a_batch_given_up_after_it_was_appended_is_resolved() -> None:
    """The next batch is acknowledged, so the broker has it."""
    manager = ready()
    acknowledged(manager, sent(manager))
    given_up, behind = sent(manager), sent(manager)
    back(given_up)
    manager.failed(given_up, LOST, broker_has_refused=False)
    assert not manager.may_send(batch()), "until its outcome is known"
    acknowledged(manager, behind)
    manager.maybe_resolve()
    assert manager.state is State.READY
    assert manager.may_send(batch())


def test_a_batch_given_up_with_an_unknown_outcome_resets_the_producer_id() -> None:
    manager = ready()
    acknowledged(manager, sent(manager))
    given_up = sent(manager)
    back(given_up)
    manager.failed(given_up, LOST, broker_has_refused=False)
    manager.maybe_resolve()
    assert manager.next_request(False) == InitProducerId()


def test_a_refused_batch_resets_the_producer_id() -> None:
    manager = ready()
    acknowledged(manager, sent(manager))
    refused = sent(manager)
    refused.in_flight = False
    manager.failed(refused, LOST, broker_has_refused=True)
    manager.maybe_resolve()
    assert manager.next_request(False) == InitProducerId()


def test_parts_share_the_numbers_of_their_batch() -> None:
    manager = ready()
    acknowledged(manager, sent(manager))
    whole, behind = sent(manager), sent(manager)
    parts = [batch(records=1), batch(records=2)]
    manager.sequences.split(whole, parts)
    assert [part.base_sequence for part in parts] == [3, 4]
    assert manager.may_send(parts[0])
    assert not manager.may_send(parts[1])
    assert manager.sequences.order_of(behind) == 2


def test_numbers_wrap_around() -> None:
    manager = ready()
    acknowledged(manager, sent(manager))
    manager.sequences.entry(T0).next_sequence = 0x7FFFFFFF
    assert [sent(manager).base_sequence for _ in range(2)] == [0x7FFFFFFF, 2]


def test_brokers_without_ids() -> None:
    error = Errors.UNSUPPORTED_VERSION.exception("no INIT_PRODUCER_ID")
    implicit = TransactionManager(explicitly_enabled=False)
    implicit.initializing()
    implicit.unsupported(error)
    made = batch()
    assert implicit.may_send(made)
    implicit.number(made)
    assert not made.has_sequence
    explicit = TransactionManager()
    explicit.initializing()
    explicit.unsupported(error)
    assert explicit.state is State.FATAL_ERROR
    assert explicit.error is error


def test_forbidden_transitions_raise() -> None:
    with pytest.raises(RuntimeError, match="UNINITIALIZED to READY"):
        TransactionManager().initialized(1, 0)
