"""Task 2: the leader is about to stop."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.partition_leader_selector import StateChangeFailedError, select_controlled_shutdown_leader
from kafka_lite.zookeeper.data import LeaderAndIsr

PARTITION = TopicPartition("demo", 0)


def elect(isr, stopping, live=(1, 2, 3)):
    return select_controlled_shutdown_leader(PARTITION, LeaderAndIsr(1, list(isr), 4, 7), list(live), set(stopping))


@pytest.mark.points(14, task=2)
def test_another_member_of_the_isr():
    """Broker 1 stops; the ISR is 3, 1"""
    election = elect([3, 1], [1])
    chosen = election.leader_and_isr
    assert chosen.leader == 3, f"2 is not in sync, 1 stops: 3 leads, not {chosen.leader}"
    assert chosen.isr == [3], f"the broker that stops leaves the ISR: [3], not {chosen.isr}"
    assert (chosen.leader_epoch, chosen.zk_version) == (5, 7), "the epoch grows by one, the version is the one read"
    told = election.replicas_to_tell
    assert told == [1, 2, 3], f"broker 1 still serves, and must learn that it follows: tell [1, 2, 3], not {told}"


@pytest.mark.points(14, task=2)
def test_two_stop_at_once():
    """Brokers 1 and 2 stop; the ISR is 1, 2, 3"""
    chosen = elect([1, 2, 3], [1, 2]).leader_and_isr
    assert chosen.leader == 3, f"2 is about to stop as well: 3 leads, not {chosen.leader}"
    assert chosen.isr == [3], f"all that stop leave the ISR: [3], not {chosen.isr}"


@pytest.mark.points(12, task=2)
def test_nobody_is_left():
    """Broker 1 stops, and is the ISR; broker 2 is alive"""
    for isr, stopping in (([1], [1]), ([1, 2], [1, 2])):
        try:
            chosen = elect(isr, stopping).leader_and_isr.leader
        except StateChangeFailedError:
            continue
        pytest.fail(
            f"ISR {isr}, stopping {stopping}: no member of the ISR stays, so raise StateChangeFailedError; not {chosen}"
        )
