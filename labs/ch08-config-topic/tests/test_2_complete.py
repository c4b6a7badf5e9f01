"""Task 2: whether a set is complete."""

import pytest

from kafka_lite.connect.runtime.storage.config_topic import MAX_TASKS, is_complete


@pytest.mark.points(8, task=2)
def test_small_sets():
    """Sets of three, for different counts"""
    assert is_complete({0, 1}, 2), "0 and 1 are two tasks"
    assert not is_complete({0, 2, 3}, 2), "three numbers, but 1 is missing"
    assert not is_complete({1, 2}, 2), "0 is missing"
    assert is_complete(set(), 0), "no tasks, and none are there"


@pytest.mark.points(4, task=2)
def test_more_than_needed():
    """What compaction leaves"""
    assert is_complete({0, 1, 5}, 2), "0 and 1 are there; more may be there, since an older commit was compacted away"
    assert is_complete({3}, 0), "more may be there than none"


@pytest.mark.points(3, task=2)
def test_a_number_that_somebody_wrote():
    """Two billion tasks"""
    assert not is_complete({0, 1}, MAX_TASKS), f"two of {MAX_TASKS} tasks"
