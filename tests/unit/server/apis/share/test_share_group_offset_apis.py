"""The handlers of requests about offsets of share groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from kafka_lite.protocol.messages import api_90_describe_share_group_offsets as describe
from kafka_lite.protocol.messages import api_91_alter_share_group_offsets as alter
from kafka_lite.protocol.messages import api_92_delete_share_group_offsets as delete
from kafka_lite.server.apis.share.share_group_offset_apis import ShareGroupOffsetApis


class Offsets:
    """Remembers what it is asked, and responds when the test says."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, Callable[[Any], None]]] = []

    def describe(self, asked: Any, respond: Callable[[Any], None]) -> None:
        self.asked.append((asked, respond))

    alter = delete = describe


def test_groups_are_described_in_the_order_of_the_request() -> None:
    offsets, responses = Offsets(), list[Any]()
    apis = ShareGroupOffsetApis(cast(Any, offsets))
    groups = [describe.DescribeShareGroupOffsetsRequestGroup(group_id=name) for name in "abc"]
    body = describe.DescribeShareGroupOffsetsRequest(groups=groups)
    apis.handle_describe(cast(Any, None), body, responses.append)
    for asked, respond in reversed(offsets.asked):
        assert not responses
        respond(describe.DescribeShareGroupOffsetsResponseGroup(group_id=asked.group_id))
    (response,) = responses
    assert [group.group_id for group in response.groups] == ["a", "b", "c"]


def test_no_groups_are_described_at_once() -> None:
    responses: list[Any] = []
    apis = ShareGroupOffsetApis(cast(Any, Offsets()))
    apis.handle_describe(cast(Any, None), describe.DescribeShareGroupOffsetsRequest(), responses.append)
    assert responses == [describe.DescribeShareGroupOffsetsResponse()]


def test_alterations_and_deletions_are_passed_on() -> None:
    offsets, responses = Offsets(), list[Any]()
    apis = ShareGroupOffsetApis(cast(Any, offsets))
    altering, deleting = alter.AlterShareGroupOffsetsRequest(), delete.DeleteShareGroupOffsetsRequest()
    apis.handle_alter(cast(Any, None), altering, responses.append)
    apis.handle_delete(cast(Any, None), deleting, responses.append)
    assert [asked for asked, _ in offsets.asked] == [altering, deleting]
    for number, (_, respond) in enumerate(offsets.asked):
        respond(number)
    assert responses == [0, 1]
