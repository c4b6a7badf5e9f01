"""The same members in both kinds of groups."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.member_metadata import MemberMetadata
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.migration.group_conversion import (
    downgraded_members,
    remaining_classic_members,
    upgraded_records,
)
from kafka_lite.protocol.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from kafka_lite.protocol.version_prefixed import encode_with_version
from tests.support.modern_groups import FakeTopics, topic_id

TOPICS = FakeTopics(t=4)


def assignment(*numbers: int) -> bytes:
    structs = [TopicPartition(topic="t", partitions=list(numbers))]
    return encode_with_version(ConsumerProtocolAssignment(assigned_partitions=structs), 1)


def member(
    member_id: str, assigned: bytes, *owned: int, metadata: bytes | None = None, assignor: str = "sticky"
) -> MemberMetadata:
    structs = [TopicPartition(topic="t", partitions=list(owned))]
    subscription = ConsumerProtocolSubscription(topics=["t"], owned_partitions=structs, rack_id="r")
    data = encode_with_version(subscription, 3) if metadata is None else metadata
    protocols = [(assignor, data), ("range", data)]
    return MemberMetadata(member_id, f"i-{member_id}", "client", "/h", 7_000, 9_000, "consumer", protocols, assigned)


def classic_group(*members: MemberMetadata, generation: int = 5) -> GroupMetadata:
    group = GroupMetadata("g", MockTime())
    group.become_classic(members, generation)
    return group


def upgraded(group: GroupMetadata) -> ConsumerGroup:
    modern = ConsumerGroup("g")
    for record in upgraded_records(group, TOPICS):
        modern.replay(record)
    return modern


def test_generation_and_assignments_become_epochs_and_targets() -> None:
    modern = upgraded(classic_group(member("a", assignment(0, 1)), member("b", assignment(2))))
    assert (modern.group_epoch, modern.assignment_epoch, modern.state.value) == (5, 5, "Stable")
    a = modern.members["a"]
    assert (a.instance_id, a.client_id, a.client_host, a.rack_id) == ("i-a", "client", "/h", "r")
    assert (a.member_epoch, a.previous_member_epoch, a.rebalance_timeout_ms) == (5, 5, 7_000)
    assert a.assigned == modern.target["a"] == {topic_id("t"): frozenset({0, 1})}
    assert a.subscribed_topic_names == {"t"}
    assert a.classic is not None
    assert (a.classic.session_timeout_ms, a.classic.protocol_name) == (9_000, "sticky")


def test_members_come_back_as_they_were_with_their_targets() -> None:
    modern = upgraded(classic_group(member("a", assignment(0, 1)), member("b", assignment(2))))
    a, b = downgraded_members(modern, list(modern.members.values()), TOPICS)
    assert (a.member_id, a.group_instance_id, a.session_timeout_ms, a.rebalance_timeout_ms) == (
        "a",
        "i-a",
        9_000,
        7_000,
    )
    assert a.protocols == ["sticky", "range"]
    expected = [TopicPartition(topic="t", partitions=[2])]
    assert b.assignment == encode_with_version(ConsumerProtocolAssignment(assigned_partitions=expected), 3)


def test_a_rebalance_that_did_not_end_has_cleared_the_assignment_but_not_what_members_keep() -> None:
    modern = upgraded(classic_group(member("a", b"", 0, 1), member("b", b"")))
    assert modern.members["a"].assigned == {topic_id("t"): frozenset({0, 1})}
    assert modern.members["b"].assigned == {}


def test_a_partition_that_two_members_claim_has_one_owner() -> None:
    modern = upgraded(classic_group(member("a", assignment(0, 1)), member("b", assignment(1, 2))))
    assert modern.members["b"].assigned == {topic_id("t"): frozenset({2})}


@pytest.mark.parametrize(
    "broken",
    [
        member("a", assignment(0), metadata=b"?"),
        member("a", b"?"),
        member("a", encode_with_version(ConsumerProtocolAssignment(user_data=b"custom"), 1), assignor="custom"),
    ],
)
def test_members_that_cannot_be_read_stay_in_their_group(broken: MemberMetadata) -> None:
    with pytest.raises(ApiError) as refused:
        upgraded_records(classic_group(broken), TOPICS)
    assert refused.value.error is Errors.GROUP_ID_NOT_FOUND


def test_a_group_is_classic_again_when_only_classic_members_remain() -> None:
    modern = upgraded(classic_group(member("a", assignment(0)), member("b", assignment(1))))
    assert remaining_classic_members(modern, ["b"]) == [modern.members["a"]]
    assert remaining_classic_members(modern, ["a", "b"]) is None
