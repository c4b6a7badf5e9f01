"""Task 1: when the leader refuses, and what an append does."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.cluster.partition import PartitionState
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.log.append_origin import AppendOrigin


@pytest.mark.points(12, task=1)
def test_too_few_in_sync(leading_with):
    """acks=all, the leader alone in the ISR, min.insync.replicas is 2"""
    leading = leading_with(1)
    why = "one of two required replicas is in sync: refuse (of three replicas; count those in sync)"
    raised = must_raise(ApiError, why, leading.append, -1)
    assert raised.error is Errors.NOT_ENOUGH_REPLICAS, f"{why}: NOT_ENOUGH_REPLICAS, not {raised.error.name}"
    assert leading.log.log_end_offset == 0, (
        f"a refused record is not in the log, or a second try stores it twice; your log ends at "
        f"{leading.log.log_end_offset}"
    )


@pytest.mark.points(8, task=1)
def test_the_others_do_not_ask(leading_with):
    """The same with acks=1 and acks=0"""
    leading = leading_with(1)
    for acks in (1, 0):
        try:
            leading.append(acks)
        except ApiError as error:
            pytest.fail(f"acks={acks} was refused ({error}): acks=1 asks for the leader only, and acks=0 for nothing")
    assert leading.log.log_end_offset == 2, f"both records are in the log; it ends at {leading.log.log_end_offset}"


@pytest.mark.points(8, task=1)
def test_just_enough(leading_with):
    """acks=all, two in sync, min.insync.replicas is 2"""
    leading = leading_with(1, 2)
    try:
        info, moved = leading.append(-1)
    except ApiError as error:
        pytest.fail(f"two are in sync, as many as min.insync.replicas requires; you refuse: {error}")
    assert info.first_offset == 0, f"the first record has offset 0, not {info.first_offset}: return the log's info"
    assert moved is False, "broker 2 has not fetched the record: the high watermark stays; return False beside the info"
    assert leading.epochs == [4], f"the leader epoch is 4, and each batch carries it; yours carry {leading.epochs}"


@pytest.mark.points(6, task=1)
def test_alone(leading_with):
    """acks=1, the leader alone in the ISR: who else should commit?"""
    leading = leading_with(1)
    _, moved = leading.append(1)
    offset = leading.partition.get_replica().high_watermark.message_offset
    assert offset == 1, f"the leader is alone in the ISR: its append commits the record, HW 1; yours is {offset}"
    assert moved is True, "the high watermark moved: return True beside the info"


@pytest.mark.points(2, task=1)
def test_the_guard_of_a_transaction(leading_with):
    """origin and verification_guard are passed to the log; and a replica whose log is offline"""
    leading, given = leading_with(1), []
    leading.log.append_as_leader = lambda _records, *arguments, **named: given.extend([*arguments, *named.values()])
    guard, origin = object(), AppendOrigin.COORDINATOR
    leading.partition.append_records_to_leader(bytearray(b"x"), 1, origin, guard)
    assert origin in given, f"the log validates by who wrote the records: pass origin on; it got {given}"
    assert guard in given, f"the log checks the guard of a transaction: pass verification_guard on; it got {given}"
    leading.partition.get_replica().log = None
    why = "the leader's log is offline (leader.log is None): this broker cannot append"
    raised = must_raise(ApiError, why, leading.append, 1)
    assert raised.error is Errors.NOT_LEADER_OR_FOLLOWER, f"{why}: NOT_LEADER_OR_FOLLOWER, not {raised.error.name}"


@pytest.mark.points(4, task=1)
def test_leads_no_more(leading_with):
    """Another broker leads"""
    leading = leading_with(1, 2)
    leading.partition.make_follower(PartitionState(1, 2, 5, [1, 2], 1, [1, 2, 3]))
    why = "broker 2 leads, and a record here would be in a follower's log"
    raised = must_raise(ApiError, why, leading.append, 1)
    assert raised.error is Errors.NOT_LEADER_OR_FOLLOWER, f"{why}: NOT_LEADER_OR_FOLLOWER, not {raised.error.name}"
