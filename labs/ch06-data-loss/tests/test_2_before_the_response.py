"""Task 2: a produce request with several partitions."""

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.produce_status import PartitionResponse, ProducePartitionStatus, check_acks

A, B, C = (TopicPartition(topic, 0) for topic in "abc")
NONE = Errors.NONE


class Asked:
    """A partition that says (reached, error), and counts how often it is asked."""

    def __init__(self, reached, error=NONE):
        self.outcome = reached, error
        self.offsets = []

    def check_enough_replicas_reach_offset(self, required_offset):
        self.offsets.append(required_offset)
        return self.outcome


def check(partitions, done=()):
    """The result and the statuses, by partition; those in ``done`` have their result already."""
    statuses = {tp: ProducePartitionStatus(7, PartitionResponse(NONE, 6), tp not in done) for tp in partitions}

    def leader_partition_of(topic_partition):
        found = partitions[topic_partition]
        if isinstance(found, Exception):
            raise found
        return found

    try:
        return check_acks(statuses, leader_partition_of), statuses
    except ApiError as error:
        pytest.fail(f"a leader that has moved is a result of its partition, not the end of the check: {error}")


@pytest.mark.points(10, task=2)
def test_one_waits():
    """a-0 waits, b-0 is committed"""
    found, statuses = check({A: Asked(False), B: Asked(True)})
    assert found is False, "one partition still waits, so the request does: return False"
    assert statuses[A].acks_pending, "a-0 waits: it stays pending"
    assert not statuses[B].acks_pending, (
        "a-0 waits, and the partition after it is committed: look at all of them; b-0 is no longer pending"
    )


@pytest.mark.points(8, task=2)
def test_all_are_committed():
    """Both have reached their offset"""
    partitions = {A: Asked(True), B: Asked(True)}
    found, statuses = check(partitions)
    assert found is True, f"all are committed: return True, not {found!r}"
    for tp, status in statuses.items():
        assert partitions[tp].offsets == [7], f"ask {tp} for required_offset, 7; you asked for {partitions[tp].offsets}"
        assert not status.acks_pending, f"{tp} is committed: it is no longer pending"
        assert status.response.error is NONE, f"{tp} has no error; yours is {status.response.error.name}"


@pytest.mark.points(8, task=2)
def test_committed_by_too_few():
    """The ISR has shrunk below min.insync.replicas since the append"""
    found, statuses = check({A: Asked(True, Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND)})
    error = statuses[A].response.error
    assert error is Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, (
        f"it is committed, but by fewer replicas than required: the producer must know; your error is {error.name}"
    )
    assert found is True, "and there is nothing to wait for: return True"


@pytest.mark.points(8, task=2)
def test_a_leader_has_moved():
    """a-0 is led by another broker, or says so when it is asked"""
    gone = ApiError(Errors.NOT_LEADER_OR_FOLLOWER, "another broker leads a-0")
    for partition in (gone, Asked(False, Errors.NOT_LEADER_OR_FOLLOWER)):
        found, statuses = check({A: partition, B: Asked(True)})
        error = statuses[A].response.error
        assert not statuses[A].acks_pending, "the leader of a-0 has moved: it can wait for ever; an error is a result"
        assert error is Errors.NOT_LEADER_OR_FOLLOWER, f"a-0 gets NOT_LEADER_OR_FOLLOWER; yours is {error.name}"
        assert not statuses[B].acks_pending, "b-0 is committed: it is no longer pending"
        assert found is True, "neither waits any more: return True"


@pytest.mark.points(6, task=2)
def test_those_that_have_their_result():
    """c-0 was refused before: nobody waits for it"""
    partition = Asked(False)
    found, statuses = check({C: partition}, done=[C])
    assert partition.offsets == [], "c-0 has its result already (acks_pending is False): do not ask it"
    assert found is True, "no partition is pending: return True"
    assert statuses[C].response.error is NONE, "and its response stays as it was"
