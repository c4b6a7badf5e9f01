"""Heartbeats of share groups: what they are checked for, what they change, and what they are answered."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.coordinator.group.modern.share.share_group_heartbeat import check_share_heartbeat
from kafka_lite.protocol.messages.api_76_share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.support.modern_groups import topic_id
from tests.support.share_groups import ShareGroups, ShareMember, joined

FIRST: dict[str, Any] = {"group_id": "g", "member_id": "m", "subscribed_topic_names": ["t"]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"member_id": ""}, "MemberId can't be empty."),
        ({"group_id": ""}, "GroupId can't be empty."),
        ({"rack_id": ""}, "RackId can't be empty."),
        ({"member_id": "x" * 40_000}, "too long"),
        ({"subscribed_topic_names": None}, "SubscribedTopicNames must be set in first request."),
        ({"subscribed_topic_names": []}, "SubscribedTopicNames must be set in first request."),
        ({"member_epoch": -2}, "MemberEpoch is invalid."),
    ],
)
def test_bad_requests_are_refused_with_kafkas_words(changes: dict[str, Any], message: str) -> None:
    check_share_heartbeat(ShareGroupHeartbeatRequest(**FIRST))
    with pytest.raises(ApiError, match=message) as raised:
        check_share_heartbeat(ShareGroupHeartbeatRequest(**(FIRST | changes)))
    assert raised.value.error is Errors.INVALID_REQUEST


def test_partitions_are_assigned_once_they_have_state() -> None:
    groups = ShareGroups()
    member = ShareMember(groups, "a")
    assert member.heartbeat() is Errors.NONE
    assert (member.epoch, member.owned) == (1, frozenset())
    assert member.response.assignment is not None, "an empty one"
    assert groups.group().partitions.initialized == {topic_id("t"): frozenset(range(4))}
    assert member.heartbeat() is Errors.NONE
    assert (member.epoch, member.numbers()) == (2, [0, 1, 2, 3])
    assert member.heartbeat() is Errors.NONE
    assert (member.epoch, member.response.assignment) == (2, None)


def test_several_members_read_one_partition() -> None:
    groups = ShareGroups()
    groups.topics.set("t", 1)
    members = joined(groups, "a", "b", "c")
    assert [member.numbers() for member in members] == [[0], [0], [0]]


def test_a_full_request_gets_a_full_response() -> None:
    (member,) = joined(ShareGroups(), "a")
    member.heartbeat(subscribed_topic_names=["t"])
    assert member.response.assignment is not None


def test_new_partitions_are_assigned_after_their_state_is_made() -> None:
    groups = ShareGroups()
    (member,) = joined(groups, "a")
    groups.topics.set("t", 6)
    for _ in range(2):
        member.heartbeat()
    assert member.numbers() == list(range(6))


def test_an_unsubscribed_topic_keeps_its_state_and_raises_no_more_epochs() -> None:
    groups = ShareGroups()
    groups.topics.set("s", 2)
    member = ShareMember(groups, "a", ["t", "s"])
    for _ in range(3):
        member.heartbeat()
    assert member.numbers("s") == [0, 1]
    member.heartbeat(subscribed_topic_names=["t"])
    assert (member.numbers("s"), member.numbers("t")) == ([], [0, 1, 2, 3])
    epoch = groups.group().group_epoch
    member.heartbeat()
    assert groups.group().group_epoch == epoch
    assert topic_id("s") in groups.group().partitions.initialized


def test_a_topic_that_does_not_exist_yet_is_read_when_it_does() -> None:
    groups = ShareGroups()
    member = ShareMember(groups, "a", ["later"])
    member.heartbeat()
    groups.topics.set("later", 1)
    for _ in range(2):
        member.heartbeat()
    assert member.numbers("later") == [0]


def test_the_group_may_be_full() -> None:
    groups = ShareGroups(max_size=1)
    (member,) = joined(groups, "a")
    assert ShareMember(groups, "b").heartbeat() is Errors.GROUP_MAX_SIZE_REACHED
    assert member.heartbeat() is Errors.NONE


@pytest.mark.parametrize(("epoch", "error"), [(7, Errors.FENCED_MEMBER_EPOCH), (0, Errors.NONE), (1, Errors.NONE)])
def test_epochs_are_fenced(epoch: int, error: Errors) -> None:
    (member,) = joined(ShareGroups(), "a")
    assert member.epoch == 2
    member.epoch = epoch
    assert member.heartbeat() is error


def test_an_unknown_member_must_join() -> None:
    groups = ShareGroups()
    joined(groups, "a")
    stranger = ShareMember(groups, "x", epoch=3)
    assert stranger.heartbeat() is Errors.UNKNOWN_MEMBER_ID
    assert stranger.leave() is Errors.UNKNOWN_MEMBER_ID
