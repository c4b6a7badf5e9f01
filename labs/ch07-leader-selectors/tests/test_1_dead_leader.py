"""Task 1: the leader has died."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.partition_leader_selector import NoReplicaOnlineError, select_offline_partition_leader
from kafka_lite.zookeeper.data import LeaderAndIsr

PARTITION = TopicPartition("demo", 0)


def elect(isr, live, unclean=False, assignment=(1, 2, 3)):
    live_replicas = [number for number in assignment if number in live]
    current = LeaderAndIsr(1, list(isr), 4, 7)
    election = select_offline_partition_leader(PARTITION, current, live_replicas, set(live), unclean)
    assert current.isr == list(isr), f"current stays as it was read: its ISR was {list(isr)}, now {current.isr}"
    return election


@pytest.mark.points(12, task=1)
def test_the_order_of_the_assignment():
    """Broker 1 died; the ISR is 3, 1, 2; brokers 2, 3 and 5 are alive"""
    chosen = elect([3, 1, 2], [2, 3, 5]).leader_and_isr
    assert chosen.leader == 2, f"the first of the assignment that is alive and in sync is 2; you chose {chosen.leader}"
    assert chosen.isr == [3, 2], f"the ISR keeps its living members, in its order: [3, 2], not {chosen.isr}"
    leader = elect([1, 2, 3], [2, 3], assignment=(1, 3, 2)).leader_and_isr.leader
    assert leader == 3, f"assigned to 1, 3, 2, and 1 is dead: 3 leads, whatever its number; you chose {leader}"


@pytest.mark.points(8, task=1)
def test_what_is_written():
    """The epoch, the version, and the brokers to tell"""
    election = elect([1, 2], [2, 3, 5])
    chosen = election.leader_and_isr
    assert chosen.leader_epoch == 5, f"each election raises the leader epoch by one: 5, not {chosen.leader_epoch}"
    assert chosen.zk_version == 7, f"the write must find version 7, which was read; yours is {chosen.zk_version}"
    told = election.replicas_to_tell
    assert told == [2, 3], (
        f"3 is not in sync, but must follow the new leader, and 5 has no replica: tell [2, 3], not {told}"
    )


@pytest.mark.points(10, task=1)
def test_nobody_in_sync():
    """The ISR is broker 1 alone, which is dead"""
    for live in ([2, 3], []):
        must_raise(NoReplicaOnlineError, "no living broker has all committed records", elect, [1], live)


@pytest.mark.points(10, task=1)
def test_unclean():
    """The same, and the topic allows unclean elections"""
    election = elect([1], [2, 3], unclean=True)
    chosen = election.leader_and_isr
    assert chosen.leader == 2, f"the first living replica, 2, leads; you chose {chosen.leader}"
    assert chosen.isr == [2], f"nobody is in sync with it, and 1 least of all: ISR [2], not {chosen.isr}"
    assert chosen.leader_epoch == 5, f"an unclean election raises the epoch as well: 5, not {chosen.leader_epoch}"
    assert chosen.zk_version == 7, f"and its write must find version 7, too; yours is {chosen.zk_version}"
    told = election.replicas_to_tell
    assert told == [2, 3], f"3 must follow the unclean leader, and drop what 2 does not have: tell [2, 3], not {told}"
    leader = elect([1], [2, 3], unclean=True, assignment=(1, 3, 2)).leader_and_isr.leader
    assert leader == 3, f"assigned to 1, 3, 2, none in sync is alive: 3 leads uncleanly; you chose {leader}"
    must_raise(NoReplicaOnlineError, "no replica is alive, so none can lead", elect, [1], [], True)


@pytest.mark.points(5, task=1)
def test_clean_comes_first():
    """Unclean elections are allowed, but broker 3 is in sync"""
    chosen = elect([1, 3], [2, 3], unclean=True).leader_and_isr
    assert chosen.leader == 3, f"3 has every committed record, 2 has not: 3 leads, not {chosen.leader}"
    assert chosen.isr == [3], f"its ISR is [3], not {chosen.isr}"
