import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.partition_leader_selector import (
    LeaderElectionNotNeededError,
    NoReplicaOnlineError,
    StateChangeFailedError,
    select_controlled_shutdown_leader,
    select_offline_partition_leader,
    select_preferred_replica_leader,
    select_reassigned_partition_leader,
    select_same_leader,
)
from kafka_lite.zookeeper.data import LeaderAndIsr

P = TopicPartition("t", 0)


def select(assigned, isr, live, unclean=False, epoch=4):
    live_replicas = [replica for replica in assigned if replica in live]
    current = LeaderAndIsr(isr[0] if isr else -1, list(isr), epoch, 7)
    return select_offline_partition_leader(P, current, live_replicas, live, unclean)


@pytest.mark.parametrize(
    ("assigned", "isr", "live", "unclean", "leader", "new_isr"),
    [
        ([1, 2, 3], [1, 2, 3], {2, 3}, False, 2, [2, 3]),
        ([1, 2, 3], [3, 1, 2], {2, 3}, False, 2, [3, 2]),  # the assignment's order chooses, the ISR keeps its own
        ([1, 2, 3], [1, 3], {2, 3}, False, 3, [3]),
        ([1, 2, 3], [1, 3], {2, 3}, True, 3, [3]),  # a clean one is preferred even where unclean ones are allowed
        ([1, 2, 3], [1], {2, 3}, True, 2, [2]),
    ],
)
def test_the_first_live_replica_of_the_isr_leads(assigned, isr, live, unclean, leader, new_isr):
    election = select(assigned, isr, live, unclean)
    chosen = election.leader_and_isr
    assert (chosen.leader, chosen.isr, chosen.leader_epoch, chosen.zk_version) == (leader, new_isr, 5, 7)
    assert election.replicas_to_tell == [replica for replica in assigned if replica in live]


@pytest.mark.parametrize(("live", "unclean"), [({2, 3}, False), (set(), True), (set(), False)])
def test_without_an_eligible_replica_an_election_fails(live, unclean):
    with pytest.raises(NoReplicaOnlineError, match="t-0"):
        select([1, 2, 3], [1], live, unclean)


@pytest.mark.parametrize(
    ("assigned", "isr", "stopping", "leader", "new_isr"),
    [
        ([1, 2, 3], [1, 2, 3], {1}, 2, [2, 3]),
        ([1, 2, 3], [3, 1], {1}, 3, [3]),  # replica 2 is not in sync
        ([1, 2, 3], [1, 2, 3], {1, 2}, 3, [3]),
    ],
)
def test_the_leader_after_a_controlled_shutdown(assigned, isr, stopping, leader, new_isr):
    election = select_controlled_shutdown_leader(P, LeaderAndIsr(1, isr, 4, 7), assigned, stopping)
    chosen = election.leader_and_isr
    assert (chosen.leader, chosen.isr, chosen.leader_epoch, chosen.zk_version) == (leader, new_isr, 5, 7)
    assert election.replicas_to_tell == assigned, "replicas that shut down are told, too"


def test_no_other_replica_is_in_sync_for_a_controlled_shutdown():
    with pytest.raises(StateChangeFailedError, match="No other replicas in ISR"):
        select_controlled_shutdown_leader(P, LeaderAndIsr(1, [1], 4, 7), [1, 2], {1})


@given(st.permutations([1, 2, 3, 4]), st.sets(st.integers(1, 4)), st.sets(st.integers(1, 5)), st.booleans())
def test_an_elected_leader_is_alive_and_in_its_isr(assigned, isr, live, unclean):
    try:
        election = select(assigned, sorted(isr), live, unclean)
    except NoReplicaOnlineError:
        assert not (isr & live)
        assert not (unclean and live & {1, 2, 3, 4})
        return
    chosen = election.leader_and_isr
    assert chosen.leader in live
    assert chosen.leader in chosen.isr
    assert set(chosen.isr) <= live
    assert isr & live == set(chosen.isr) or (not isr & live and unclean)


def test_the_leader_of_a_reassigned_partition_is_its_first_new_replica_that_is_alive_and_in_sync():
    election = select_reassigned_partition_leader(P, LeaderAndIsr(1, [1, 4, 5], 4, 7), [6, 5, 4], {4, 5, 6})
    assert election.leader_and_isr == LeaderAndIsr(5, [1, 4, 5], 5, 7)
    assert election.replicas_to_tell == [6, 5, 4]
    with pytest.raises(NoReplicaOnlineError):
        select_reassigned_partition_leader(P, LeaderAndIsr(1, [1, 4], 4, 7), [5, 4], {1, 5})


def test_the_preferred_replica_leads_if_it_is_alive_and_in_sync():
    current = LeaderAndIsr(2, [2, 1], 4, 7)
    election = select_preferred_replica_leader(P, current, [1, 2, 3], {1, 2})
    assert election.leader_and_isr == LeaderAndIsr(1, [2, 1], 5, 7)
    assert election.replicas_to_tell == [1, 2, 3]
    with pytest.raises(StateChangeFailedError, match="not alive"):
        select_preferred_replica_leader(P, current, [1, 2], {2})
    with pytest.raises(StateChangeFailedError, match="not in the ISR"):
        select_preferred_replica_leader(P, LeaderAndIsr(2, [2], 4, 7), [1, 2], {1, 2})
    with pytest.raises(LeaderElectionNotNeededError):
        select_preferred_replica_leader(P, current, [2, 1], {1, 2})


def test_the_same_leader_gets_the_next_epoch():
    assert select_same_leader(P, LeaderAndIsr(2, [2, 1], 4, 7)).leader_and_isr == LeaderAndIsr(2, [2, 1], 5, 7)
