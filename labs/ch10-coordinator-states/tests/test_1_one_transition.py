"""Task 1: only transitions of the table, and one at a time."""

import dataclasses

import pytest

from kafka_lite.coordinator.transaction.transaction_state import VALID_PREVIOUS_STATES, TransactionState

S = TransactionState


@pytest.mark.points(8, task=1)
def test_every_pair_of_states(an_id, refuses):
    """Eight states, sixty-four pairs"""
    for before in S:
        for after in S:
            metadata = an_id(before)
            transit = dataclasses.replace(metadata.current, state=after)
            refused = refuses(metadata._prepare, transit)
            allowed = before in VALID_PREVIOUS_STATES[after]
            assert refused != allowed, (
                f"from {before.title} to {after.title}: {'allowed' if allowed else 'not allowed'}; the table lists for "
                "each state those that it may come from"
            )
            pending = metadata.pending_state
            assert pending is (after if allowed else None), f"{before.title} to {after.title}: pending is {pending}"


@pytest.mark.points(6, task=1)
def test_nothing_changes_before_the_record_is_written(an_id, refuses):
    """Prepared, then written"""
    metadata = an_id(S.EMPTY)
    transit = metadata._prepare(dataclasses.replace(metadata.current, state=S.ONGOING))
    assert transit is not None, "_prepare returns the transition, which the caller appends to the log; yours: None"
    assert transit.state is S.ONGOING, "_prepare returns the transition, which the caller appends to the log"
    assert metadata.state is S.EMPTY, (
        "the record is not in the log yet: if the broker dies now, the id is Empty, so it must be Empty here, too"
    )
    metadata.complete(transit)
    assert metadata.state is S.ONGOING, "the record is in the log: the id is Ongoing"
    assert metadata.pending_state is None, "the transition is completed, so none is pending"
    assert refuses(metadata.complete, transit), "no transition is pending, so none can be completed, nor twice"


@pytest.mark.points(6, task=1)
def test_one_at_a_time(an_id, refuses):
    """A second transition, and a completion that does not belong to the pending one"""
    metadata = an_id(S.ONGOING)
    commit = metadata._prepare(dataclasses.replace(metadata.current, state=S.PREPARE_COMMIT))
    abort = dataclasses.replace(metadata.current, state=S.PREPARE_ABORT)
    assert refuses(metadata._prepare, abort), (
        "a commit is on its way to the log, and an abort is prepared: both would be written. Only one at a time"
    )
    assert metadata.pending_state is S.PREPARE_COMMIT, "the refused transition must not replace the pending one"
    assert refuses(metadata.complete, abort), (
        "PrepareCommit is pending, and PrepareAbort was completed: complete takes only the pending transition"
    )
    assert metadata.state is S.ONGOING, f"the refused completion has changed the state to {metadata.state.title}"
    assert metadata.pending_state is S.PREPARE_COMMIT, "the refused completion leaves the pending transition pending"
    metadata.complete(commit)
    assert metadata.state is S.PREPARE_COMMIT, "the commit, which was pending, is in the log"
