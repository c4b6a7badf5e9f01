"""Task 3: another future gets the same outcome."""

import pytest

from kafka_lite.clients.request_future import RequestFuture, RequestFutureAdapter


@pytest.mark.points(7, task=3)
def test_a_value(pending, outcome_of):
    """Before and after it is completed"""
    other, late = RequestFuture(), RequestFuture()
    pending.chain(other)
    assert outcome_of(other) == "pending", "there is no outcome yet"
    pending.complete(5)
    pending.chain(late)
    outcomes = outcome_of(other), outcome_of(late)
    assert outcomes == ("value 5", "value 5"), f"both get 5, including the one that was chained late; yours: {outcomes}"


@pytest.mark.points(7, task=3)
def test_a_failure(pending, outcome_of):
    """The inner future fails"""
    other = RequestFuture()
    pending.chain(other)
    pending.fail(ValueError("no"))
    outcome = outcome_of(other)
    assert outcome != "pending", (
        "the inner future has failed, but the outer one is pending: a caller that waits for it waits for ever"
    )
    assert outcome == "ValueError: no", f"the same exception, not {outcome}"


class Sync(RequestFutureAdapter):
    """Sends SyncGroup after the response to JoinGroup."""

    def __init__(self, sync):
        self.sync = sync

    def on_success(self, value, future):  # noqa: ARG002
        self.sync.chain(future)


@pytest.mark.points(2, task=3)
@pytest.mark.parametrize("fails", ["none", "join", "sync"])
def test_join_and_sync(outcome_of, fails):
    """JoinGroup composed, SyncGroup chained; the one that fails:"""
    join, sync = RequestFuture(), RequestFuture()
    assignment = join.compose(Sync(sync))
    for name, future in (("join", join), ("sync", sync)):
        if name == fails:
            future.fail(ValueError(name))
            break
        future.complete(name)
    wanted = "value sync" if fails == "none" else f"ValueError: {fails}"
    outcome = outcome_of(assignment)
    assert outcome == wanted, (
        "after the response to JoinGroup comes SyncGroup, whose outcome is the outcome of the whole "
        f"chain: {wanted}, not {outcome}"
    )
