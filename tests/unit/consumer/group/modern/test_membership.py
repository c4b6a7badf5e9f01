"""A member's state and epoch: what responses, errors and the user do to them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from kafka_lite.consumer.group.modern.local_assignment import NO_ASSIGNMENT
from kafka_lite.consumer.group.modern.member_state import VALID_PREVIOUS_STATES, MemberState
from kafka_lite.consumer.group.modern.membership import Membership
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from tests.support.scripted_modern_group import topic_id

S = MemberState
T = topic_id("t")


def response(epoch: int, *partitions: int, assigns: bool = True) -> ConsumerGroupHeartbeatResponse:
    assignment = Assignment(topic_partitions=[TopicPartitions(topic_id=T, partitions=list(partitions))])
    return ConsumerGroupHeartbeatResponse(
        member_id="m", member_epoch=epoch, heartbeat_interval_ms=3000, assignment=assignment if assigns else None
    )


def stable(*partitions: int, instance_id: str | None = None) -> Membership:
    """A member that has these partitions at epoch 1."""
    member = Membership("g", instance_id)
    member.join()
    member.heartbeat_succeeded(response(1, *partitions))
    member.reconciled(member.target)
    member.heartbeat_sent()
    assert member.state is S.STABLE
    return member


def test_a_member_joins_takes_over_acknowledges_and_is_stable() -> None:
    member = Membership("g")
    assert (member.state, member.may_commit) == (S.UNSUBSCRIBED, False)
    member.join()
    assert (member.state, member.epoch, member.is_urgent, member.may_commit) == (S.JOINING, 0, True, False)
    member.heartbeat_succeeded(response(1, 0, 1))
    assert (member.state, member.epoch, member.member_id) == (S.RECONCILING, 1, "m")
    assert (member.is_urgent, member.may_commit, member.is_reconciled) == (False, True, False)
    member.reconciled(member.target)
    assert (member.state, member.is_urgent) == (S.ACKNOWLEDGING, True)
    member.heartbeat_sent()
    assert (member.state, member.current.partitions) == (S.STABLE, {T: {0, 1}})


def test_each_consumer_has_an_id_of_its_own_from_the_beginning() -> None:
    first, second = Membership("g"), Membership("g")
    assert first.member_id
    assert first.member_id != second.member_id


def test_an_empty_assignment_is_taken_over_and_acknowledged_too() -> None:
    member = Membership("g")
    member.join()
    member.heartbeat_succeeded(response(1))
    assert member.state is S.RECONCILING


def test_a_member_that_is_assigned_nothing_yet_is_stable() -> None:
    member = Membership("g")
    member.join()
    member.heartbeat_succeeded(response(1, assigns=False))
    assert (member.state, member.epoch) == (S.STABLE, 1)


def test_the_same_assignment_again_changes_nothing() -> None:
    member = stable(0)
    member.heartbeat_succeeded(response(2, 0))
    assert (member.state, member.epoch) == (S.STABLE, 2)


def test_an_assignment_that_was_taken_back_needs_no_reconciliation() -> None:
    member = stable(0)
    member.heartbeat_succeeded(response(2, 0, 1))
    assert member.state is S.RECONCILING
    first = member.target
    member.heartbeat_succeeded(response(3, 0))
    assert member.target.local_epoch > first.local_epoch, "it is another event, to be acknowledged"
    assert member.state is S.RECONCILING


def test_an_assignment_that_comes_before_the_acknowledgement_is_sent_is_taken_over_next() -> None:
    member = stable(0)
    member.heartbeat_succeeded(response(2, 0, 1))
    taken = member.target
    member.heartbeat_succeeded(response(2, 1))
    member.reconciled(taken)
    member.heartbeat_sent()
    assert member.state is S.RECONCILING


def test_a_fenced_member_joins_again_with_nothing() -> None:
    member = stable(0)
    member.fence()
    assert (member.state, member.epoch, member.must_release, member.may_commit) == (S.FENCED, 0, True, False)
    assert member.last_epoch == 1, "its transactions are refused, not accepted without a check"
    member.join()
    assert (member.state, member.current, member.target) == (S.JOINING, NO_ASSIGNMENT, NO_ASSIGNMENT)
    assert member.joins == 2


@pytest.mark.parametrize(("instance_id", "epoch"), [(None, -1), ("i", -2)])
def test_a_static_member_says_that_it_will_be_back(instance_id: str | None, epoch: int) -> None:
    member = stable(0, instance_id=instance_id)
    member.leave()
    assert (member.state, member.epoch, member.is_urgent) == (S.LEAVING, epoch, True)
    member.heartbeat_sent()
    assert member.state is S.UNSUBSCRIBED


def test_a_late_member_is_stale_until_the_user_polls() -> None:
    member = stable(0)
    member.leave(is_late=True)
    member.heartbeat_sent()
    assert (member.state, member.must_release) == (S.STALE, True)
    member.join()
    member.leave()
    member.heartbeat_sent()
    assert member.state is S.UNSUBSCRIBED, "this time it is not late"


@pytest.mark.parametrize("end", [Membership.fence, lambda member: member.leave(is_late=True)])
def test_a_member_that_has_lost_its_partitions_may_leave_without_a_request(end: Callable[[Membership], None]) -> None:
    member = stable(0)
    end(member)
    member.heartbeat_sent()
    member.leave()
    assert member.state is S.UNSUBSCRIBED


def test_a_member_that_is_fenced_while_it_leaves_is_gone() -> None:
    member = stable(0)
    member.leave()
    member.fence()
    assert member.state is S.UNSUBSCRIBED


def test_responses_to_a_member_that_has_left_are_ignored() -> None:
    member = stable(0)
    member.leave()
    member.heartbeat_succeeded(response(5, 1))
    assert (member.state, member.epoch) == (S.LEAVING, -1)
    member.heartbeat_sent()
    member.heartbeat_succeeded(response(5, 1))
    assert (member.state, member.epoch) == (S.UNSUBSCRIBED, -1)


def test_nothing_follows_a_fatal_error() -> None:
    member = stable(0)
    member.fail()
    assert (member.state, member.may_commit) == (S.FATAL, False)
    member.fence()
    member.leave()
    member.heartbeat_sent()
    assert member.state is S.FATAL
    with pytest.raises(RuntimeError, match="FATAL to JOINING"):
        member.join()


@pytest.mark.parametrize("seed", range(20))
def test_no_order_of_events_leads_to_a_transition_that_the_table_lacks(seed: int) -> None:
    random, epoch = Random(seed), 0
    member = Membership("g", random.choice((None, "i")))
    seen: set[tuple[MemberState, MemberState]] = set()
    for _ in range(300):
        before = member.state
        match random.randrange(8):
            case 0 if before in VALID_PREVIOUS_STATES[S.JOINING]:
                member.join()
            case 1 | 2 | 3:
                epoch += 1
                numbers = random.sample(range(4), random.randrange(4))
                member.heartbeat_succeeded(response(epoch, *numbers, assigns=random.random() < 0.7))
            case 4 if before is S.RECONCILING:
                member.reconciled(member.target)
            case 5:
                member.heartbeat_sent()
            case 6:
                member.leave(is_late=random.random() < 0.5)
            case 7:
                member.fence()
        seen.add((before, member.state))
        assert member.may_commit == (member.epoch > 0 and member.state.is_in_group)
        assert member.state is not S.STABLE or member.is_reconciled
    assert len(seen) > 10
