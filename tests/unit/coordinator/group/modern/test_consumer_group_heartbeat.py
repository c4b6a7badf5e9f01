"""Heartbeats of groups of KIP-848: joins, epochs, fencing, subscriptions, static members."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.consumer_group_heartbeat import HeartbeatClient, _updated
from kafka_lite.coordinator.group.modern.consumer_group_member import ClassicMember, ConsumerGroupMember
from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from tests.support.modern_groups import ModernGroups


@pytest.fixture
def groups() -> ModernGroups:
    return ModernGroups()


def test_the_first_member_gets_everything_with_its_first_heartbeat(groups: ModernGroups) -> None:
    member = groups.member("a")
    assert member.heartbeat() is Errors.NONE
    assert (member.epoch, member.numbers()) == (1, [0, 1, 2, 3, 4, 5])
    assert groups.group().state.value == "Stable"
    assert member.heartbeat() is Errors.NONE
    assert member.responses[-1].assignment is None
    assert member.responses[-1].heartbeat_interval_ms == 5000


def test_partitions_move_only_once_their_owner_has_given_them_up(groups: ModernGroups) -> None:
    first, second = groups.member("a", is_slow=True), groups.member("b")
    first.heartbeat()
    second.heartbeat()
    assert (second.epoch, second.numbers()) == (2, [])
    assert groups.group().members["b"].state is MemberState.UNRELEASED_PARTITIONS
    first.heartbeat()
    assert (first.epoch, first.numbers()) == (1, [0, 1, 2, 3, 4, 5])
    assert groups.group().members["a"].state is MemberState.UNREVOKED_PARTITIONS
    second.heartbeat()
    assert second.numbers() == []
    assert groups.group().state.value == "Reconciling"
    first.is_slow, first.owned = False, frozenset(pair for pair in first.owned if pair[1] < 3)
    groups.settle(first, second)
    assert (first.numbers(), second.numbers()) == ([0, 1, 2], [3, 4, 5])
    assert first.epoch == second.epoch == 2


def test_a_member_that_leaves_frees_its_partitions(groups: ModernGroups) -> None:
    first, second = groups.member("a"), groups.member("b")
    first.heartbeat()
    groups.settle(first, second)
    assert second.leave() is Errors.NONE
    groups.settle(first)
    assert first.numbers() == [0, 1, 2, 3, 4, 5]
    assert first.leave() is Errors.NONE
    assert groups.group().state.value == "Empty"


def test_epochs_of_others_are_fenced(groups: ModernGroups) -> None:
    first, second = groups.member("a"), groups.member("b")
    first.heartbeat()
    groups.settle(first, second)
    assert groups.member("c", epoch=3).heartbeat() is Errors.UNKNOWN_MEMBER_ID
    assert groups.member("a", epoch=9).heartbeat() is Errors.FENCED_MEMBER_EPOCH
    assert groups.member("a", epoch=1, owned=first.owned | second.owned).heartbeat() is Errors.FENCED_MEMBER_EPOCH
    assert first.heartbeat() is Errors.NONE


def test_a_lost_response_costs_nothing(groups: ModernGroups) -> None:
    first, second = groups.member("a"), groups.member("b")
    first.heartbeat(lost=True)
    assert first.heartbeat() is Errors.NONE
    assert first.numbers() == [0, 1, 2, 3, 4, 5]
    second.heartbeat()
    first.heartbeat()
    first.heartbeat(lost=True)  # it leads to the next epoch
    groups.settle(first, second)
    assert (first.epoch, first.numbers(), second.numbers()) == (2, [0, 1, 2], [3, 4, 5])


def test_a_fenced_member_may_join_again_under_its_id(groups: ModernGroups) -> None:
    member = groups.member("a")
    member.heartbeat()
    again = groups.member("a")
    assert again.heartbeat() is Errors.NONE
    assert again.numbers() == [0, 1, 2, 3, 4, 5]


def test_another_subscription_moves_the_member(groups: ModernGroups) -> None:
    groups.topics.set("u", 2)
    member = groups.member("a")
    member.heartbeat()
    member.topics = ["u"]
    member.heartbeat(full=True)
    groups.settle(member)
    assert (member.numbers("t"), member.numbers("u")) == ([], [0, 1])
    assert member.epoch == 2


def test_new_partitions_and_topics_are_assigned_with_the_next_heartbeat(groups: ModernGroups) -> None:
    member = groups.member("a", topics=["t", "later"])
    member.heartbeat()
    groups.topics.set("later", 1)
    groups.topics.set("t", 7)
    groups.settle(member)
    assert (member.numbers("t"), member.numbers("later"), member.epoch) == ([0, 1, 2, 3, 4, 5, 6], [0], 2)
    groups.topics.set("unrelated", 3)
    member.heartbeat()
    assert member.epoch == 2
    groups.topics.set("t", 0)
    groups.settle(member)
    assert (member.numbers("t"), member.numbers("later")) == ([], [0])


def test_a_static_member_that_comes_back_keeps_its_partitions(groups: ModernGroups) -> None:
    first, second = groups.member("a", instance_id="one"), groups.member("b", instance_id="two")
    first.heartbeat()
    groups.settle(first, second)
    assert groups.member("c", instance_id="one").heartbeat() is Errors.UNRELEASED_INSTANCE_ID
    assert first.leave(-2) is Errors.NONE
    assert groups.group().group_epoch == 2
    back = groups.member("c", instance_id="one")
    assert back.heartbeat() is Errors.NONE
    assert (back.epoch, back.numbers(), groups.group().group_epoch) == (2, [0, 1, 2], 2)
    assert groups.member("a", instance_id="one", epoch=2).heartbeat() is Errors.FENCED_INSTANCE_ID
    assert groups.member("a", instance_id="three", epoch=2).heartbeat() is Errors.UNKNOWN_MEMBER_ID
    assert back.leave() is Errors.NONE
    groups.settle(second)
    assert second.numbers() == [0, 1, 2, 3, 4, 5]


MEMBER = ConsumerGroupMember(
    "m", rack_id="r", client_id="c", client_host="/h", rebalance_timeout_ms=9, subscribed_topic_names=frozenset("t")
)


@pytest.mark.parametrize(
    "member",
    [
        MEMBER,
        replace(MEMBER, client_id="before"),
        replace(MEMBER, client_host="/before"),
        replace(MEMBER, instance_id="i", subscribed_topic_regex="t.*", server_assignor="range", member_epoch=4),
        replace(MEMBER, classic=ClassicMember(1, (("range", b""),))),
    ],
)
def test_a_heartbeat_that_says_nothing_leaves_the_member_as_saying_the_same_again_does(
    member: ConsumerGroupMember,
) -> None:
    client, alive = HeartbeatClient("c", "/h"), ConsumerGroupHeartbeatRequest(member_id="m", member_epoch=4)
    again = ConsumerGroupHeartbeatRequest(
        member_id="m",
        member_epoch=4,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        server_assignor=member.server_assignor,
    )
    updated = _updated(member, alive, client)
    assert updated == _updated(member, again, client)
    assert (updated is member) == (updated == member)
