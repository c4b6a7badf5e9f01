"""The fields of a member's heartbeats: all, or what has changed."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.consumer.group.modern.heartbeat_state import HeartbeatState, Subscribed
from kafka_lite.consumer.group.modern.member_state import MemberState
from kafka_lite.consumer.group.modern.membership import Membership
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import TopicPartitions
from kafka_lite.protocol.schema_error import UnsupportedVersionError
from tests.support.scripted_modern_group import topic_id
from tests.unit.consumer.group.modern.test_membership import response


class Fields:
    """A member, and its heartbeats."""

    def __init__(self, **configs: Any) -> None:
        self.member = Membership("g", configs.get("instance_id"))
        self.subscribed = Subscribed(frozenset({"t", "a"}))
        self.state = HeartbeatState(
            self.member, lambda: self.subscribed, rebalance_timeout_ms=300_000,
            server_assignor=configs.get("assignor"), rack_id=configs.get("rack"),
        )  # fmt: skip
        self.member.join()

    def next(self, version: int = 1) -> dict[str, Any]:
        """The fields that the next heartbeat says, apart from those that all have."""
        request: Any = self.state.next_request().build(version)
        said = {
            "timeout": request.rebalance_timeout_ms, "topics": request.subscribed_topic_names,
            "regex": request.subscribed_topic_regex, "assignor": request.server_assignor, "rack": request.rack_id,
            "owned": request.topic_partitions,
        }  # fmt: skip
        self.epoch, self.instance_id = request.member_epoch, request.instance_id
        return {name: value for name, value in said.items() if value is not None and value != -1}

    def accepted(self) -> None:
        self.member.heartbeat_succeeded(response(1, 0))
        self.member.reconciled(self.member.target)


def test_the_first_heartbeat_says_everything_and_the_next_one_nothing() -> None:
    fields = Fields(assignor="range", rack="r", instance_id="i")
    first = fields.next()
    assert first == {
        "timeout": 300_000, "topics": ["a", "t"], "regex": "", "assignor": "range", "rack": "r", "owned": [],
    }  # fmt: skip
    assert (fields.epoch, fields.instance_id) == (0, "i")
    fields.accepted()
    owned = [TopicPartitions(topic_id=topic_id("t"), partitions=[0])]
    assert fields.next() == {"owned": owned}, "the acknowledgement"
    assert (fields.epoch, fields.instance_id) == (1, "i")
    assert fields.next() == {}


def test_after_an_error_everything_is_said_again() -> None:
    fields = Fields()
    fields.next()
    fields.accepted()
    fields.next()
    fields.state.reset()
    assert fields.next().keys() == {"timeout", "topics", "regex", "owned"}


def test_a_request_to_join_that_is_repeated_says_everything() -> None:
    fields = Fields()
    assert fields.next() == fields.next()


def test_another_subscription_is_said_once() -> None:
    fields = Fields()
    fields.next()
    fields.accepted()
    fields.next()
    assert not fields.state.is_subscription_unsent
    fields.subscribed = Subscribed(frozenset({"b"}))
    assert fields.state.is_subscription_unsent
    assert fields.next() == {"topics": ["b"]}
    assert fields.next() == {}


def test_an_expression_replaces_topics_and_topics_an_expression() -> None:
    fields = Fields()
    fields.next()
    fields.accepted()
    fields.next()
    fields.subscribed = Subscribed(frozenset(), "t.*")
    assert fields.next() == {"topics": [], "regex": "t.*"}
    fields.subscribed = Subscribed(frozenset({"t"}))
    assert fields.next() == {"topics": ["t"], "regex": ""}


def test_an_older_broker_gets_no_expression() -> None:
    fields = Fields()
    assert "regex" not in fields.next(version=0)
    fields.subscribed = Subscribed(frozenset(), "t.*")
    with pytest.raises(UnsupportedVersionError, match="does not resolve regular expressions"):
        fields.next(version=0)


def test_the_last_heartbeat_only_says_that_it_is_the_last() -> None:
    fields = Fields()
    fields.next()
    fields.accepted()
    fields.member.leave()
    assert fields.member.state is MemberState.LEAVING
    assert (fields.next(), fields.epoch) == ({}, -1)
