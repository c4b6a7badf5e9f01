"""Task 1: new partitions go to the least loaded worker."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.ureplicator.controller.ideal_state_builder import (
    build_custom_ideal_state_for,
    expand_custom_rebalance_mode_ideal_state_for,
)


@pytest.mark.points(8, task=1)
def test_one_by_one(mirror):
    """w1 has 2 partitions, w2 has none"""
    queue = mirror.queue(w1=2, w2=0)
    found = [queue.give_to_least_loaded(TopicPartition("t", number)) for number in range(3)]
    assert found == ["w2", "w2", "w1"], (
        f"w2 gets two, and with two each the first name is next; a worker that got one goes back into the queue "
        f"with it; yours: {found}"
    )


@pytest.mark.points(4, task=1)
def test_nobody_lives(mirror):
    """Nobody lives"""
    found = mirror.queue().give_to_least_loaded(TopicPartition("t", 0))
    assert found is None, f"without live workers nobody gets it: None; yours: {found!r}"
    made = build_custom_ideal_state_for("t", 2, mirror.queue())
    assert (mirror.text(made), made.num_partitions) == ("--", 2), "the partitions count, and have no entry"


@pytest.mark.points(8, task=1)
def test_the_old_ones_stay(mirror):
    """From four partitions to six"""
    old = mirror.states(t="1212")["t"]
    new = expand_custom_rebalance_mode_ideal_state_for(old, "t", 6, mirror.queue(w1=2, w2=2, w3=0))
    assert mirror.text(new)[:4] == "1212", f"old partitions stay where they are; yours: {mirror.text(new)}"
    assert mirror.text(new) == "121233", f"w3 has the fewest, so it gets both; yours: {mirror.text(new)}"
    assert new.num_partitions == 6, f"the new number of partitions is 6; yours: {new.num_partitions}"


@pytest.mark.points(5, task=1)
def test_an_old_one_without_a_worker(mirror):
    """An old partition without a worker"""
    old = mirror.states(t="1-")["t"]
    new = expand_custom_rebalance_mode_ideal_state_for(old, "t", 3, mirror.queue(w1=1))
    assert mirror.text(new) == "1-1", f"t/1 waits for the rebalance; yours: {mirror.text(new)}"
