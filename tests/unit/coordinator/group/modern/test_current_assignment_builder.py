"""The steps of a member towards its target."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.coordinator.group.modern.consumer_group_member import ConsumerGroupMember
from kafka_lite.coordinator.group.modern.consumer_group_state import VALID_PREVIOUS_STATES, ConsumerGroupState
from kafka_lite.coordinator.group.modern.current_assignment_builder import NO_EPOCH, next_assignment
from kafka_lite.coordinator.group.modern.member_state import VALID_PREVIOUS_STATES as VALID_PREVIOUS_MEMBER_STATES
from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions

T = UUID(int=1)
STABLE, UNREVOKED, UNRELEASED, UNKNOWN = MemberState


def some(*numbers: int) -> TopicIdPartitions:
    return {T: frozenset(numbers)} if numbers else {}


def step(
    member: ConsumerGroupMember, target: TopicIdPartitions, owned: TopicIdPartitions | None, *taken: int, epoch: int = 6
) -> ConsumerGroupMember:
    return next_assignment(member, epoch, target, lambda _, number: 5 if number in taken else NO_EPOCH, owned)


MEMBER = ConsumerGroupMember("m", member_epoch=5, previous_member_epoch=4, assigned=some(0, 1))


def test_a_stable_member_of_the_epoch_stays() -> None:
    assert step(MEMBER, some(9), None, epoch=5) is MEMBER


def test_a_member_that_keeps_its_partitions_goes_to_the_next_epoch() -> None:
    stepped = step(MEMBER, some(0, 1), None)
    assert (stepped.member_epoch, stepped.previous_member_epoch, stepped.state) == (6, 5, STABLE)


def test_free_partitions_are_assigned_at_once() -> None:
    stepped = step(MEMBER, some(0, 1, 2), None)
    assert (stepped.state, stepped.assigned) == (STABLE, some(0, 1, 2))


def test_a_member_waits_for_partitions_of_others() -> None:
    stepped = step(MEMBER, some(0, 1, 2, 3), None, 2)
    assert (stepped.member_epoch, stepped.state, stepped.assigned) == (6, UNRELEASED, some(0, 1, 3))
    assert step(stepped, some(0, 1, 2, 3), None).state is STABLE
    assert step(stepped, some(0, 1, 2, 3), None, 2).assigned == some(0, 1, 3)


def test_a_member_stays_in_its_epoch_until_it_has_given_up_partitions() -> None:
    stepped = step(MEMBER, some(1, 2), some(0, 1))
    assert (stepped.member_epoch, stepped.state) == (5, UNREVOKED)
    assert (stepped.assigned, stepped.pending_revocation) == (some(1), some(0))
    assert step(stepped, some(1, 2), some(0, 1)) is stepped
    assert step(stepped, some(1, 2), None) is stepped
    done = step(stepped, some(1, 2), some(1))
    assert (done.member_epoch, done.state, done.assigned, done.pending_revocation) == (6, STABLE, some(1, 2), {})


def test_partitions_that_the_member_does_not_own_need_no_revocation() -> None:
    assert step(MEMBER, some(1), some(1)).state is STABLE
    assert step(MEMBER, some(1), some(0, 1)).state is UNREVOKED


def test_a_target_that_changes_during_a_revocation_is_followed_afterwards() -> None:
    revoking = step(MEMBER, some(1), some(0, 1))
    stepped = step(revoking, some(0), some(1), epoch=8)
    assert (stepped.state, stepped.member_epoch, stepped.pending_revocation) == (UNREVOKED, 6, some(1))
    assert step(stepped, some(0), {}, epoch=8).assigned == some(0)


def test_a_member_of_an_unknown_state_must_own_nothing() -> None:
    unknown = replace(MEMBER, state=UNKNOWN)
    for owned in (None, some(0)):
        with pytest.raises(ApiError) as raised:
            step(unknown, some(0), owned)
        assert raised.value.error is Errors.FENCED_MEMBER_EPOCH
    assert step(unknown, some(0), {}).member_epoch == 6
    assert MemberState.of(55) is UNKNOWN
    assert MemberState.of(1) is UNREVOKED


def test_the_tables_have_every_state_and_no_way_back_from_death() -> None:
    assert VALID_PREVIOUS_STATES.keys() == set(ConsumerGroupState)
    assert VALID_PREVIOUS_MEMBER_STATES.keys() == set(MemberState)
    assert all(
        ConsumerGroupState.DEAD not in before for to, before in VALID_PREVIOUS_STATES.items() if to.value != "Dead"
    )
