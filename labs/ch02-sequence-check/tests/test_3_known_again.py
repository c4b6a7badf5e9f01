"""Task 3: the same epoch, the same first number, the same last number."""

import pytest

from kafka_lite.log.producers.producer_state_entry import BatchMetadata


@pytest.mark.points(8, task=3)
def test_any_of_the_five(entry_with):
    """A producer with five requests in flight sends them all again"""
    entry = entry_with((0, 4), (5, 5), (6, 9), (10, 14), (15, 19))
    for first, last in [(0, 4), (5, 5), (6, 9), (10, 14), (15, 19)]:
        found = entry.find_duplicate_batch(3, first, last)
        assert found is not None, f"{first} to {last} is one of the five remembered batches: it is a duplicate"
        assert isinstance(found, BatchMetadata), f"return the batch that was found, not {found!r}"
        assert (found.first_seq, found.last_seq) == (first, last), f"searched for {first} to {last}, you found {found}"
    entry.batch_metadata.append(BatchMetadata(1, 103, 3, timestamp=1000))
    found = entry.find_duplicate_batch(3, 2**31 - 2, 1)
    assert found is not None, "2147483646, 2147483647, 0, 1 is remembered: the numbers of a batch may wrap around"


@pytest.mark.points(7, task=3)
def test_other_batches_are_no_duplicates(entry_with):
    """New batches, and batches with other boundaries"""
    entry = entry_with((0, 4), (5, 9))
    assert entry.find_duplicate_batch(3, 10, 14) is None, "10 to 14 are new numbers: not a duplicate"
    assert entry.find_duplicate_batch(3, 7, 9) is None, (
        "7 to 9 ends like 5 to 9, but is another batch: compare both ends"
    )
    assert entry.find_duplicate_batch(3, 5, 7) is None, "5 to 7 begins like 5 to 9, but is another batch"
    assert entry.find_duplicate_batch(4, 5, 9) is None, "epoch 4 starts with 0 again: its 5 to 9 is another batch"
    assert entry.find_duplicate_batch(2, 5, 9) is None, "5 to 9 were written in epoch 3, not in epoch 2"
    assert entry_with().find_duplicate_batch(3, 0, 4) is None, "nothing is remembered: nothing can be a duplicate"
