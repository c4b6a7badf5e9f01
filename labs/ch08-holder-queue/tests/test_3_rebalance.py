"""Task 3: workers come and go."""

import pytest

from kafka_lite.mirror.ureplicator.controller.assignment import instance_to_topic_partitions
from kafka_lite.mirror.ureplicator.controller.instance_topic_partition_holder import InstanceTopicPartitionHolder
from kafka_lite.mirror.ureplicator.controller.rescale import balance, rescale


@pytest.mark.points(7, task=3)
def test_homeless_ones_move_first(mirror):
    """w3 has four, of which two are homeless"""
    holders = [
        InstanceTopicPartitionHolder("w1", mirror.partitions("t0 t3")),
        InstanceTopicPartitionHolder("w3", mirror.partitions("a2 a5 t1 t4")),
    ]
    balance(holders, mirror.partitions("t1 t4"))
    found = mirror.shares(holders)
    assert found == {"w1": "t0 t1 t3", "w3": "a2 a5 t4"}, (
        f"until the two differ by one at most, the first homeless partition moves; yours: {found}"
    )


@pytest.mark.points(5, task=3)
def test_a_newcomer_gets_its_share(mirror):
    """w1 has five, w2 none"""
    holders = [
        InstanceTopicPartitionHolder("w2"),
        InstanceTopicPartitionHolder("w1", mirror.partitions("t0 t1 t2 t3 t4")),
    ]
    balance(holders, set())
    found = mirror.shares(holders)
    assert found == {"w1": "t2 t3 t4", "w2": "t0 t1"}, (
        f"the first by name move, and no more than needed; yours: {found}"
    )
    names = [each.instance_name for each in holders]
    assert names == ["w2", "w1"], f"the list stays sorted, least loaded first; yours: {names}"


@pytest.mark.points(7, task=3)
def test_a_death(mirror):
    """Three workers, w2 has died"""
    assignment = instance_to_topic_partitions(mirror.states(t="123123"))
    found = rescale(["w1", "w3"], assignment, set())
    assert found is not None, "w2 has gone: its partitions need a worker"
    shares = mirror.shares(found)
    assert shares == {"w1": "t0 t1 t3", "w3": "t2 t4 t5"}, f"only t1 and t4 move: they were w2's; yours: {shares}"
    shares = mirror.shares(rescale(["w1"], assignment, set()) or ())
    assert shares == {"w1": "t0 t1 t2 t3 t4 t5"}, f"w2 and w3 have died, and w1 gets all that they had; yours: {shares}"


@pytest.mark.points(5, task=3)
def test_nobody_came_or_went(mirror):
    """Seven partitions beside one"""
    assignment = instance_to_topic_partitions(mirror.states(t="11111112"))
    found = rescale(["w1", "w2"], assignment, set())
    assert found is None, f"an imbalance alone moves nothing: None; yours: {mirror.shares(found)}"


@pytest.mark.points(6, task=3)
def test_what_nobody_has(mirror):
    """Partitions without a worker"""
    assignment = instance_to_topic_partitions(mirror.states(t="12"))
    found = rescale(["w1", "w2"], assignment, mirror.partitions("u0 u1 u2"))
    assert found is not None, "nobody came or went, but u has no worker: it would never be copied"
    shares = mirror.shares(found)
    assert shares == {"w1": "t0 u0 u2", "w2": "t1 u1"}, f"they are dealt in order; yours: {shares}"
    found = rescale(["w1"], {}, mirror.partitions("u0 u1"))
    assert found is not None, "w1 has come"
    assert mirror.shares(found) == {"w1": "u0 u1"}, f"w1 gets both; yours: {mirror.shares(found)}"
    try:
        found = rescale(["w1"], {}, sorted(mirror.partitions("u0 u1")))
    except AttributeError as error:
        pytest.fail(f"unassigned may be any collection, here a list: make a set of it ({error})")
    assert mirror.shares(found) == {"w1": "u0 u1"}, f"w1 gets both of a list as well; yours: {mirror.shares(found)}"
