"""Task 4: a parked produce request."""

import pytest

from kafka_lite.cluster.partition import PartitionState
from kafka_lite.common.errors import Errors


def check(leading, offset):
    return leading.partition.check_enough_replicas_reach_offset(offset)


@pytest.mark.points(4, task=4)
def test_waits_for_the_high_watermark(leading):
    """Two records appended; committed up to 1, then up to 2"""
    leading.append(2)
    leading.high_watermark = 1
    assert check(leading, 2) == (False, Errors.NONE), "HW 1, required 2: wait, without an error"
    leading.high_watermark = 2
    assert check(leading, 2) == (True, Errors.NONE), "HW 2 has reached the required offset 2: respond"


@pytest.mark.points(2, task=4)
def test_just_enough(leading_with):
    """Two replicas in sync, and min.insync.replicas is 2"""
    leading = leading_with(1, 2)
    leading.append(1)
    leading.high_watermark = 1
    found = check(leading, 1)
    assert found == (True, Errors.NONE), f"two replicas in sync are as many as required: no error; you return {found}"


@pytest.mark.points(5, task=4)
def test_too_few_after_the_append(leading_with):
    """Committed by a single replica; min.insync.replicas is 2"""
    leading = leading_with(1)
    leading.append(1)
    leading.high_watermark = 1
    found = check(leading, 1)
    assert found == (True, Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND), (
        f"it is committed, but by one replica only: the client must know; you return {found}"
    )
    leading.high_watermark = 0
    found = check(leading, 1)
    assert found == (False, Errors.NONE), f"it is not committed yet: wait, whatever the ISR is; you return {found}"


@pytest.mark.points(1, task=4)
def test_a_log_that_is_offline(leading):
    """The leader's replica has no log"""
    leading.leader.log = None
    try:
        found = check(leading, 1)
    except AttributeError as error:
        pytest.fail(f"the leader's log is offline (leader.log is None): this broker cannot tell ({error})")
    assert found == (False, Errors.NOT_LEADER_OR_FOLLOWER), (
        f"the leader's log is offline: NOT_LEADER_OR_FOLLOWER, so that the client asks for metadata; you return {found}"
    )


@pytest.mark.points(3, task=4)
def test_leads_no_more(leading):
    """Another broker leads"""
    leading.append(1)
    leading.partition.make_follower(PartitionState(1, 2, 1, [2, 3], 1, [1, 2, 3]))
    found = check(leading, 1)
    assert found == (False, Errors.NOT_LEADER_OR_FOLLOWER), f"this broker cannot know any more; you return {found}"
