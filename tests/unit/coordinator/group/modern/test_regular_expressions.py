"""Subscriptions by regular expression, in the syntax of RE2."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.coordinator.group.modern.consumer_group_heartbeat import HeartbeatClient
from kafka_lite.coordinator.group.modern.consumer_group_member import ConsumerGroupMember
from kafka_lite.coordinator.group.modern.regular_expressions import matching_topics
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from tests.support.modern_groups import FakeTopics, ModernGroups, topic_id


def refusal(expression: str) -> ApiError:
    with pytest.raises(ApiError) as raised:
        matching_topics(expression, ["a"])
    assert raised.value.error is Errors.INVALID_REGULAR_EXPRESSION
    return raised.value


def test_without_the_library_every_expression_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    assert "google-re2" in str(refusal("a"))


def test_the_whole_name_has_to_match() -> None:
    assert matching_topics("a.*", ["a", "ab", "ba"]) == {"a", "ab"}
    assert "is not a valid regular expression: missing ): a(." in str(refusal("a("))
    assert "characters" in str(refusal("a" * 5000))


@pytest.mark.parametrize("expression", ["(?=a)b", r"(a)\1", "a++", "(?<!a)b"])
def test_what_re2_does_not_know_is_refused(expression: str) -> None:
    refusal(expression)


def test_an_expression_that_backtracking_never_ends_is_answered() -> None:
    """Python's ``re`` would try 2**249 ways, until the time limit of this test."""
    assert matching_topics("(a*)*b", ["a" * 249]) == frozenset()


def test_a_member_gets_the_topics_of_its_expression_and_new_ones_later() -> None:
    groups = ModernGroups(topics=FakeTopics(ta=1, tb=1, u=1))
    member = groups.member("m", topics=[], regex="t.*")
    member.heartbeat()
    assert member.owned == {(topic_id("ta"), 0), (topic_id("tb"), 0)}
    groups.topics.set("tc", 2)
    groups.settle(member)
    assert {topic for topic, _ in member.owned} == {topic_id(name) for name in ("ta", "tb", "tc")}
    assert groups.restart().group().expressions == groups.group().expressions
    member.topics, member.regex = ["u"], ""
    member.heartbeat(full=True)
    groups.settle(member)
    assert member.owned == {(topic_id("u"), 0)}
    assert groups.group().expressions == {}


def test_all_expressions_of_a_group_follow_the_topics() -> None:
    groups = ModernGroups(topics=FakeTopics(ta=1, ua=1))
    first, second = (groups.member(name, topics=[], regex=f"{name}.*") for name in "tu")
    first.heartbeat()
    groups.settle(first, second)
    groups.topics.set("tb", 1)
    groups.topics.set("ub", 1)
    first.heartbeat()
    groups.settle(first, second)
    assert {topic for topic, _ in first.owned} == {topic_id("ta"), topic_id("tb")}
    assert {topic for topic, _ in second.owned} == {topic_id("ua"), topic_id("ub")}


def test_an_expression_may_come_to_mean_a_topic_that_another_member_reads() -> None:
    groups = ModernGroups(topics=FakeTopics(ta=1))
    first, second = groups.member("a", topics=[], regex="t.*"), groups.member("b", topics=["tb"])
    first.heartbeat()
    groups.settle(first, second)
    groups.topics.set("tb", 6)
    second.heartbeat()
    groups.settle(first, second)
    assert len(first.numbers("tb")) in (2, 3), "both share it"
    assert len(first.owned | second.owned) == 7


def test_an_expression_is_looked_up_again_after_some_time() -> None:
    groups = ModernGroups(topics=FakeTopics(t=1), regex_refresh_interval_ms=20_000)
    member = groups.member("m", topics=[], regex="t")
    member.heartbeat()
    first = groups.group().expressions["t"]
    groups.groups.sleep(15_000)
    member.heartbeat()
    assert groups.group().expressions["t"] is first
    groups.groups.sleep(15_000)
    member.heartbeat()
    assert groups.group().expressions["t"].timestamp_ms > first.timestamp_ms
    assert groups.group().group_epoch == 1


def test_an_expression_means_only_topics_that_the_client_may_describe() -> None:
    groups = ModernGroups(topics=FakeTopics(ta=1, tb=1))
    client = HeartbeatClient("c", "/h", lambda topics: frozenset(topics) - {"tb"})
    request = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="m",
        rebalance_timeout_ms=1,
        subscribed_topic_regex="t.*",
        topic_partitions=[],
    )
    groups.coordinator.handle_heartbeat(request, 1, client, lambda response: None)
    assert groups.group("g").subscribed_topics() == {"ta"}


class CountedMembers(dict[str, ConsumerGroupMember]):
    """The members of a group, and how often somebody went through all of them."""

    walks = 0

    def values(self) -> Any:
        self.walks += 1
        return super().values()


def test_an_idle_heartbeat_does_not_go_through_all_members() -> None:
    groups = ModernGroups()
    members = [groups.member(f"m{number}", topics=[], regex="t.*") for number in range(3)]
    for member in members:
        member.heartbeat()
    groups.settle(*members)
    counted = groups.group().members = CountedMembers(groups.group().members)
    for member in members:
        member.heartbeat()
    assert counted.walks == 0


def test_an_expression_is_forgotten_with_its_last_member() -> None:
    groups = ModernGroups()
    a, b, c = (groups.member(name, topics=[], regex=regex) for name, regex in (("a", "t.*"), ("b", "x"), ("c", "x")))
    for member in (a, b, c):
        member.heartbeat()
    b.leave()
    assert set(groups.group().expressions) == {"t.*", "x"}
    c.leave()
    assert set(groups.group().expressions) == {"t.*"}
    a.regex = "u.*"
    a.heartbeat(full=True)
    assert set(groups.group().expressions) == {"u.*"}
