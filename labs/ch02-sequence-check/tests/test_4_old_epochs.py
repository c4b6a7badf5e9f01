"""Task 4: the newest epoch of a producer fences the older ones."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.log.append_origin import AppendOrigin


@pytest.mark.points(9, task=4)
def test_an_old_epoch(entry_with, appending, batch, error_of):
    """Epochs 2, 3 and 4, where 3 is the last"""
    info = appending(entry_with((0, 4), epoch=3))
    error = error_of(lambda: info._check_producer_epoch(2, 50))
    assert error is Errors.INVALID_PRODUCER_EPOCH, f"epoch 2 was replaced by 3: INVALID_PRODUCER_EPOCH, not {error}"
    for epoch in (3, 4):
        error = error_of(lambda epoch=epoch: info._check_producer_epoch(epoch, 50))
        assert error is None, f"epoch {epoch} is not older than 3, but you reject it with {error}"
    info.updated_entry.add_batch(4, batch(0, 2))
    error = error_of(lambda: info._check_producer_epoch(3, 50))
    assert error is Errors.INVALID_PRODUCER_EPOCH, f"this append has a batch of epoch 4 already: 3 is old, not {error}"
    info = appending(entry_with((0, 4), epoch=3), AppendOrigin.COORDINATOR)
    error = error_of(lambda: info._check_producer_epoch(2, 50))
    assert error is Errors.INVALID_PRODUCER_EPOCH, f"only replication is not checked, a coordinator is; not {error}"


@pytest.mark.points(6, task=4)
def test_replication_is_not_checked(entry_with, appending, error_of):
    """The same on a follower"""
    info = appending(entry_with((0, 4), epoch=3), AppendOrigin.REPLICATION)
    error = error_of(lambda: info._check_producer_epoch(2, 50))
    assert error is None, f"the leader has it in its log: a follower that rejects it ({error}) never catches up"
