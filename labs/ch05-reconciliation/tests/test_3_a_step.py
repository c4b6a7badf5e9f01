"""Task 3: first give up, then get."""

import pytest

from kafka_lite.coordinator.group.modern.current_assignment_builder import _step
from kafka_lite.coordinator.group.modern.member_state import MemberState

STABLE, UNREVOKED, UNRELEASED, _ = MemberState


@pytest.mark.points(7, task=3)
def test_nothing_to_give_up(member, some, owners):
    """From 0 and 1 to 0, 1 and 2, which is free"""
    stepped = _step(member(0, 1), 5, 8, some(0, 1, 2), owners(0, 1), some(0, 1))
    assert stepped.assigned == some(0, 1, 2), f"2 is free, and 0 and 1 are kept; assigned is {stepped.assigned}"
    assert stepped.state is STABLE, f"it has its whole target: STABLE, not {stepped.state.name}"
    assert (stepped.member_epoch, stepped.previous_member_epoch) == (8, 5), (
        f"it is led to the epoch of the target, 8, and was in 5 before; yours: {stepped.member_epoch}, "
        f"{stepped.previous_member_epoch}"
    )
    assert stepped.pending_revocation == {}, f"there is nothing to give up, but {stepped.pending_revocation} is pending"


@pytest.mark.points(7, task=3)
def test_partitions_of_others(member, some, owners):
    """From 0 to 0, 1, 2 and 3, of which others have 1 and 3"""
    stepped = _step(member(0), 5, 8, some(0, 1, 2, 3), owners(0, 1, 3), None)
    assert stepped.assigned == some(0, 2), (
        f"others have 1 and 3, so the member may use 0 and 2 only: never two owners. Yours: {stepped.assigned}"
    )
    assert stepped.state is UNRELEASED, f"it waits for 1 and 3: UNRELEASED_PARTITIONS, not {stepped.state.name}"
    assert stepped.member_epoch == 8, (
        f"it has nothing to give up, so it is in the target's epoch, 8, while it waits; yours {stepped.member_epoch}"
    )


@pytest.mark.points(7, task=3)
def test_something_to_give_up(member, some, owners):
    """From 0 and 1 to 1 and 2"""
    for owned in (some(0, 1), None):
        stepped = _step(member(0, 1), 5, 8, some(1, 2), owners(0, 1), owned)
        assert stepped.state is UNREVOKED, f"it may still have 0: UNREVOKED_PARTITIONS, not {stepped.state.name}"
        assert stepped.assigned == some(1), (
            f"it may go on with 1 only: 0 is to be given up, and 2 comes afterwards. Yours: {stepped.assigned}"
        )
        assert stepped.pending_revocation == some(0), f"0 is pending, not {stepped.pending_revocation}"
        assert stepped.member_epoch == 5, (
            f"it can commit the offset of 0 only in its epoch, 5: it stays there; yours {stepped.member_epoch}"
        )


@pytest.mark.points(7, task=3)
def test_what_it_does_not_own_need_not_be_given_up(member, some, owners):
    """From 0 and 1 to 1, by a member that says that it has 1 only"""
    stepped = _step(member(0, 1), 5, 8, some(1), owners(0, 1), some(1))
    assert stepped.state is STABLE, f"it does not have 0 any more: STABLE at once, not {stepped.state.name}"
    assert stepped.member_epoch == 8, f"and in the target's epoch, 8, not {stepped.member_epoch}"
    assert stepped.assigned == some(1), f"it keeps 1, and 0 is gone; yours {stepped.assigned}"


@pytest.mark.points(7, task=3)
def test_the_epoch_that_is_passed(member, some, owners):
    """A member of epoch 5 that takes its step in epoch 6, and the target is that of 8"""
    stepped = _step(member(0, 1), 6, 8, some(1), owners(), None)
    assert stepped.member_epoch == 6, (
        f"epoch 6 was passed for a member that must give up something; yours {stepped.member_epoch}"
    )
    stepped = _step(member(0), 6, 8, some(), owners(), some())
    assert (stepped.assigned, stepped.member_epoch) == ({}, 8), (
        f"the target is empty, and nothing is owned: no partitions, epoch 8; yours {stepped.assigned}, "
        f"{stepped.member_epoch}"
    )
