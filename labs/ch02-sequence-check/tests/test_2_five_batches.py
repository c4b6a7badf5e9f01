"""Task 2: the five newest batches of the newest epoch."""

import pytest


def numbers(entry):
    return [each.last_seq for each in entry.batch_metadata]


@pytest.mark.points(6, task=2)
def test_the_oldest_of_six_is_dropped(entry_with, batch):
    """Six batches"""
    entry = entry_with()
    for number in range(6):
        entry.add_batch(3, batch(number, number))
    assert numbers(entry) == [1, 2, 3, 4, 5], f"the five newest of 0 to 5, oldest first; you remember {numbers(entry)}"
    assert entry.last_timestamp == 1000, "last_timestamp is that of the batch: it decides when the producer expires"
    entry.last_timestamp = 2000
    entry.add_batch(3, batch(6, 6))
    assert entry.last_timestamp == 1000, (
        f"last_timestamp is that of the last batch, 1000, even if one before was later; yours {entry.last_timestamp}"
    )


@pytest.mark.points(7, task=2)
def test_a_new_epoch_starts_over(entry_with, batch):
    """A batch of epoch 4 after those of epoch 3"""
    entry = entry_with((0, 4), (5, 9))
    entry.add_batch(4, batch(0, 2))
    assert entry.producer_epoch == 4, f"the batch was written in epoch 4, but you remember {entry.producer_epoch}"
    assert numbers(entry) == [2], (
        f"epoch 4 starts over: the batches of epoch 3 are dropped; you remember {numbers(entry)}"
    )
    for number in range(6):
        entry.add_batch(4, batch(number, number))
    assert numbers(entry) == [1, 2, 3, 4, 5], f"in epoch 4, too, five are remembered; you remember {numbers(entry)}"
    entry._maybe_update_producer_epoch(2)
    assert (entry.producer_epoch, numbers(entry)) == (2, []), (
        "2 is a different epoch than 4 (a follower takes what its leader has): remember it, and nothing of epoch 4; "
        f"you remember epoch {entry.producer_epoch}, {numbers(entry)}"
    )


@pytest.mark.points(7, task=2)
def test_update_with_the_batches_of_an_append(entry_with, batch):
    """update: two more of the same epoch, then one of another"""
    entry = entry_with((0, 0), (1, 1), (2, 2), (3, 3))
    added = entry.without_batches()
    for number in (4, 5):
        added.add_batch(3, batch(number, number))
    added.coordinator_epoch, added.current_txn_first_offset = 8, 70
    entry.update(added)
    assert numbers(entry) == [1, 2, 3, 4, 5], (
        f"1, 2, 3 from before, 4 and 5 from the append; you remember {numbers(entry)}"
    )
    others = (entry.coordinator_epoch, entry.current_txn_first_offset, entry.last_timestamp)
    assert others == (8, 70, 1000), f"coordinator epoch 8, open transaction at 70, timestamp 1000 are newer; {others}"
    ended = entry.without_batches()
    ended.current_txn_first_offset = None
    entry.update(ended)
    assert entry.current_txn_first_offset is None, "the append has ended the transaction: no first offset any more"
    newer = entry.without_batches()
    newer.add_batch(4, batch(0, 0))
    entry.update(newer)
    assert (entry.producer_epoch, numbers(entry)) == (4, [0]), "the append was in epoch 4: only its batch is left"
