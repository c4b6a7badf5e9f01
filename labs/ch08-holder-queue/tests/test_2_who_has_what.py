"""Task 2: the assignment, read from all ideal states."""

import pytest

from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.ureplicator.controller.assignment import instance_to_topic_partitions, unassigned_partitions


@pytest.mark.points(8, task=2)
def test_each_workers_partitions(mirror):
    """Two topics, two workers"""
    found = instance_to_topic_partitions(mirror.states(t="121", u="-2"))
    expected = {"w1": mirror.partitions("t0 t2"), "w2": mirror.partitions("t1 u1")}
    assert found == expected, f"a worker has partitions of several topics, as numbers; yours: {found}"
    twice = {"t": IdealState.customized("t", "OnlineOffline", {"0": {"w1": "ONLINE", "w2": "ONLINE"}})}
    found = instance_to_topic_partitions(twice)
    assert found == {"w1": mirror.partitions("t0"), "w2": mirror.partitions("t0")}, (
        f"an administrator has given t/0 to two workers: both have it; yours: {found}"
    )


@pytest.mark.points(6, task=2)
def test_what_nobody_has(mirror):
    """Partitions without an entry"""
    found = unassigned_partitions(mirror.states(t="1-", u="---"))
    expected = mirror.partitions("t1 u0 u1 u2")
    assert found == expected, f"NUM_PARTITIONS says how many there are, not the entries; yours: {sorted(found)}"


@pytest.mark.points(6, task=2)
def test_resources_of_others(mirror):
    """A resource that is not uReplicator's"""
    states = mirror.states(t="1") | {"db": IdealState.customized("db", "MasterSlave", {"0": {"node": "MASTER"}})}
    found = instance_to_topic_partitions(states)
    assert found == {"w1": mirror.partitions("t0")}, f"db is no topic, and node no worker; yours: {found}"
    empty = {"db": IdealState.customized("db", "MasterSlave", {}, num_partitions=2)}
    assert unassigned_partitions(empty) == set(), "partitions of db are not to be given away: db is no topic"
