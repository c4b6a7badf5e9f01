"""The members of the benchmark behave as consumers do: they join, follow their assignments, and then only heartbeat."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

import pytest

from bench.groups.modern_members import Member, settle
from kafka_lite.common.errors import Errors
from kafka_lite.protocol.framing import decode_request
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

TOPIC = UUID(int=7)


class Coordinator:
    """Gives each member one partition with its second heartbeat."""

    def __init__(self, *errors: Errors) -> None:
        self.errors = list(errors)
        self.requests: list[Any] = []

    def exchange(self, request: Any, _version: int) -> Any:
        """A channel's method."""
        self.requests.append(request)
        if not isinstance(request, ConsumerGroupHeartbeatRequest):
            return None
        if self.errors:
            return ConsumerGroupHeartbeatResponse(error_code=self.errors.pop().code)
        owned = [TopicPartitions(topic_id=TOPIC, partitions=[3])]
        assignment = None if request.member_epoch == 0 or request.topic_partitions == owned else owned
        return ConsumerGroupHeartbeatResponse(
            member_epoch=max(request.member_epoch, 1),
            assignment=None if assignment is None else Assignment(topic_partitions=assignment),
        )


def test_members_join_with_everything_and_settle_on_what_they_are_given() -> None:
    coordinator = Coordinator(Errors.NOT_COORDINATOR)
    members = [Member("g", name) for name in "ab"]
    for member in members:
        member.join(cast(Any, coordinator), "t")
    assert coordinator.requests[0].subscribed_topic_names == ["t"]
    assert len(coordinator.requests) == 4, "a refused one, a search for the coordinator, and two"
    settle(cast(Any, coordinator), members)
    assert [(member.epoch, member.owned) for member in members] == [(1, {TOPIC: [3]})] * 2
    _, body = decode_request(memoryview(members[0].heartbeat())[4:])
    assert body == ConsumerGroupHeartbeatRequest(group_id="g", member_id="a", member_epoch=1)


def test_an_error_ends_the_measurement() -> None:
    with pytest.raises(RuntimeError, match="FENCED_MEMBER_EPOCH"):
        Member("g", "a").join(cast(Any, Coordinator(Errors.FENCED_MEMBER_EPOCH)), "t")
