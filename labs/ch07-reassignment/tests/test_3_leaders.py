"""Task 3: the leader after a reassignment, and the preferred one."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.partition_leader_selector import (
    LeaderElectionNotNeededError,
    NoReplicaOnlineError,
    StateChangeFailedError,
    select_preferred_replica_leader,
    select_reassigned_partition_leader,
)
from kafka_lite.zookeeper.data import LeaderAndIsr

PARTITION = TopicPartition("demo", 0)


def reassigned(target, isr, live):
    return select_reassigned_partition_leader(PARTITION, LeaderAndIsr(1, list(isr), 4, 7), target, set(live))


def preferred(assigned, isr, live, leader=1):
    return select_preferred_replica_leader(PARTITION, LeaderAndIsr(leader, list(isr), 4, 7), assigned, set(live))


@pytest.mark.points(10, task=3)
def test_one_of_the_target():
    """Target 4, 5, 2; the ISR is 1, 2, 5; broker 1 is dead"""
    election = reassigned([4, 5, 2], [1, 2, 5], [2, 4, 5])
    chosen = election.leader_and_isr
    assert chosen.leader == 5, f"4 is not in sync, so 5, the next of the target, leads; not {chosen.leader}"
    assert chosen.isr == [1, 2, 5], f"1 leaves the ISR in a later step: [1, 2, 5], not {chosen.isr}"
    assert (chosen.leader_epoch, chosen.zk_version) == (5, 7), (
        "the epoch grows by one, to 5, and the version is the one read, 7; yours are "
        f"{chosen.leader_epoch} and {chosen.zk_version}"
    )
    assert election.replicas_to_tell == [4, 5, 2], f"all of the target are told; yours {election.replicas_to_tell}"


@pytest.mark.points(6, task=3)
def test_none_of_the_target():
    """5 is in sync and dead, 4 is alive and not in sync"""
    why = "no replica of the target is alive and in sync"
    must_raise(NoReplicaOnlineError, why, reassigned, [4, 5], [1, 5], [1, 4])


@pytest.mark.points(7, task=3)
def test_the_preferred_leader():
    """Assigned to 2, 1, 3; broker 1 leads, broker 3 is dead"""
    election = preferred([2, 1, 3], [1, 2], [1, 2])
    chosen = election.leader_and_isr
    assert (chosen.leader, chosen.isr) == (2, [1, 2]), f"2 leads, the ISR stays; yours {chosen.leader}, {chosen.isr}"
    assert (chosen.leader_epoch, chosen.zk_version) == (5, 7), (
        "this is an election, too: the epoch grows by one, to 5, and the version is the one read, 7; yours are "
        f"{chosen.leader_epoch} and {chosen.zk_version}"
    )
    told = election.replicas_to_tell
    assert told == [2, 1, 3], f"all assigned replicas are told: [2, 1, 3], not {told}"


@pytest.mark.points(7, task=3)
def test_not_needed_and_not_possible():
    """It leads already; it is dead; it is not in sync"""
    must_raise(LeaderElectionNotNeededError, "broker 1 leads already", preferred, [1, 2], [1, 2], [1, 2])
    for isr, live, why in (([1, 2], [1], "dead"), ([1], [1, 2], "not in sync")):
        try:
            preferred([2, 1], isr, live)
        except LeaderElectionNotNeededError:
            pytest.fail(f"broker 2 is {why}, and does not lead yet: raise StateChangeFailedError itself")
        except StateChangeFailedError:
            continue
        pytest.fail(f"broker 2 is {why}: raise StateChangeFailedError")
