"""A batch from its first record to its outcome: filling, sending, retries, and who learns how it ended."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.producer_batch import FinalState, ProducerBatch
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record import NO_SEQUENCE, NO_TIMESTAMP
from kafka_lite.record.records import batches

T0 = TopicPartition("t", 0)
TIMED_OUT = Errors.REQUEST_TIMED_OUT.exception("too late")


def new_batch(size: int = 1000, magic: int = 2) -> ProducerBatch:
    return ProducerBatch(T0, bytearray(size), magic, CompressionType.NONE, 100.0)


class Listener:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.stored: list[tuple[TopicPartition, int]] = []
        self.failed: list[tuple[ProducerRecord, Exception]] = []

    def on_stored(self, topic_partition: TopicPartition, offset: int) -> None:
        self.stored.append((topic_partition, offset))

    def on_failed(self, record: ProducerRecord, error: Exception) -> None:
        self.failed.append((record, error))


def test_records_are_added_until_the_batch_is_full() -> None:
    batch = new_batch(200)
    added = 0
    while batch.try_append(1_000, b"k", b"v" * 20, (), None) is not None:
        added += 1
    assert batch.record_count == added > 2
    assert len(batch.records) <= 200
    assert batch.size_in_bytes == len(batch.records)
    assert [record.value for each in batches(batch.records) for record in each.records()] == [b"v" * 20] * added


@pytest.mark.parametrize("end", [ProducerBatch.close, ProducerBatch.trim])
def test_a_batch_that_is_closed_or_trimmed_takes_no_more_records(end: Callable[[ProducerBatch], None]) -> None:
    batch = new_batch()
    batch.try_append(1_000, None, b"v", (), None)
    assert not batch.is_full
    end(batch)
    assert batch.is_full
    assert batch.try_append(1_000, None, b"w", (), None) is None
    assert not batch.try_append_for(Listener(), 1_000, None, b"w")
    assert batch.record_count == 1


def test_the_size_before_compression_covers_the_largest_record() -> None:
    batch = new_batch()
    batch.try_append(1_000, None, b"v" * 10, (), None)
    batch.try_append(1_000, None, b"v" * 100, (), None)
    assert 100 < batch.max_record_size < 130
    assert batch.plain_size_in_bytes > 110


def test_sequence_numbers_are_written_even_into_an_encoded_batch() -> None:
    batch = new_batch()
    batch.try_append(1_000, None, b"v", (), None)
    assert not batch.has_sequence
    batch.set_producer_state(7, 1, 40)
    batch.close()
    batch.set_producer_state(8, 2, 50)
    assert batch.has_sequence
    (encoded,) = batches(batch.records)
    encoded.ensure_valid()
    assert (encoded.producer_id, encoded.producer_epoch, encoded.base_sequence) == (8, 2, 50)
    batch.reset_producer_state()
    assert batch.base_sequence == NO_SEQUENCE
    assert not batch.has_sequence


def test_a_retry_counts_from_the_last_attempt_and_the_delivery_from_the_first_record() -> None:
    batch = new_batch()
    batch.in_flight = True
    assert (batch.in_retry, batch.waited_ms(130)) == (False, 30)
    batch.reenqueued(150)
    assert (batch.in_retry, batch.in_flight, batch.attempts) == (True, False, 1)
    assert batch.waited_ms(170) == 20
    assert batch.waited_ms(140) == 0, "the clock of another thread may be a little behind"
    assert not batch.has_reached_delivery_timeout(100, 199)
    assert batch.has_reached_delivery_timeout(100, 200)


def test_the_error_of_an_expired_batch_says_how_old_it_is() -> None:
    batch = new_batch()
    batch.try_append(1_000, None, b"v", (), None)
    error = batch.expired_error(350)
    assert isinstance(error, ApiError)
    assert error.error is Errors.REQUEST_TIMED_OUT
    assert "Expiring 1 record(s) for t-0: 250 ms has passed since batch creation" in str(error)


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (lambda batch: batch.complete(7, NO_TIMESTAMP), FinalState.SUCCEEDED),
        (lambda batch: batch.fail(lambda _: TIMED_OUT), FinalState.FAILED),
        (lambda batch: batch.abort(TIMED_OUT), FinalState.ABORTED),
    ],
)
def test_the_first_outcome_is_final(end: Callable[[ProducerBatch], bool], state: FinalState) -> None:
    batch, told = new_batch(), []
    batch.try_append(1_000, None, b"v", (), lambda metadata, error: told.append((metadata, error)))
    assert not batch.is_done
    assert end(batch)
    assert batch.is_done
    assert not batch.complete(8, NO_TIMESTAMP)
    assert not batch.abort(TIMED_OUT)
    assert batch.final_state is state
    assert len(told) == 1


def test_callbacks_get_the_metadata_or_the_error_of_their_record() -> None:
    done, failed, told = new_batch(), new_batch(), []
    errors = [Errors.INVALID_RECORD.exception("first"), Errors.INVALID_RECORD.exception("second")]
    for batch in (done, failed):
        for _ in range(2):
            batch.try_append(1_000, None, b"v", (), lambda metadata, error: told.append((metadata, error)))
    done.complete(7, NO_TIMESTAMP)
    failed.fail(lambda place: errors[place])
    assert [metadata.offset for metadata, error in told[:2] if error is None] == [7, 8]
    assert told[2:] == [(None, errors[0]), (None, errors[1])]


def test_a_callback_that_fails_keeps_no_other_from_its_outcome(caplog: pytest.LogCaptureFixture) -> None:
    batch, told = new_batch(), []

    def leave(_metadata: object, _error: object) -> None:
        raise SystemExit

    batch.try_append(1_000, None, b"v", (), leave)
    future = batch.try_append(1_000, None, b"w", (), lambda metadata, _: told.append(metadata))
    batch.complete(7, NO_TIMESTAMP)
    assert future is not None
    assert told == [future.get(0)]
    assert "Error executing user-provided callback" in caplog.text


def test_a_listener_is_told_the_offset_of_its_last_record() -> None:
    batch, first, second = new_batch(), Listener(), Listener()
    for listener in (first, second, first):
        assert batch.try_append_for(listener, 1_000, None, b"v")
    batch.complete(7, NO_TIMESTAMP)
    assert (first.stored, second.stored) == ([(T0, 9)], [(T0, 8)])


def test_a_listener_learns_no_offset_without_acknowledgement() -> None:
    batch, listener = new_batch(), Listener()
    batch.try_append_for(listener, 1_000, None, b"v")
    batch.complete(-1, NO_TIMESTAMP)
    assert listener.stored == [(T0, -1)]


def test_a_listener_gets_its_failed_records_back() -> None:
    batch, listener, told = new_batch(), Listener(), []
    batch.try_append(1_000, None, b"of a callback", (), lambda _metadata, error: told.append(error))
    batch.try_append_for(listener, 1_001, b"k", b"v")
    batch.try_append_for(listener, 1_002, None, b"w")
    batch.abort(TIMED_OUT)
    assert [(r.key, r.value, r.partition, r.timestamp) for r, _ in listener.failed] == [
        (b"k", b"v", 0, 1_001),
        (None, b"w", 0, 1_002),
    ]
    assert [error for _, error in listener.failed] == [TIMED_OUT, TIMED_OUT]
    assert told == [TIMED_OUT]


def test_callbacks_that_were_taken_over_are_not_called() -> None:
    batch, told = new_batch(), []
    batch.try_append(1_000, None, b"v", (), lambda *outcome: told.append(outcome))
    assert len(batch.take_thunks()) == 1
    batch.abort(TIMED_OUT)
    assert told == []
