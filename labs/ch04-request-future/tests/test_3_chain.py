"""Task 3: another future gets the same outcome."""

import pytest

from kafka_lite.clients.request_future import RequestFuture, RequestFutureAdapter


@pytest.mark.points(7, task=3)
def test_a_value(pending, outcome_of):
    """Before and after it has come"""
    other, late = RequestFuture(), RequestFuture()
    pending.chain(other)
    assert outcome_of(other) == "pending", "nothing has come yet"
    pending.complete(5)
    pending.chain(late)
    outcomes = outcome_of(other), outcome_of(late)
    assert outcomes == ("value 5", "value 5"), f"both get 5, also the one that was chained late; yours: {outcomes}"


@pytest.mark.points(7, task=3)
def test_a_failure(pending, outcome_of):
    """The inner one fails"""
    other = RequestFuture()
    pending.chain(other)
    pending.fail(ValueError("no"))
    outcome = outcome_of(other)
    assert outcome != "pending", (
        "the inner future has failed, and the outer one is pending: whoever waits for it waits for ever"
    )
    assert outcome == "ValueError: no", f"the same exception, not {outcome}"


class Sync(RequestFutureAdapter):
    """Sends SyncGroup when JoinGroup is answered."""

    def __init__(self, sync):
        self.sync = sync

    def on_success(self, value, future):  # noqa: ARG002
        self.sync.chain(future)


@pytest.mark.points(2, task=3)
@pytest.mark.parametrize("fails", ["none", "join", "sync"])
def test_join_and_sync(outcome_of, fails):
    """JoinGroup composed, SyncGroup chained; this one fails:"""
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
        f"JoinGroup's answer leads to SyncGroup, whose outcome is that of all: {wanted}, not {outcome}"
    )
