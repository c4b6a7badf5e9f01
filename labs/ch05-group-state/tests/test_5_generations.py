"""Task 5: generations have numbers, and requests must have the current one."""

import pytest

from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.member_metadata import MemberMetadata
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from kafka_lite.protocol.version_prefixed import encode_with_version


@pytest.mark.points(6, task=5)
def test_the_next_generation(group, join):
    """With a member, then without"""
    join("a", "range roundrobin")
    group.transition_to(GroupState.PREPARING_REBALANCE)
    group.pending_sync_members.add("x")
    group.init_next_generation()
    seen = (group.generation_id, group.state, group.protocol_name)
    assert seen == (1, GroupState.AWAITING_SYNC, "range"), f"generation 1 with range awaits syncs; yours: {seen}"
    assert not group.pending_sync_members, "syncs of the previous generation do not matter any more"
    group.transition_to(GroupState.PREPARING_REBALANCE)
    group.remove("a")
    group.init_next_generation()
    assert group.generation_id == 2, (
        "without members it is generation 2: if a returns from a long pause with generation 1, the "
        "broker must not accept its commits as those of a member; you have generation "
        f"{group.generation_id}"
    )
    assert (group.state, group.protocol_name) == (GroupState.EMPTY, None), (
        f"without members it is EMPTY and has no protocol; yours: {group.state.name}, {group.protocol_name}"
    )


@pytest.mark.points(2, task=5)
def test_a_generation_has_its_own_topics(group):
    """A consumer of orders leaves, one of payments comes"""
    for name, topic in (("a", "orders"), ("b", "payments")):
        subscription = encode_with_version(ConsumerProtocolSubscription(topics=[topic]), 0)
        group.add(
            MemberMetadata(name, None, "client", "/host", 60_000, 10_000, "consumer", [("range", subscription)]),
            lambda _response: None,
        )
        group.transition_to(GroupState.PREPARING_REBALANCE)
        group.init_next_generation()
        subscribed = [each for each in ("orders", "payments", "refunds") if group.is_subscribed_to_topic(each)]
        assert subscribed == [topic], (
            f"the consumer of this generation subscribes to {topic} only, yours to {', '.join(subscribed)}: "
            "compute the topics once the protocol is known"
        )
        group.transition_to(GroupState.PREPARING_REBALANCE)
        group.remove(name)
        group.init_next_generation()
        assert not group.is_subscribed_to_topic(topic), (
            f"nobody subscribes to {topic} any more: every generation has topics of its own, or offsets never expire"
        )


@pytest.mark.points(7, task=5)
def test_member_and_generation_are_checked(group, join, error_of):
    """Correct and wrong member ids, instance ids and generations"""
    first, static = join("a"), join("s2", instance="i")
    group.generation_id = 7
    assert group.checked_member("a", None, 7) is first, "a is a member of generation 7"
    assert group.checked_member("a", None) is first, "without a generation only the member is checked"
    error = error_of(lambda: group.checked_member("s2", "i", 7))
    assert error is None, f"s2 has the instance id i: only another member with that id is fenced; you raised {error}"
    assert group.checked_member("s2", "i", 7) is static, "s2 is the member with the instance id i: return it"
    cases = [
        (("a", None, 6), "ILLEGAL_GENERATION", "generation 6 has ended"),
        (("a", None, 0), "ILLEGAL_GENERATION", "0 is a generation, and another one"),
        (("a", None, 8), "ILLEGAL_GENERATION", "generation 8 has not begun"),
        (("a", "j", 7), "UNKNOWN_MEMBER_ID", "a is a member, but there is no instance j"),
        (("x", None, 7), "UNKNOWN_MEMBER_ID", "there is no member x"),
        (("s1", "i", 7), "FENCED_INSTANCE_ID", "the instance i is s2 now, and s1 is fenced"),
        (("s1", "i", 6), "FENCED_INSTANCE_ID", "a fenced member stays fenced, whatever its generation"),
        (("s1", "j", 7), "UNKNOWN_MEMBER_ID", "there is no instance j"),
        (("x", None, 6), "UNKNOWN_MEMBER_ID", "check the member first, then its generation"),
    ]
    for arguments, wanted, why in cases:
        error = error_of(lambda arguments=arguments: group.checked_member(*arguments))
        assert error == wanted, f"checked_member{arguments}: {why}, {wanted}, not {error}"
