"""Task 4: whether a member may take a step, and in which epoch."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.current_assignment_builder import next_assignment
from kafka_lite.coordinator.group.modern.member_state import MemberState

STABLE, UNREVOKED, UNRELEASED, UNKNOWN = MemberState


@pytest.mark.points(6, task=4)
def test_a_stable_member(member, some, owners):
    """In the target's epoch, and in an older one"""
    stable = member(0)
    same = next_assignment(stable, 5, some(0), owners(0), None)
    assert same is stable, "it is STABLE in the epoch of the target: return the same member, nothing is written then"
    stepped = next_assignment(stable, 8, some(0), owners(0), None)
    assert (stepped.state, stepped.member_epoch) == (STABLE, 8), (
        f"the target is that of epoch 8: the member is led there, although its partitions stay; yours "
        f"{stepped.state.name} in {stepped.member_epoch}"
    )


@pytest.mark.points(7, task=4)
def test_a_member_that_gives_up_partitions(member, some, owners):
    """It still owns them, says nothing, owns them no longer"""
    revoking = member(1, state=UNREVOKED, pending=(0,))
    for owned in (some(0, 1), None):
        same = next_assignment(revoking, 8, some(1), owners(0, 1), owned)
        assert same is revoking, f"it has not said that it gave up 0 (it says {owned}): return the same member"
    stepped = next_assignment(revoking, 8, some(1, 2), owners(0, 1), some(1))
    assert (stepped.state, stepped.member_epoch, stepped.assigned) == (STABLE, 8, some(1, 2)), (
        f"it has given up 0 and 2 is free: STABLE in 8 with 1 and 2; yours {stepped.state.name} in "
        f"{stepped.member_epoch} with {stepped.assigned}"
    )
    assert stepped.pending_revocation == {}, f"nothing is pending any more; yours {stepped.pending_revocation}"


@pytest.mark.points(5, task=4)
def test_a_target_that_has_changed_meanwhile(member, some, owners):
    """It has given up 0, and now has to give up 1, too"""
    stepped = next_assignment(member(1, 2, state=UNREVOKED, pending=(0,)), 8, some(2), owners(0, 1, 2), some(1, 2))
    assert (stepped.state, stepped.pending_revocation) == (UNREVOKED, some(1)), (
        f"the target has no 1 any more: UNREVOKED_PARTITIONS again, with 1; yours {stepped.state.name}, "
        f"{stepped.pending_revocation}"
    )
    assert stepped.member_epoch == 6, (
        f"one revocation is done, so it goes from 5 to the next epoch, 6, and stays there for the second one; yours "
        f"{stepped.member_epoch}"
    )


@pytest.mark.points(4, task=4)
def test_a_member_that_waits(member, some, owners):
    """Its partitions become free one after the other"""
    waiting = member(0, epoch=8, state=UNRELEASED)
    stepped = next_assignment(waiting, 8, some(0, 1, 2), owners(0, 2), some(0))
    assert (stepped.state, stepped.assigned) == (UNRELEASED, some(0, 1)), (
        f"1 is free and 2 is not: UNRELEASED_PARTITIONS with 0 and 1; yours {stepped.state.name}, {stepped.assigned}"
    )
    stepped = next_assignment(stepped, 8, some(0, 1, 2), owners(0, 1), None)
    assert (stepped.state, stepped.assigned) == (STABLE, some(0, 1, 2)), (
        f"now 2 is free: STABLE with 0, 1 and 2; yours {stepped.state.name}, {stepped.assigned}"
    )


@pytest.mark.points(3, task=4)
def test_an_unknown_state(member, some, owners, error_of):
    """A state of a later version"""
    unknown = member(0, state=UNKNOWN)
    for owned in (None, some(0)):
        error = error_of(lambda owned=owned: next_assignment(unknown, 8, some(0), owners(), owned))
        assert error is Errors.FENCED_MEMBER_EPOCH, (
            f"nobody knows what it may have ({owned}): FENCED_MEMBER_EPOCH, not {error}"
        )
    stepped = next_assignment(unknown, 8, some(1), owners(0), some())
    assert (stepped.state, stepped.member_epoch, stepped.assigned) == (STABLE, 8, some(1)), (
        f"it owns nothing: STABLE in 8 with 1; yours {stepped.state.name} in {stepped.member_epoch} with "
        f"{stepped.assigned}"
    )
    stepped = next_assignment(member(0, 1, state=UNKNOWN), 8, some(1), owners(0, 1), some())
    assert stepped.member_epoch == 8, f"it has given up all of its own accord: epoch 8, not {stepped.member_epoch}"
