"""Task 4: the newest life of a producer has the say."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.log.log_validator import AppendOrigin


@pytest.mark.points(9, task=4)
def test_an_old_life(entry_with, appending, error_of):
    """Epochs 2, 3 and 4, and 3 was the last"""
    info = appending(entry_with((0, 4), epoch=3))
    error = error_of(lambda: info._check_producer_epoch(2, 50))
    assert error is Errors.INVALID_PRODUCER_EPOCH, f"epoch 2 was replaced by 3: INVALID_PRODUCER_EPOCH, not {error}"
    for epoch in (3, 4):
        error = error_of(lambda epoch=epoch: info._check_producer_epoch(epoch, 50))
        assert error is None, f"epoch {epoch} is not older than 3, and you refuse it with {error}"


@pytest.mark.points(6, task=4)
def test_what_a_leader_has_accepted(entry_with, appending, error_of):
    """The same on a follower"""
    info = appending(entry_with((0, 4), epoch=3), AppendOrigin.REPLICATION)
    error = error_of(lambda: info._check_producer_epoch(2, 50))
    assert error is None, f"the leader has it in its log: a follower that refuses ({error}) never catches up"
