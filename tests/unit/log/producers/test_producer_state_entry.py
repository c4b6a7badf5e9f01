"""The state of one producer in a log: its epoch, and the last five batches of that epoch."""

from __future__ import annotations

import pytest

from kafka_lite.log.producers.producer_state_entry import NUM_BATCHES_TO_RETAIN, BatchMetadata, ProducerStateEntry

MAX_SEQUENCE = 2**31 - 1


def batch(last_seq: int, count: int = 1, last_offset: int = 100) -> BatchMetadata:
    return BatchMetadata(last_seq, last_offset, count - 1, 5_000 + last_seq)


@pytest.fixture
def entry() -> ProducerStateEntry:
    entry = ProducerStateEntry(7)
    for each in (batch(14, 5, 74), batch(15, 1, 78), batch(29, 14, 103)):
        entry.add_batch(1, each)
    return entry


def test_a_batch_knows_where_it_begins() -> None:
    metadata = batch(14, 5, 74)
    assert (metadata.first_seq, metadata.first_offset) == (10, 70)
    assert batch(1, 4).first_seq == MAX_SEQUENCE - 1, "the numbers wrap"
    assert batch(14) != batch(15)
    assert repr(metadata) == "BatchMetadata(14, 74, 4, 5014)"


def test_the_last_batch_counts(entry: ProducerStateEntry) -> None:
    assert (entry.last_seq, entry.last_data_offset, entry.last_offset_delta) == (29, 103, 13)
    assert (entry.producer_epoch, entry.last_timestamp, entry.is_empty) == (1, 5_029, False)


def test_a_producer_of_which_no_batch_is_known() -> None:
    entry = ProducerStateEntry(7)
    assert (entry.last_seq, entry.last_data_offset, entry.last_offset_delta, entry.is_empty) == (-1, -1, 0, True)


def test_only_the_last_batches_are_kept() -> None:
    entry = ProducerStateEntry(7)
    for sequence in range(NUM_BATCHES_TO_RETAIN + 2):
        entry.add_batch(0, batch(sequence))
    assert [each.last_seq for each in entry.batch_metadata] == [2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("epoch", "first", "last", "found"),
    [(1, 15, 15, 15), (1, 10, 14, 14), (1, 11, 14, None), (1, 10, 15, None), (0, 15, 15, None), (2, 15, 15, None)],
)
def test_a_duplicate_has_the_same_epoch_and_sequence_numbers(
    entry: ProducerStateEntry, epoch: int, first: int, last: int, found: int | None
) -> None:
    duplicate = entry.find_duplicate_batch(epoch, first, last)
    assert (duplicate.last_seq if duplicate else None) == found


def test_a_new_epoch_forgets_the_batches_of_the_one_before(entry: ProducerStateEntry) -> None:
    entry.add_batch(2, batch(0))
    assert (entry.producer_epoch, [each.last_seq for each in entry.batch_metadata]) == (2, [0])


def test_a_marker_ends_the_transaction_and_may_raise_the_epoch(entry: ProducerStateEntry) -> None:
    entry.current_txn_first_offset = 70
    entry.end_transaction(1, coordinator_epoch=3, timestamp=6_000)
    assert (entry.current_txn_first_offset, entry.coordinator_epoch, entry.last_timestamp) == (None, 3, 6_000)
    assert not entry.is_empty
    entry.end_transaction(2, coordinator_epoch=3, timestamp=7_000)
    assert entry.is_empty


def test_an_append_is_collected_in_a_copy_and_merged_when_it_is_written(entry: ProducerStateEntry) -> None:
    copy = entry.without_batches()
    assert (copy.producer_id, copy.producer_epoch, copy.is_empty) == (7, 1, True)
    copy.add_batch(1, batch(30))
    copy.current_txn_first_offset = 104
    assert entry.last_seq == 29
    entry.update(copy)
    assert [each.last_seq for each in entry.batch_metadata] == [14, 15, 29, 30]
    assert (entry.current_txn_first_offset, entry.last_timestamp) == (104, 5_030)


def test_entries_are_equal_by_everything_they_know(entry: ProducerStateEntry) -> None:
    same = ProducerStateEntry(7, 1, -1, entry.last_timestamp, None, entry.batch_metadata)
    assert same == entry
    same.add_batch(1, batch(30))
    assert same != entry
