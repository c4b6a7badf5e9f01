"""Task 1: where epochs end."""

import pytest

from kafka_learn.labs.locks import touched_only_with


@pytest.mark.points(5, task=1)
def test_the_newest_and_an_older_one(epochs):
    """Epochs 1 from 0, 2 from 20, 4 from 35; the log ends at 50"""
    cache = epochs((1, 0), (2, 20), (4, 35))
    assert tuple(cache.end_offset_for(4, 50)) == (4, 50), "the newest epoch ends at the end of the log: (4, 50)"
    found = tuple(cache.end_offset_for(2, 50))
    assert found == (2, 35), f"epoch 2 ends where epoch 4 starts: (2, 35), not {found}"


@pytest.mark.points(6, task=1)
def test_an_epoch_in_which_nothing_was_appended(epochs):
    """Epoch 3, of a leader that appended nothing"""
    found = tuple(epochs((1, 0), (2, 20), (4, 35)).end_offset_for(3, 50))
    assert found == (2, 35), (
        f"no record has epoch 3: say where the newest epoch that is not newer ends, (2, 35), not {found}"
    )


@pytest.mark.points(4, task=1)
def test_older_than_the_log(epochs):
    """Epoch 1, whose records retention has deleted"""
    found = tuple(epochs((3, 100), (4, 120)).end_offset_for(1, 150))
    assert found == (1, 100), f"epoch 1 ended at or before 100, where the log's first epoch starts; you return {found}"


@pytest.mark.points(4, task=1)
def test_unknown(epochs):
    """No epochs at all, epoch -1, and an epoch of the future"""
    assert tuple(epochs().end_offset_for(0, 10)) == (-1, -1), "a log without epochs knows nothing: (-1, -1)"
    cache = epochs((1, 0))
    assert tuple(cache.end_offset_for(-1, 10)) == (-1, -1), "epoch -1 means unknown: (-1, -1)"
    found = tuple(cache.end_offset_for(7, 10))
    assert found == (-1, -1), f"epoch 7 is newer than all that this log knows: (-1, -1), not {found}"


@pytest.mark.points(1, task=1)
def test_the_epochs_are_only_read_with_their_lock(epochs):
    """Another thread may truncate them meanwhile"""
    cache = epochs((1, 0), (2, 20))
    with touched_only_with(cache, "_lock", state=["_entries"], within=["end_offset_for"]):
        cache.end_offset_for(1, 50)
