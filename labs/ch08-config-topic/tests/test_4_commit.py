"""Task 4: the commit makes a complete set valid."""

import pytest

from kafka_lite.connect.runtime.storage.config_topic import ChangeKind


@pytest.mark.points(8, task=4)
def test_a_complete_set(applied):
    """Two tasks, then one"""
    applied.task(0, "a")
    applied.task(1, "b")
    change = applied.commit(2)
    assert applied.tasks() == {0: "a", 1: "b"}, f"0 and 1 are valid; yours: {applied.tasks()}"
    assert change is not None, "a commit is a change to tell of"
    told = change.kind, [task.task for task in change.tasks]
    assert told == (ChangeKind.TASKS_UPDATED, [0, 1]), f"the change names the tasks 0 and 1, not {told}"
    applied.task(0, "a and b")
    applied.commit(1)
    assert applied.tasks() == {0: "a and b"}, f"one task now; yours: {applied.tasks()}"
    applied.commit(0)
    assert applied.tasks() == {}, f"a connector may want no tasks; yours: {applied.tasks()}"


@pytest.mark.points(12, task=4)
def test_an_incomplete_set(applied):
    """The leader died, or compaction came"""
    applied.task(0, "a")
    applied.task(1, "b")
    applied.commit(2)
    applied.task(0, "new")
    change = applied.commit(2)
    assert change is not None, "an incomplete set is a change, too: the connector has no tasks any more"
    assert not change.tasks, (
        f"by each commit the deferred ones are dropped: 1 is missing, the change names no tasks; yours: {change}"
    )
    assert applied.tasks() == {}, (
        f"1 is missing: the connector is inconsistent, and has no tasks; yours: {applied.tasks()}"
    )
    assert applied.state().task_count("x") == 2, "the count is stored in either case"
    applied.task(1, "new")
    applied.commit(2)
    assert applied.tasks() == {}, (
        f"0 was deferred before the last commit: the deferred ones are dropped by it; yours: {applied.tasks()}"
    )
    applied.task(0, "new")
    applied.task(1, "new")
    applied.commit(2)
    assert applied.tasks() == {0: "new", 1: "new"}, (
        f"a complete set makes it consistent again; yours: {applied.tasks()}"
    )


@pytest.mark.points(10, task=4)
def test_what_is_no_commit(applied):
    """Wrong formats, and another connector"""
    applied.task(0, "a")
    for value in (None, 7, {}, {"tasks": "1"}, {"tasks": -1}, {"tasks": 1 << 31}, {"tasks": True}):
        try:
            change = applied.put("commit-x", value)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            pytest.fail(f"commit-x {value!r} is logged and changes nothing; yours raised {error!r}")
        assert change is None, f"commit-x {value!r} changes nothing; true is no number of tasks; yours: {change}"
    change = applied.put("commit-z", {"tasks": 2**31 - 1})
    assert change is not None, f"{2**31 - 1} is the largest number of tasks, and one: the commit counts; yours: None"
    applied.put("commit-y", {"tasks": 0})
    applied.commit(1)
    assert applied.tasks() == {0: "a"}, f"the configuration of x was still deferred; yours: {applied.tasks()}"
