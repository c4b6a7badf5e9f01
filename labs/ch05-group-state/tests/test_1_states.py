"""Task 1: the transitions of the table are allowed, and no others."""

import pytest

from kafka_lite.coordinator.group.group_state import GroupState

EMPTY, PREPARING, AWAITING = GroupState.EMPTY, GroupState.PREPARING_REBALANCE, GroupState.AWAITING_SYNC
STABLE, DEAD = GroupState.STABLE, GroupState.DEAD
ALLOWED = {
    *((EMPTY, PREPARING), (STABLE, PREPARING), (AWAITING, PREPARING)),
    *((PREPARING, AWAITING), (PREPARING, EMPTY), (AWAITING, STABLE)),
    *((state, DEAD) for state in GroupState),
}


def goes(group, before, after):
    group.state = before
    try:
        group.transition_to(after)
    except NotImplementedError:
        raise
    except RuntimeError:
        return False
    return True


@pytest.mark.points(9, task=1)
def test_every_pair_of_states(group):
    """Five states, twenty-five pairs"""
    for before in GroupState:
        for after in GroupState:
            allowed, gone = (before, after) in ALLOWED, goes(group, before, after)
            assert gone == allowed, (
                f"from {before.name} to {after.name}: {('allowed' if allowed else 'not allowed')}; the table "
                "lists for each state those that it may come from, and other transitions raise RuntimeError"
            )
            wanted = after if allowed else before
            assert group.state is wanted, f"from {before.name} to {after.name}: then it is {wanted.name}"
    assert group.state_timestamp_ms == 5000, (
        "state_timestamp_ms is the time of the change: the offsets of an empty group expire by it"
    )


@pytest.mark.points(6, task=1)
def test_when_a_rebalance_may_begin(group):
    """can_rebalance in every state"""
    can = set()
    for state in GroupState:
        group.state = state
        if group.can_rebalance:
            can.add(state.name)
    wanted = {"EMPTY", "STABLE", "AWAITING_SYNC"}
    assert can == wanted, (
        "a rebalance that has begun must not begin again, and a dead group stays dead: "
        f"{sorted(wanted)}, not {sorted(can)}"
    )
