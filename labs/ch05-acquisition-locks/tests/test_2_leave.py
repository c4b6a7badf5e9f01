"""Task 2: what becomes of a record that a member had."""

import pytest

from kafka_lite.server.share.record_state import RecordState

AVAILABLE, ACKNOWLEDGED, ARCHIVED = RecordState.AVAILABLE, RecordState.ACKNOWLEDGED, RecordState.ARCHIVED
LIMIT = 5


@pytest.mark.points(6, task=2)
def test_a_state_without_a_member(acquired, seen):
    """Accepted, rejected, released"""
    for to in (ACKNOWLEDGED, ARCHIVED, AVAILABLE):
        state = acquired(3)
        state._leave(to, LIMIT)
        assert seen(state) == f"{to.name}:3:None", f"{to.name} after 3 deliveries, and nobody has it: {seen(state)}"


@pytest.mark.points(7, task=2)
def test_the_limit(acquired, seen):
    """Released after five deliveries of five, and after six; accepted after five"""
    for deliveries in (5, 6):
        state = acquired(deliveries)
        state._leave(AVAILABLE, LIMIT)
        assert state.state is ARCHIVED, f"{deliveries} deliveries are enough: ARCHIVED, not {seen(state)}"
    state = acquired(5)
    state._leave(ACKNOWLEDGED, LIMIT)
    assert state.state is ACKNOWLEDGED, f"the fifth member has accepted it: that is no failure; yours {seen(state)}"


@pytest.mark.points(7, task=2)
def test_undelivered(acquired, seen):
    """The member closes its session"""
    state = acquired(5)
    state._leave(AVAILABLE, LIMIT, True)
    assert seen(state) == "AVAILABLE:4:None", (
        f"the member has not looked at it, so the delivery does not count, and the limit is not reached: AVAILABLE, 4, "
        f"None; yours {seen(state)}"
    )
    state = acquired(2)
    state._leave(ARCHIVED, LIMIT, True)
    assert seen(state) == "ARCHIVED:2:None", f"an archived record keeps its deliveries, 2: {seen(state)}"
