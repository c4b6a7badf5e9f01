"""Task 2: the leader is about to stop."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.partition_leader_selector import StateChangeFailedError, select_controlled_shutdown_leader
from kafka_lite.zookeeper.data import LeaderAndIsr

PARTITION = TopicPartition("demo", 0)


def elect(isr, stopping, live=(1, 2, 3)):
    current = LeaderAndIsr(1, list(isr), 4, 7)
    election = select_controlled_shutdown_leader(PARTITION, current, list(live), set(stopping))
    assert current.isr == list(isr), f"current stays as it was read: its ISR was {list(isr)}, now {current.isr}"
    return election


@pytest.mark.points(14, task=2)
def test_another_member_of_the_isr():
    """Broker 1 stops; the ISR is 3, 1"""
    election = elect([3, 1], [1])
    chosen = election.leader_and_isr
    assert chosen.leader == 3, f"2 is not in sync, 1 stops: 3 leads, not {chosen.leader}"
    assert chosen.isr == [3], f"the broker that stops leaves the ISR: [3], not {chosen.isr}"
    assert (chosen.leader_epoch, chosen.zk_version) == (5, 7), (
        "the epoch grows by one, to 5, and the version is the one read, 7; yours are "
        f"{chosen.leader_epoch} and {chosen.zk_version}"
    )
    told = election.replicas_to_tell
    assert told == [1, 2, 3], f"broker 1 still serves, and must learn that it follows: tell [1, 2, 3], not {told}"


@pytest.mark.points(14, task=2)
def test_two_stop_at_once():
    """Brokers 1 and 2 stop; the ISR is 1, 2, 3"""
    chosen = elect([1, 2, 3], [1, 2]).leader_and_isr
    assert chosen.leader == 3, f"2 is about to stop as well: 3 leads, not {chosen.leader}"
    assert chosen.isr == [3], f"all that stop leave the ISR: [3], not {chosen.isr}"


@pytest.mark.points(4, task=2)
def test_the_order_of_the_assignment():
    """Broker 1 stops; the ISR is 4, 3, 1, 2, and broker 4 is dead"""
    chosen = elect([4, 3, 1, 2], [1]).leader_and_isr
    assert chosen.leader == 2, f"of 2 and 3, which can lead, 2 is first in the assignment; you chose {chosen.leader}"
    assert chosen.isr == [4, 3, 2], f"only those that stop leave the ISR, which keeps its order; yours {chosen.isr}"
    leader = elect([1, 2, 3], [1], live=(1, 3, 2)).leader_and_isr.leader
    assert leader == 3, f"assigned to 1, 3, 2, and 1 stops: 3 leads, whatever its number; you chose {leader}"


@pytest.mark.points(8, task=2)
def test_nobody_is_left():
    """Broker 1 stops, and is the ISR; broker 2 is alive"""
    for isr, stopping in (([1], [1]), ([1, 2], [1, 2])):
        why = f"ISR {isr}, stopping {stopping}: no member of the ISR stays"
        must_raise(StateChangeFailedError, why, elect, isr, stopping)
    why = "ISR [1, 4], 1 stops and 4 is dead: who is left of the ISR cannot lead"
    must_raise(StateChangeFailedError, why, elect, [1, 4], [1])
