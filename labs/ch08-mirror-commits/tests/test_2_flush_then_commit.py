"""Task 2: acknowledged, then committed."""

import pytest

from kafka_lite.consumer.consumer_errors import CommitFailedError, ConsumerTimeoutError, WakeupError


@pytest.mark.points(8, task=2)
def test_the_order(commits, steps):
    """Flush and commit"""
    commits.flush_and_commit(steps)
    assert steps.done == ["flush", "commit"], (
        f"a crash between the two must not lose records, so flush comes first; your order: {steps.done}"
    )


@pytest.mark.points(7, task=2)
def test_a_lost_record(commits, steps):
    """The flush finds that a record is lost"""
    steps.loses_a_record = True
    commits.flush_and_commit(steps)
    assert steps.done == ["flush"], f"a record is lost: nobody commits any more. You do: {steps.done}"


@pytest.mark.points(4, task=2)
def test_a_wakeup(commits, steps):
    """The mirror is stopped while it commits"""
    steps.commit_errors = [WakeupError()]
    with pytest.raises(WakeupError):
        commits.commit_offsets(steps)
    assert steps.done == ["commit", "commit"], f"the wakeup has interrupted the commit: commit again, not {steps.done}"


@pytest.mark.points(3, task=2)
def test_a_refused_commit(commits, steps, caplog):
    """The group has rebalanced"""
    steps.commit_errors = [CommitFailedError()]
    try:
        commits.commit_offsets(steps)
    except CommitFailedError:
        pytest.fail("a refused commit is a warning: the records come twice, which is no reason to stop the mirror")
    assert steps.done == ["commit"], f"it would be refused again: one commit, not {steps.done}"
    steps.commit_errors = [ValueError("no error of a consumer")]
    try:
        commits.commit_offsets(steps)
    except ValueError:
        pass
    else:
        pytest.fail("only the errors of a consumer are expected: any other one, such as ValueError, must be raised")
    assert caplog.records, "a refused commit is a warning, since records may come twice: self._warn_of_rebalance()"


@pytest.mark.points(3, task=2)
def test_a_timeout(commits, steps):
    """The coordinator does not respond in time; then a record is lost while it does not"""
    steps.commit_errors = [ConsumerTimeoutError("late")]
    commits.commit_offsets(steps)
    assert steps.done == ["commit", "forget missing topics", "commit"], (
        f"a commit that times out is repeated, after _prepare_to_retry: {steps.done}"
    )
    steps.done.clear()
    steps.commit_errors = [ConsumerTimeoutError("late")]
    steps.forget_missing_topics = lambda: setattr(steps.state, "exiting_on_send_failure", True)
    commits.commit_offsets(steps)
    assert steps.done == ["commit"], f"meanwhile a record is lost: look before each attempt. You do {steps.done}"
