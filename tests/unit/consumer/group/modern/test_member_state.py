"""The table of a member's states."""

from __future__ import annotations

import pytest

from kafka_lite.consumer.group.modern.member_state import NOT_IN_GROUP, URGENT, VALID_PREVIOUS_STATES, MemberState

S = MemberState
KAFKA_4_1 = {
    S.STABLE: {S.JOINING, S.ACKNOWLEDGING, S.RECONCILING},
    S.RECONCILING: {S.STABLE, S.JOINING, S.ACKNOWLEDGING, S.RECONCILING},
    S.ACKNOWLEDGING: {S.RECONCILING},
    S.FENCED: {S.JOINING, S.STABLE, S.RECONCILING, S.ACKNOWLEDGING},
    S.JOINING: {S.FENCED, S.UNSUBSCRIBED, S.STALE},
    S.LEAVING: {S.PREPARE_LEAVING},
    S.STALE: {S.LEAVING},
    S.FATAL: {S.JOINING, S.STABLE, S.RECONCILING, S.ACKNOWLEDGING, S.PREPARE_LEAVING, S.LEAVING, S.UNSUBSCRIBED},
}
"""MemberState.java."""


@pytest.mark.parametrize("state", KAFKA_4_1)
def test_transitions_are_those_of_kafka(state: MemberState) -> None:
    assert VALID_PREVIOUS_STATES[state] == KAFKA_4_1[state]


def test_every_state_can_be_entered_and_all_but_fatal_can_be_left() -> None:
    assert VALID_PREVIOUS_STATES.keys() == set(S)
    left = set().union(*(before - {state} for state, before in VALID_PREVIOUS_STATES.items()))
    assert left == set(S) - {S.FATAL}


def test_a_member_that_leaves_takes_no_assignments() -> None:
    assert {state for state in S if state.takes_assignments} == {S.JOINING, S.RECONCILING, S.ACKNOWLEDGING, S.STABLE}


def test_what_is_urgent_is_in_the_group() -> None:
    assert not URGENT & NOT_IN_GROUP
    assert {state for state in S if not state.is_in_group} == NOT_IN_GROUP
