"""A group by itself: its states, its members, its leader, and when its offsets expire."""

from __future__ import annotations

import itertools
import logging

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_state import VALID_PREVIOUS_STATES, GroupState
from kafka_lite.coordinator.group.member_metadata import MemberMetadata, Protocols
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from kafka_lite.coordinator.group.offset_cache import CommittedOffset
from tests.support.groups import subscription

RANGE: Protocols = [("range", subscription("topic"))]
HOUR_MS = 3_600_000


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def group(time: MockTime) -> GroupMetadata:
    return GroupMetadata("group", time)


def member(member_id: str, protocols: Protocols = RANGE, instance_id: str | None = None) -> MemberMetadata:
    return MemberMetadata(member_id, instance_id, "client", "/host", 60_000, 10_000, "consumer", protocols)


LIVES = (GroupState.EMPTY, GroupState.PREPARING_REBALANCE, GroupState.AWAITING_SYNC, GroupState.STABLE)


@pytest.mark.parametrize(("before", "after"), list(itertools.product(GroupState, GroupState)))
def test_transitions_match_kafka(group: GroupMetadata, before: GroupState, after: GroupState) -> None:
    allowed = {
        (GroupState.EMPTY, GroupState.PREPARING_REBALANCE),
        (GroupState.STABLE, GroupState.PREPARING_REBALANCE),
        (GroupState.AWAITING_SYNC, GroupState.PREPARING_REBALANCE),
        (GroupState.PREPARING_REBALANCE, GroupState.AWAITING_SYNC),
        (GroupState.PREPARING_REBALANCE, GroupState.EMPTY),
        (GroupState.AWAITING_SYNC, GroupState.STABLE),
        *((state, GroupState.DEAD) for state in GroupState),
    }
    group.state = before
    if (before, after) in allowed:
        group.transition_to(after)
        assert group.state is after
    else:
        with pytest.raises(RuntimeError, match=f"cannot go from {before.name} to {after.name}"):
            group.transition_to(after)
        assert group.state is before


def test_a_rebalance_may_begin_in_every_live_state_but_one(group: GroupMetadata) -> None:
    can = set()
    for state in GroupState:
        group.state = state
        if group.can_rebalance:
            can.add(state)
    assert can == set(LIVES) - {GroupState.PREPARING_REBALANCE}
    assert set(VALID_PREVIOUS_STATES) == set(GroupState)


def test_the_first_member_leads_and_the_next_one_succeeds_it(group: GroupMetadata) -> None:
    for member_id in "abc":
        group.add(member(member_id))
    assert group.leader_id == "a"
    group.remove("a")
    assert group.leader_id == "b"
    group.remove("c")
    group.remove("b")
    assert group.leader_id is None


def test_a_leader_that_has_not_joined_is_replaced_by_one_that_has(group: GroupMetadata) -> None:
    group.add(member("a"))
    assert not group.elect_leader_that_has_joined()
    group.add(member("b"), lambda _answer: None)
    assert group.elect_leader_that_has_joined()
    assert group.leader_id == "b"
    assert group.elect_leader_that_has_joined()
    assert group.leader_id == "b"


def test_parked_joins_are_counted_through_every_change(group: GroupMetadata) -> None:
    group.add(member("a"), lambda _answer: None)
    group.add(member("b"))
    group.update_member(group.members["b"], RANGE, 1, 1, lambda _answer: None)
    group.update_member(group.members["b"], RANGE, 1, 1, lambda _answer: None)
    assert group.num_awaiting_join == 2
    assert group.has_all_members_joined
    group.remove("a")
    assert group.num_awaiting_join == 1
    group.update_member(group.members["b"], RANGE, 1, 1, None)
    assert group.num_awaiting_join == 0
    assert not group.has_all_members_joined


def test_the_longest_rebalance_timeout_counts(group: GroupMetadata) -> None:
    assert group.rebalance_timeout_ms == 0
    for number, timeout_ms in enumerate((1000, 5000, 3000)):
        joined = member(str(number))
        joined.rebalance_timeout_ms = timeout_ms
        group.add(joined)
    assert group.rebalance_timeout_ms == 5000


def test_a_protocol_that_one_member_lacks_is_never_elected(group: GroupMetadata) -> None:
    group.state = GroupState.STABLE
    group.add(member("a", [("best", b""), ("good", b"")]))
    group.add(member("b", [("best", b""), ("good", b"")]))
    group.add(member("c", [("good", b"")]))
    assert group.select_protocol() == "good"
    assert not group.supports_protocols("consumer", ["best"])
    group.remove("c")
    assert group.select_protocol() == "best"
    assert group.supports_protocols("consumer", ["best"])


def test_unsupported_protocols_of_a_member_raise() -> None:
    joined = member("a")
    with pytest.raises(ValueError, match="does not support protocol other"):
        joined.metadata("other")
    with pytest.raises(ValueError, match="does not support any"):
        joined.vote({"other"})


def test_the_subscribed_topics_of_a_group(group: GroupMetadata, caplog: pytest.LogCaptureFixture) -> None:
    assert group.is_subscribed_to_topic("anything"), "unknown before the first generation"
    group.add(member("a", [("range", subscription("one", "two"))]))
    group.state = GroupState.PREPARING_REBALANCE
    group.init_next_generation()
    assert group.is_subscribed_to_topic("two")
    assert not group.is_subscribed_to_topic("three")
    group.add(member("b", [("range", b"\x00")]))
    group.state = GroupState.PREPARING_REBALANCE
    with caplog.at_level(logging.WARNING):
        group.init_next_generation()
    assert group.is_subscribed_to_topic("three")
    assert "Cannot determine the subscription of group group" in caplog.text


def test_subscriptions_of_any_version_are_read_as_version_0(group: GroupMetadata) -> None:
    incomplete = b"\x00\x01" + subscription("one")[2:]  # kafka-go announces version 1 and omits its owned partitions
    of_the_future = b"\x00\x63" + subscription("two")[2:] + b"what is to come"
    group.add(member("a", [("range", incomplete)]))
    group.add(member("b", [("range", of_the_future)]))
    group.state = GroupState.PREPARING_REBALANCE
    group.init_next_generation()
    assert [group.is_subscribed_to_topic(topic) for topic in ("one", "two", "three")] == [True, True, False]


# ── expiry ────────────────────────────────────────────────────────────────────────────────────────────────────────────

OURS, THEIRS = TopicPartition("topic", 0), TopicPartition("no longer read", 0)


def commit(group: GroupMetadata, time: MockTime, expire_timestamp_ms: int | None = None) -> None:
    offset = OffsetAndMetadata(1, "", time.milliseconds(), expire_timestamp_ms)
    group.offsets.initialize({tp: CommittedOffset(0, offset) for tp in (OURS, THEIRS)})


def expired(group: GroupMetadata, time: MockTime) -> set[TopicPartition]:
    return set(group.remove_expired_offsets(time.milliseconds(), HOUR_MS))


def test_offsets_of_a_group_without_members_expire_after_their_commit(group: GroupMetadata, time: MockTime) -> None:
    commit(group, time)
    time.sleep(HOUR_MS - 1)
    assert expired(group, time) == set()
    time.sleep(1)
    assert expired(group, time) == {OURS, THEIRS}


def test_offsets_of_a_group_expire_after_its_last_member_has_left(group: GroupMetadata, time: MockTime) -> None:
    group.add(member("a"))
    group.state = GroupState.PREPARING_REBALANCE
    group.init_next_generation()
    group.transition_to(GroupState.STABLE)
    commit(group, time)
    time.sleep(5 * HOUR_MS)
    assert expired(group, time) == {THEIRS}, "only the other topic still has a subscriber"
    commit(group, time)
    group.transition_to(GroupState.PREPARING_REBALANCE)
    time.sleep(5 * HOUR_MS)
    assert expired(group, time) == set(), "during a rebalance the subscriptions are unknown"
    group.remove("a")
    group.init_next_generation()
    assert expired(group, time) == set()
    time.sleep(HOUR_MS)
    assert expired(group, time) == {OURS, THEIRS}


def test_a_group_of_another_kind_keeps_its_offsets_while_it_has_members(group: GroupMetadata, time: MockTime) -> None:
    worker = member("a", [("default", b"")])
    worker.protocol_type = "connect"
    group.add(worker)
    group.state = GroupState.PREPARING_REBALANCE
    group.init_next_generation()
    group.transition_to(GroupState.STABLE)
    commit(group, time)
    time.sleep(100 * HOUR_MS)
    assert expired(group, time) == set()


def test_an_offset_with_an_expiration_time_expires_then(group: GroupMetadata, time: MockTime) -> None:
    commit(group, time, time.milliseconds() + 10)
    time.sleep(9)
    assert expired(group, time) == set()
    time.sleep(1)
    assert expired(group, time) == {OURS, THEIRS}
